// Both languages are whole, and every code has words.
import { expect, test } from 'vitest';
import { Failure } from '../protocol/backend';
import { en, type Facts, type Texts } from './en';
import { ago, clock, count, day, duration, names, share, took } from './format';
import { languageOf } from './index';
import { endWords, errorWords, failureWords, messageOf, noticeWords, todoWords } from './words';
import { zh } from './zh';

function leaves(value: unknown, path: string): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, '()']];
  return Object.entries(value as object).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

test('both languages have the same keys and no empty string', () => {
  const all = { en: leaves(en, ''), zh: leaves(zh, '') };
  expect(all.zh.map(([path]) => path)).toEqual(all.en.map(([path]) => path));
  for (const [path, text] of [...all.en, ...all.zh]) expect(text.trim(), path).not.toBe('');
});

test('taking back is spoken of where changes of files are, and nowhere else', () => {
  const allowed = /^\.(undo|changes|storage|approval\.undos?|wide\.means|tour)\b|^\.failures\.restore\//;
  for (const texts of [en, zh]) {
    for (const [path, text] of leaves(texts, '')) {
      if (!allowed.test(path)) expect(text, path).not.toMatch(/undo|redo|撤销|还原/i);
    }
  }
});

test('chinese uses full-width punctuation and spaces between han and latin', () => {
  for (const [path, text] of leaves(zh, '')) {
    expect(text, path).not.toMatch(/[\u4e00-\u9fff][,.?!;:]|[\u4e00-\u9fff]\.\.\./);
    expect(text, path).not.toMatch(/[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/);
  }
});

test('why the model was asked once more is said, also for a reason of a later version', () => {
  const said = (why: string) => [
    noticeWords('turn/extended', { why }, en),
    noticeWords('turn/extended', { why }, zh),
  ];
  expect(said('cut_call')[0]).toMatch(/smaller parts/);
  expect(said('open_plan')[1]).toMatch(/计划/);
  expect(said('from_the_future')).toEqual([
    'The model is asked once more before the work ends.',
    '结束之前，再问模型一次。',
  ]);
});

test('r_cli_08_every_end_says_why_and_by_whom', () => {
  const table: [string, Record<string, string>, string, string][] = [
    ['completed', {}, 'Done', '已完成'],
    ['cancelled', { by: 'user' }, 'Stopped by you', '由你停止'],
    ['cancelled', { by: 'shutdown' }, 'Stopped because Daybook was closing', '因 Daybook 关闭而停止'],
    ['rejected', {}, 'Ended because nothing it wanted was allowed', '想做的事都没有获得允许，已结束'],
    ['nothing_to_do', {}, 'There was nothing left to do', '没有需要做的事了'],
    ['length', {}, 'The model reached the longest answer it can give', '模型的回答达到了长度上限'],
    ['blocked', { why: 'no space' }, 'Can’t go on: no space', '无法继续：no space'],
    [
      'limit',
      { limit: 'steps', value: '100' },
      'Stopped to ask you: 100 steps were taken',
      '停下来问你：已经走了 100 步',
    ],
    [
      'failed',
      { class: 'auth', provider: 'Acme' },
      'Acme doesn’t accept the key. Check it under Models and keys.',
      'Acme 不接受这个密钥。请在“模型与密钥”里检查。',
    ],
    ['failed', { class: 'from_the_future' }, 'It failed.', '没有成功。'],
    ['interrupted', {}, 'Daybook was closed while this was running', '运行期间 Daybook 被关闭'],
  ];
  for (const [end, facts, english, chinese] of table) {
    expect(endWords(end, facts, en)).toBe(english);
    expect(endWords(end, facts, zh)).toBe(chinese);
  }
});

test('every error class has words in both languages', () => {
  const classes =
    'network timeout cut rate_limited overloaded server auth billing not_found context_overflow too_large bad_request protocol tls/untrusted tls/expired tls/not_yet tls/name tls/revoked tls/authority tls/other';
  for (const cls of classes.split(' ')) {
    for (const t of [en, zh] satisfies Texts[])
      expect(errorWords(cls, undefined, t), cls).not.toBe(t.errors.other);
  }
  for (const odd of ['constructor', '__proto__', 'said', 'theModel', '']) {
    expect(errorWords(odd, undefined, en)).toBe(en.errors.other);
  }
});

test('a refused certificate is told by what is wrong with it, wherever the failure stands', () => {
  const facts = { class: 'network', certificate: 'untrusted', provider: 'Acme', message: 'UnknownIssuer' };
  const words = 'The certificate of Acme isn’t signed by anyone this computer trusts.';
  expect(endWords('failed', facts, en)).toContain(words);
  expect(noticeWords('attempt/failed', facts, en)).toBe(words);
  expect(noticeWords('attempt/failed', facts, zh)).toBe('Acme 的证书不是由这台电脑信任的机构签发的。');
});

test('a missing model is worded by us alone', () => {
  const facts = { code: 'model/none', message: 'no model is chosen for this session' };
  expect(endWords('failed', facts, en)).toBe('Connect a model first, then this can begin.');
  expect(messageOf(facts, en)).toEqual({ said: '', detail: '' });
});

test('only a server that answered is quoted; the status is a field and never read out of words', () => {
  const table: [Facts, string, string, string][] = [
    [{ class: 'server', said: 'oops (HTTP 200)', status: '500' }, 'oops (HTTP 200)', 'HTTP 500', 'HTTP 500'],
    [
      { class: 'not_found', said: 'no such model', status: '404', address: 'https://a.example/v1' },
      'no such model',
      'HTTP 404 from https://a.example/v1',
      'HTTP 404，来自 https://a.example/v1',
    ],
    [
      { class: 'server', message: 'no reason', status: '502' },
      '',
      'HTTP 502\nno reason',
      'HTTP 502\nno reason',
    ],
    // A message of ours, and one from a record of before, in which nobody is known to have been quoted.
    [{ class: 'network', message: 'refused (HTTP 500)' }, '', 'refused (HTTP 500)', 'refused (HTTP 500)'],
    [{ class: 'server' }, '', '', ''],
  ];
  for (const [facts, said, english, chinese] of table) {
    expect(messageOf(facts, en), english).toEqual({ said, detail: english });
    expect(messageOf(facts, zh), chinese).toEqual({ said, detail: chinese });
  }
});

test('what failed says what can be done about it', () => {
  const table: [string, boolean, string, string][] = [
    ['network', true, 'Is Acme running? Start it, then try again.', 'Acme 在运行吗？请启动后再试。'],
    ['network', false, en.errors.todo.online, zh.errors.todo.online],
    ['tls/untrusted', false, en.errors.todo.own, zh.errors.todo.own],
    ['provider/unknown', false, 'Choose another model below.', '请在下面换一个模型。'],
    ['overloaded', false, 'Try again in a while.', '请过一会儿再试。'],
    ['keychain/locked', false, en.errors.todo.unlock, zh.errors.todo.unlock],
    ['auth', false, '', ''],
  ];
  for (const [cls, local, english, chinese] of table) {
    expect(todoWords(cls, 'Acme', local, en)).toBe(english);
    expect(todoWords(cls, 'Acme', local, zh)).toBe(chinese);
  }
  expect(errorWords('provider/unknown', 'own_3', en)).toBe('The service of this model was removed.');
  expect(errorWords('keychain/locked', undefined, en)).toBe('The keychain is locked.');
  expect(errorWords('store/from_the_future', undefined, en)).toBe('It failed.');
});

test('what happened when Daybook closed is told without guessing why and stays true', () => {
  for (const [t, words] of [
    [en, 'Daybook was closed here, and opened again. Nothing on the record was lost.'],
    [zh, 'Daybook 在这里关闭过，后来重新打开。记录完好无损。'],
  ] as const) {
    expect(noticeWords('recovery/adopted', {}, t)).toBe(words);
    for (const [path, text] of leaves(t, '')) expect(text, path).not.toMatch(/unexpected|意外/);
  }
});

test('unknown notices and failures are said plainly', () => {
  expect(noticeWords('new/thing', {}, en)).toBe('Note: new/thing');
  const failure = (code: string) => new Failure({ code, message: 'the engine says', hint: null });
  expect(failureWords(failure('folder/busy'), en)).toBe('Another session is writing in this folder.');
  expect(failureWords(failure('constructor'), en)).toBe('the engine says');
  expect(failureWords(failure('title'), en)).toBe('the engine says');
});

test('times, numbers and lists are rounded for people', () => {
  const now = new Date(2026, 10, 29, 9, 41).getTime();
  expect(clock(now)).toBe('9:41');
  expect(day(now, en)).toBe('29 Nov');
  expect(day(now, zh)).toBe('11月29日');
  expect(
    [0, 59_000, 720_000, 7_200_000, 2 * 86_400_000, 8 * 86_400_000].map((p) => ago(now - p, now, en)),
  ).toEqual(['now', 'now', '12 min', '2 h', 'Fri', '21 Nov']);
  expect([0, 400, 8_200, 125_000].map((ms) => duration(ms, en))).toEqual([
    '0.0 s',
    '0.4 s',
    '8 s',
    '2 min 5 s',
  ]);
  expect([null, 0, 99, 100].map((ms) => took(ms, en))).toEqual(['', '', '', '0.1 s']);
  expect(names(['a', 'b', 'c', 'd'], 3, en)).toBe('a, b, c and 1 more');
  expect(names(['a', 'b', 'c', 'd'], 3, zh)).toBe('a、b、c 等 4 个');
  expect(names(['a', 'b'], 3, en)).toBe('a and b');
  expect(count(9_412, en)).toBe('9,412');
  expect(share(41, 50, en)).toBe('82%');
});

test('the language follows the choice, then the computer', () => {
  expect(languageOf('zh-CN', ['en-GB'])).toBe('zh-CN');
  expect(languageOf('system', ['fr-FR', 'zh-TW', 'en'])).toBe('zh-CN');
  expect(languageOf('system', ['en-GB', 'zh'])).toBe('en');
  expect(languageOf('system', ['fr'])).toBe('en');
});
