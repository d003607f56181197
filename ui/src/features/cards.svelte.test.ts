// Questions, unknown outcomes, ends, waiting messages, files, steps: each says what it must and asks for what it needs.
import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../protocol/fake/make';
import type { QuestionView } from '../protocol/generated/QuestionView';
import type { Resolution } from '../protocol/generated/Resolution';
import { findingsOf } from '../state/told';
import { en } from '../texts/en';
import { zh } from '../texts/zh';
import Said from './conversation/Said.svelte';
import Steps from './conversation/Steps.svelte';
import TourEnd from './conversation/TourEnd.svelte';
import TurnEnd from './conversation/TurnEnd.svelte';
import WaitingMessage from './conversation/WaitingMessage.svelte';
import PlanTab from './plan/PlanTab.svelte';
import ProjectGroup from './sidebar/ProjectGroup.svelte';
import QuestionCard from './question/QuestionCard.svelte';
import UnknownCard from './unknown/UnknownCard.svelte';

const asked: QuestionView = {
  id: 'q',
  text: 'Which one?',
  options: ['A', 'B'],
  free_text: true,
  sensitive: false,
  answer: null,
};
const yes = () => Promise.resolve(true);

test('r_inb_10_a_question_takes_an_option_or_own_words', async () => {
  const onanswer = vi.fn(yes);
  render(QuestionCard, { t: en, question: asked, onanswer });
  expect(screen.getByRole('button', { name: 'Answer' })).toBeDisabled();
  await userEvent.click(screen.getByRole('radio', { name: 'B' }));
  await userEvent.click(screen.getByRole('button', { name: 'Answer' }));
  expect(onanswer).toHaveBeenLastCalledWith('B');
  await userEvent.type(screen.getByRole('textbox', { name: 'Your own answer' }), 'Neither{Enter}');
  expect(onanswer).toHaveBeenLastCalledWith('Neither');
});

test('r_inb_10_a_sensitive_answer_is_hidden_while_typed_and_afterwards', () => {
  const { unmount } = render(QuestionCard, {
    t: en,
    question: { ...asked, options: [], sensitive: true },
    onanswer: yes,
  });
  expect(screen.getByLabelText('Your own answer')).toHaveAttribute('type', 'password');
  unmount();
  const { container } = render(QuestionCard, {
    t: en,
    question: { ...asked, sensitive: true, answer: 'secret' },
    onanswer: yes,
  });
  expect(container.textContent).not.toContain('secret');
});

