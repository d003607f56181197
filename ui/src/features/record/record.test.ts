// Shapes of the record's pictures: marks, the bar of a request, JSON for reading.
import { expect, test } from 'vitest';
import type { SawPart } from '../../protocol/generated/SawPart';
import type { RecordLine } from '../../protocol/generated/RecordLine';
import { en } from '../../texts/en';
import { lineWords, partWords } from '../../texts/record';
import { zh } from '../../texts/zh';
import { barOf, LENGTH } from './bar';
import { indented } from './indented';
import { broughtTo } from './sight';
import { marksOf, MOST, pathOf } from './marks';

test('the list goes along with the newest only for who stays there', () => {
  const newest = { at: 9, chosen: null, family: 'all' };
  expect(broughtTo(null, newest, true)).toBe('end');
  const grown = { ...newest, at: 12 };
  expect([broughtTo(newest, grown, true), broughtTo(newest, grown, false)]).toEqual(['end', null]);
  const chosen = { ...newest, at: 3, chosen: 3 };
  expect(broughtTo(newest, chosen, false)).toBe('center');
  expect([broughtTo(chosen, chosen, true), broughtTo(chosen, chosen, false)]).toEqual([null, null]);
  expect(broughtTo(chosen, { ...chosen, family: 'calls' }, false)).toBe('center');
  expect(broughtTo(chosen, grown, false)).toBe('end');
});

test('a mark an event while there is room, and what went wrong is never hidden', () => {
  expect(marksOf('ontmS').map(({ kind }) => kind)).toEqual(['plain', 'turn', 'plain', 'plain', 'bad']);
  const long = marksOf(`${'c'.repeat(60_000)}S${'c'.repeat(39_999)}`);
  expect(long).toHaveLength(MOST);
  expect(long.filter(({ kind }) => kind === 'bad')).toHaveLength(1);
  expect(pathOf(marksOf('yn'), 'you', 1_000)).toBe('M6.0 2v24');
  expect([marksOf(''), pathOf([], 'plain', 1_000)]).toEqual([[], '']);
});

const part = (tokens: number, same: boolean): SawPart => ({
  ...{ what: 'said', source: 'user', facts: {}, tokens, same },
});

test('the bar fills its length, pale for what stood there and dark for what is new', () => {
  const bar = barOf([
    part(4_210, true),
    part(16_190, true),
    part(0, false),
    part(1, false),
    part(840, false),
  ]);
  expect([bar.total, bar.same, bar.fresh]).toEqual([21_241, 20_400, 841]);
  expect(bar.pieces).toHaveLength(4);
  const last = bar.pieces.at(-1);
  expect((last?.from ?? 0) + (last?.width ?? 0)).toBeCloseTo(LENGTH, 0);
  expect(bar.pieces.every(({ width }) => width >= 4)).toBe(true);
  expect(bar.pieces.map(({ shade }) => shade >= 4)).toEqual([false, false, true, true]);
  expect(barOf([]).pieces).toEqual([]);
});

test('json is broken into lines with every character kept', () => {
  const text = '{"a":12345678901234567890,"a":[],"s":"{\\"x\\":[1,2]}","l":[1,{"b":"\\\\"}]}';
  const shown = indented(text);
  expect(shown.split('\n')).toEqual([
    '{',
    '  "a": 12345678901234567890,',
    '  "a": [],',
    '  "s": "{\\"x\\":[1,2]}",',
    '  "l": [',
    '    1,',
    '    {',
    '      "b": "\\\\"',
    '    }',
    '  ]',
    '}',
  ]);
  expect(indented('not json')).toBe('not json');
});

const line = (kind: string, facts: RecordLine['facts'] = {}, erased = false): RecordLine => ({
  ...{ seq: 1, time: 0, letter: 'o', depth: 0, kind, facts, erased },
});

test('a type nobody worded is a line too, and erased words are said to be', () => {
  expect(lineWords(line('future/thing'), 0, en).text).toBe('Recorded: future/thing');
  expect(lineWords(line('constructor'), 0, zh).text).toBe('已记录：constructor');
  expect(lineWords(line('tool/result', {}, true), 1, en)).toEqual({
    text: 'All that this event said was erased',
    end: 'words erased',
  });
});

test('events are said in both languages from their facts', () => {
  const table: [string, RecordLine['facts'], string, string, string][] = [
    ['user/message', { text: 'Tidy up' }, 'You said: Tidy up', '你说：Tidy up', 'Turn 2'],
    ['turn/start', { source: 'message' }, 'Turn 2 begins', '第 2 轮开始', ''],
    [
      'turn/end',
      { end: 'cancelled', by: 'user' },
      'Turn 2 ended: Stopped by you',
      '第 2 轮结束：由你停止',
      '',
    ],
    ['request/prepared', { tokens: '4210' }, 'A request was built', '准备好一个请求', '4,210 tokens'],
    ['attempt/end', { end: 'failed', class: 'overloaded' }, 'No answer', '没有应答', 'The model is busy'],
    [
      'tool/result',
      { tool: 'edit_file', path: 'a.txt', changed: '1', added: '18', removed: '9' },
      'Changed a.txt',
      '改动了 a.txt',
      '+18 −9',
    ],
    [
      'tool/result',
      { tool: 'edit_file', path: 'a.png', changed: '1' },
      'Changed a.png',
      '改动了 a.png',
      '1 file',
    ],
    [
      'job/ended',
      { end: 'cancelled', ms: '8200' },
      en.jobs.lines.ends.cancelled,
      zh.jobs.lines.ends.cancelled,
      '8 s',
    ],
    [
      'tool/result',
      { tool: 'read_file', path: 'a', error: 'file/not_found', ms: '8200' },
      'Read a, which failed',
      '读取了 a，未成功',
      '8 s',
    ],
    [
      'approval/requested',
      { tool: 'run_command', command: 'npm test' },
      'You are asked: Wants to run npm test',
      '询问你：想运行 npm test',
      '',
    ],
  ];
  for (const [kind, facts, english, chinese, end] of table) {
    expect(lineWords(line(kind, facts), 2, en), kind).toEqual({ text: english, end });
    expect(lineWords(line(kind, facts), 2, zh).text, kind).toBe(chinese);
  }
  const result = { ...part(1, false), what: 'result', facts: { tool: 'read_file', path: 'a.txt' } };
  expect(partWords(result, en)).toBe('What came of it: Read a.txt');
});
