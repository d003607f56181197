// A call unfolded: a person reads what was decided and what came out, never what is written for the model.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { call } from '../../protocol/fake/make';
import type { CallView } from '../../protocol/generated/CallView';
import type { Halt } from '../../protocol/generated/Halt';
import { en } from '../../texts/en';
import { faultWords, haltWords } from '../../texts/words';
import { zh } from '../../texts/zh';
import Steps from './Steps.svelte';

/** Everything one call shows once it is unfolded. */
async function unfolded(of: CallView, t = en) {
  const { container, unmount } = render(Steps, { t, calls: [of] });
  await userEvent.click(container.querySelector('summary') as HTMLElement);
  const text = container.querySelector('ul')?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  return { text, unmount };
}

test('a refused call has the person’s own words, in their language', async () => {
  const halt = { kind: 'refused', why: 'no' } as const;
  const output = 'The person did not allow this. They said: no';
  const refused = call('1', 'edit_file', { path: 'menu.md' }, { state: 'denied', halt, output, ms: 3 });
  const english = await unfolded(refused);
  expect(english.text).toBe('You didn’t allow this. You said: no');
  english.unmount();
  const chinese = await unfolded(refused, zh);
  expect(chinese.text).toBe('你没有允许这一步。你说：no');
});

test('whoever kept a call from being done is named, unknown ones plainly', () => {
  const table: [Halt | null, string, string][] = [
    [{ kind: 'refused', why: null }, 'You didn’t allow this.', '你没有允许这一步。'],
    [{ kind: 'mode', mode: 'plan' }, '“Plan only” doesn’t do this.', '“只做计划”不做这样的事。'],
    [{ kind: 'rule', rule: '' }, 'The rules of this session don’t allow this.', zh.calls.halts.rule],
    [
      { kind: 'rule', rule: 'user/no-push' },
      'A rule doesn’t allow this: user/no-push',
      '有一条规则不允许这一步：user/no-push',
    ],
    [{ kind: 'nobody' }, 'Nobody was there to allow this.', zh.calls.halts.nobody],
    [{ kind: 'expired' }, en.calls.halts.expired, zh.calls.halts.expired],
    [{ kind: 'stopped', by: 'user' }, 'You stopped the work.', '你停止了工作。'],
    [{ kind: 'stopped', by: 'shutdown' }, 'Daybook was closed.', 'Daybook 被关闭了。'],
    [{ kind: 'stopped', by: 'turn' }, 'The work ended before.', zh.calls.halts.turn],
    [{ kind: 'of_later' } as unknown as Halt, 'It wasn’t allowed.', zh.calls.halts.other],
    [null, 'It wasn’t allowed.', zh.calls.halts.other],
  ];
  for (const [halt, english, chinese] of table) {
    expect(haltWords(halt, en)).toBe(english);
    expect(haltWords(halt, zh)).toBe(chinese);
  }
});

test('a stopped call says who stopped it', async () => {
  const halt = { kind: 'stopped', by: 'shutdown' } as const;
  const { text } = await unfolded(
    call('1', 'run_command', { command: 'make' }, { state: 'cancelled', halt, started: false }),
    zh,
  );
  expect(text).toContain('Daybook 被关闭了。');
});

test('chinese words and what they are about stand together, latin apart', () => {
  const calls = [call('1', 'list_files', { path: '.' }), call('2', 'read_file', { path: 'menu.md' })];
  const { container } = render(Steps, { t: zh, calls });
  const lines = [...container.querySelectorAll('summary')].map((line) => line.textContent);
  expect(lines[0]).toContain('查看了文件夹');
  expect(lines[1]).toContain('读取了 menu.md');
});

test('what is told to the model after a plan isn’t shown', async () => {
  const output = 'The plan is set: 3 items. Go on with the work.';
  const { text } = await unfolded(call('1', 'update_plan', {}, { output }), zh);
  expect(text).toBe('计划现在的样子列在“计划”里。');
});

test('what went wrong is said in the person’s language, and what was printed stays', async () => {
  const failed = { state: 'failed', error: 'file/not_found' } as const;
  const read = await unfolded(call('1', 'read_file', { path: 'a.txt' }, failed), zh);
  expect(read.text).toBe('那个位置什么也没有。 详情');
  await userEvent.click(screen.getByText('详情'));
  expect(screen.getByText('file/not_found')).toBeVisible();
  read.unmount();
  const late = { state: 'failed', error: 'call/timeout', output: 'two of nine\n' } as const;
  const run = await unfolded(call('2', 'run_command', { command: 'npm test' }, late));
  expect(run.text).toContain('It took longer than it may and was stopped.');
  expect(run.text).toContain('two of nine');
  for (const odd of ['constructor', 'of/later', '', null])
    expect(faultWords(odd, en)).toBe('It didn’t work. The model was told why.');
});

test('r_tool_21_a_card_is_drawn_from_its_view_alone_also_from_arguments_of_another_version', async () => {
  // Each with arguments of another version: names nobody knows any more, or doesn't know yet.
  const cards: [CallView, CallView['facts'], string][] = [
    [
      call('1', 'edit_file', { path: 'gone/from/disk.md' }, { added: 1, removed: 2 }),
      { path: 'gone/from/disk.md', was_called: 'otherwise', file: 'other.md' },
      'gone/from/disk.md',
    ],
    [call('2', 'edit_file', {}), { file: 'other.md', old_text: 'x' }, 'Changed'],
    [call('3', 'run_command', {}, { output: 'x\n' }), { cmd: 'npm test', args: '[]' }, 'x'],
    [call('4', 'tool_of_before', { path: 'a' }), { path: 'a', object: '{}' }, 'tool_of_before'],
  ];
  const drawn = async (card: CallView) => {
    const { container, unmount } = render(Steps, { t: en, calls: [card] });
    for (const fold of container.querySelectorAll('summary')) await userEvent.click(fold);
    const { innerHTML: html, textContent: text } = container;
    unmount();
    return { html, text };
  };
  for (const [card, facts, says] of cards) {
    const now = await drawn(card);
    expect(now.text).toContain(says);
    // A view of before had neither why something failed nor who kept it from being done.
    const older: Partial<CallView> = { ...card, facts };
    delete older.error;
    delete older.halt;
    const before = await drawn(older as CallView);
    expect(before.html).toBe(now.html);
    expect(before.html).not.toMatch(/undefined|null|NaN|\[object/);
  }
});