test('a question without free text offers only its options', () => {
  render(QuestionCard, { t: en, question: { ...asked, free_text: false }, onanswer: yes });
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('i13_an_unknown_outcome_is_asked_about_with_its_evidence_and_nothing_chosen', async () => {
  const onresolve = vi.fn(yes);
  const evidence = { started_at: '1000', reason: 'runtime_restarted', output_tail: 'sent 9 of 14' };
  const upload = call('c', 'run_command', { command: './publish.sh' }, { state: 'unknown' });
  const onrecord = vi.fn();
  const found = { time: 1e12, onresolve, onrecord };
  render(UnknownCard, { t: en, call: upload, evidence, resolution: null, ...found });
  expect(screen.getByText('Daybook was closed while it ran')).toBeVisible();
  expect(screen.getByText('sent 9 of 14')).toBeVisible();
  expect(screen.getAllByRole('radio').every((radio) => !(radio as HTMLInputElement).checked)).toBe(true);
  expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
  await userEvent.click(screen.getByRole('button', { name: 'See the record' }));
  expect(onrecord).toHaveBeenCalledOnce();
  await userEvent.click(screen.getByRole('radio', { name: /It did finish/ }));
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  expect(onresolve).toHaveBeenCalledExactlyOnceWith('done');
});

test('an answered unknown outcome says what the person found', () => {
  const upload = call('c', 'run_command', { command: 'x' }, { state: 'unknown' });
  const found = { time: 1e12, onresolve: yes, onrecord: () => undefined };
  render(UnknownCard, { t: zh, call: upload, evidence: {}, resolution: 'skip', ...found });
  expect(screen.getByText('你选择先不管。')).toBeVisible();
});

test('r_cli_08_an_end_says_why_and_offers_what_can_be_done_now', async () => {
  const ongoon = vi.fn();
  const facts = { class: 'overloaded', provider: 'Acme', message: '529 <b>busy</b>' };
  const { unmount, container } = render(TurnEnd, { t: en, end: 'failed', facts, ms: 1, last: true, ongoon });
  expect(screen.getByRole('alert')).toHaveTextContent('Acme is busy.');
  expect(container.querySelector('b')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(ongoon).toHaveBeenCalledWith('Please try again from where it failed.');
  unmount();
  render(TurnEnd, { t: en, end: 'cancelled', facts: { by: 'user' }, ms: 65_000, last: false, ongoon });
  expect(screen.getByText('Stopped by you, after 1 min 5 s')).toBeVisible();
  expect(screen.queryByRole('button')).toBeNull();
});

test('what the end of Daybook cut off can go on', async () => {
  const ongoon = vi.fn();
  const end = (facts: Record<string, string>, last: boolean) =>
    render(TurnEnd, { t: en, end: 'cancelled', facts, ms: 1, last, ongoon }).unmount;
  end({ by: 'shutdown' }, false)();
  end({ by: 'user' }, true)();
  expect(screen.queryByRole('button')).toBeNull();
  const unmount = end({ by: 'shutdown' }, true);
  await userEvent.click(screen.getByRole('button', { name: 'Go on' }));
  expect(ongoon).toHaveBeenCalledExactlyOnceWith('Please go on from where you stopped.');
  unmount();
  render(TurnEnd, { t: en, end: 'interrupted', facts: {}, ms: 1, last: true, ongoon });
  expect(screen.getByRole('button', { name: 'Go on' })).toBeVisible();
});

test('r_inb_13_a_message_held_back_by_a_stop_says_so_and_can_be_sent', async () => {
  const [onsend, onremove] = [vi.fn(), vi.fn()];
  const message = { id: 'm', text: 'Wider please', intent: 'steer', held: true, time: 0 } as const;
  render(WaitingMessage, { t: en, message, onsend, onremove });
  expect(screen.getByText('Waits since you stopped; goes with your next message')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Send the message “Wider please” now' }));
  expect(onsend).toHaveBeenCalledTimes(1);
  expect(onremove).not.toHaveBeenCalled();
});

test('a message that waits behind something asked says so', () => {
  const message = { id: 'm', text: 'x', held: false, time: 0 } as const;
  const handlers = { onsend: () => undefined, onremove: () => undefined };
  const said = (part: { intent: 'steer' | 'follow_up'; held?: boolean }) => {
    const props = { t: en, message: { ...message, ...part }, asked: true, ...handlers };
    const { container, unmount } = render(WaitingMessage, props);
    const words = container.querySelector('.foot')?.textContent.trim();
    unmount();
    return words;
  };
  expect(said({ intent: 'steer' })).toMatch(/^Will be read once you answered above/);
  expect(said({ intent: 'follow_up' })).toMatch(/^Will be read when this is done/);
  expect(said({ intent: 'steer', held: true })).toMatch(/^Waits since you stopped/);
});

test('r_inb_03_a_waiting_message_says_when_it_is_read_and_can_be_taken_back', async () => {
  const onremove = vi.fn();
  const message = { id: 'm', text: 'Wider please', intent: 'steer', held: false, time: 0 } as const;
  const { unmount } = render(WaitingMessage, { t: en, message, onsend: onremove, onremove });
  expect(screen.getAllByRole('button')).toHaveLength(1);
  expect(screen.getByText('Will be read before the next step')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Remove the message “Wider please”' }));
  expect(onremove).toHaveBeenCalledTimes(1);
  unmount();
  render(WaitingMessage, { t: zh, message: { ...message, intent: 'follow_up' }, onsend: onremove, onremove });
  expect(screen.getByText('会在这件事做完以后读到')).toBeVisible();
});

test('steps read as sentences and unfold to calls with their output', async () => {
  const calls = [
    call('1', 'read_file', { path: 'menu.json' }),
    call(
      '2',
      'run_command',
      { command: 'node x.mjs', exit_code: '1' },
      { output: 'two failed\n', ms: 8_200 },
    ),
    call('3', 'edit_file', { path: 'a.css' }, { added: 3, removed: 1 }),
  ];
  const { container, unmount } = render(Steps, { t: en, calls });
  const lines = [...container.querySelectorAll('summary')].map((line) =>
    line.textContent?.replace(/\s+/g, ' ').trim(),
  );
  expect(lines).toEqual([
    'Read menu.json 0.4 s',
    'Ran node x.mjsfailed, exit code 1 8 s',
    'Changed a.css +33 lines added −11 lines removed 0.4 s',
  ]);
  const ran = container.querySelectorAll('summary')[1];
  if (!ran) throw new Error('three lines');
  expect(within(ran).getByRole('img', { name: 'failed' })).toBeVisible();
  await userEvent.click(screen.getByText('Ran'));
  expect(screen.getByLabelText('Output')).toHaveTextContent('two failed');
  unmount();
  render(Steps, { t: zh, calls: calls.slice(0, 1) });
  expect(screen.getByText('读取了')).toBeVisible();
});

test('a refused call says in its line that it was, and why beneath it, and what took no time says no time', async () => {
  const why = 'The notes belong to Maria';
  const refused = call(
    '1',
    'edit_file',
    { path: 'a' },
    { state: 'denied', halt: { kind: 'refused', why }, output: `They said: ${why}\n`, ms: 3 },
  );
  const decisions = new Map([['1', { kind: 'refused', why } as const]]);
  const { container } = render(Steps, { t: en, calls: [refused], decisions });
  await userEvent.click(screen.getByText('Didn’t change'));
  // The words themselves are an entry of the conversation; a line would cut them.
  expect(container.querySelector('summary')).toHaveTextContent('You didn’t allow this');
  expect(container.textContent?.split(why)).toHaveLength(2);
  expect(container.textContent).not.toContain('They said');
  expect(container.textContent).not.toMatch(/0\.0/);
});

test('the end of the tour offers the own folder and once more', async () => {
  const onown = vi.fn();
  const onagain = vi.fn();
  const onchanges = vi.fn();
  render(TourEnd, { t: en, whole: true, onchanges, onown, onagain });
  await userEvent.click(screen.getByRole('button', { name: 'See what was changed' }));
  expect(onchanges).toHaveBeenCalledTimes(1);
  await userEvent.click(screen.getByRole('button', { name: 'Use it on your own folder' }));
  await userEvent.click(screen.getByRole('button', { name: 'Start over' }));
  expect([onown, onagain].map((asked) => asked.mock.calls.length)).toEqual([1, 1]);
});

test('a81_what_a_person_or_a_tool_wrote_stays_text', async () => {
  const hostile = '<img src=https://sink.invalid/x onerror=alert(1)>';
  const said = render(Said, { text: hostile, more: 'more' });
  expect(said.container.querySelector('img')).toBeNull();
  const calls = [
    call(
      '1',
      hostile,
      { path: hostile },
      { output: `${hostile}${String.fromCharCode(0x202e)}`, state: 'failed', error: hostile },
    ),
  ];
  const steps = render(Steps, { t: en, calls });
  await userEvent.click(screen.getByText(`Used “${hostile}”`));
  expect(steps.container.querySelector('img')).toBeNull();
  expect(screen.getByLabelText('Output')).toHaveTextContent('⟨U+202E⟩');
});

test('a very long message shows its beginning and the rest on request', async () => {
  render(Said, { text: 'x'.repeat(100_000), more: 'Show more' });
  expect(document.body.textContent?.length).toBeLessThan(5_000);
  await userEvent.click(screen.getByRole('button', { name: 'Show more' }));
  expect(document.body.textContent?.length).toBeGreaterThan(99_000);
});

test('an outcome that was asked about is marked as waiting only until it is answered', () => {
  const lost = call('c', 'run_command', { command: './publish.sh' }, { state: 'unknown' });
  const markOf = (resolution: Resolution | null) => {
    const cells = [{ body: { kind: 'unknown', call: lost, evidence: {}, resolution } as const }];
    const { container, unmount } = render(Steps, {
      t: en,
      calls: [lost],
      findings: findingsOf(cells, [lost]),
    });
    const mark = container.querySelector('summary [role=img]')?.getAttribute('aria-label');
    unmount();
    return mark;
  };
  expect(markOf(null)).toBe('Needs you');
  expect(markOf('done')).toBe('Done');
  expect(markOf('again')).toBe('Stopped');
  expect(markOf('skip')).toBe('Stopped');
});

test('the list marks how a session stands, one that was stopped too', () => {
  const folder = { id: 'f', name: 'Site', place: '~', exists: true, wide: null };
  const line = { folder, updated: 0, needs_you: 0, tour: false };
  const states = ['idle', 'stopped', 'failed', 'needs_you', 'working'];
  const sessions = states.map((state) => ({ ...line, id: state, title: state, state }));
  const project = { folder, sessions };
  render(ProjectGroup, { t: en, project, open: null, now: 0, onsession: () => undefined });
  const marks = screen.getAllByRole('listitem').map((item) => item.querySelector('[role=img]'));
  expect(marks.map((mark) => mark?.getAttribute('aria-label'))).toEqual([
    'Done',
    'Stopped',
    'Failed',
    'Needs you',
    'Working',
  ]);
  expect(marks[1]).toHaveClass('stopped');
});

test('r_pln_05_the_plan_marks_what_is_done_what_is_now_and_what_is_not', () => {
  const items = [
    { text: 'One', status: 'completed' },
    { text: 'Two', status: 'in_progress' },
    { text: 'Three', status: 'pending' },
  ] as const;
  const tokens = { input: 1_000, cached: 500, output: 20 };
  render(PlanTab, { t: en, plan: { version: 1, items: [...items] }, tokens, working: true });
  expect(
    screen
      .getAllByRole('listitem')
      .map((item) => item.querySelector('[role=img]')?.getAttribute('aria-label')),
  ).toEqual(['Done', 'Working', 'Not started']);
  expect(screen.getByText('Two').closest('li')).toHaveAttribute('aria-current', 'step');
  expect(screen.getByText(/50%/)).toBeVisible();
});
