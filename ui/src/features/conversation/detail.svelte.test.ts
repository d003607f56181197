// A call unfolded: a person reads what was decided and what came out, never what is written for the model.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { call } from '../../protocol/fake/make';
import type { ApprovalState } from '../../protocol/generated/ApprovalState';
import type { CallView } from '../../protocol/generated/CallView';
import { en } from '../../texts/en';
import { denialWords } from '../../texts/words';
import { zh } from '../../texts/zh';
import Steps from './Steps.svelte';

/** Everything one call shows once it is unfolded. */
async function unfolded(of: CallView, t = en, decision?: ApprovalState) {
  const decisions = new Map(decision ? [[of.id, decision]] : []);
  const { container, unmount } = render(Steps, { t, calls: [of], decisions });
  await userEvent.click(container.querySelector('summary') as HTMLElement);
  const text = container.querySelector('ul')?.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  return { text, unmount };
}

test('a refused call has the person’s own words, in their language', async () => {
  const told = 'denied/refused: The person did not allow this. They said: no';
  const refused = call('1', 'edit_file', { path: 'menu.md' }, { state: 'denied', error: told, ms: 3 });
  const english = await unfolded(refused, en, { kind: 'refused', why: 'no' });
  expect(english.text).toBe('You didn’t allow this. You said: no');
  english.unmount();
  const chinese = await unfolded(refused, zh, { kind: 'refused', why: 'no' });
  expect(chinese.text).toBe('你没有允许这一步。你说：no');
});

test('whoever kept a call from being done is named, unknown ones plainly', () => {
  const table: [string | null, ApprovalState | undefined, string][] = [
    ['denied/refused: words', undefined, 'You didn’t allow this.'],
    ['denied/refused: words', { kind: 'refused', why: null }, 'You didn’t allow this.'],
    ['denied/policy: Not allowed: x', undefined, 'The rules of this session don’t allow this.'],
    ['denied/nobody: words', undefined, 'Nobody was there to allow this.'],
    ['denied/expired: words', { kind: 'expired', why: 'time' }, en.calls.denials.expired],
    ['denied/constructor: words', undefined, 'It wasn’t allowed.'],
    [null, undefined, 'It wasn’t allowed.'],
  ];
  for (const [error, decision, words] of table) expect(denialWords(error, decision, en)).toBe(words);
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

test('an error for the model is folded, and what a command printed stays', async () => {
  const told = 'path/missing: there is no a.txt';
  const failed = {
    state: 'failed',
    error: told,
    output: 'Error (path/missing): there is no a.txt\nLook first.',
  } as const;
  const read = await unfolded(call('1', 'read_file', { path: 'a.txt' }, failed));
  expect(read.text).toBe('It didn’t work. The model was told why. Details');
  await userEvent.click(screen.getByText('Details'));
  expect(screen.getByText(told)).toBeVisible();
  read.unmount();
  const printed = { state: 'failed', error: 'exit code 1', output: 'two failed\n' } as const;
  const run = await unfolded(call('2', 'run_command', { command: 'npm test' }, printed));
  expect(run.text).toContain('two failed');
  expect(run.text).not.toContain('The model was told');
});
