// What is sent and when: Enter sends, an input method's Enter doesn't, words stay until they are on the record.
import { createEvent, fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet } from 'svelte';
import { expect, test, vi } from 'vitest';
import { MESSAGE, type Reply } from '../../state/reply';
import { handClock } from '../../state/hand-clock';
import { en } from '../../texts/en';
import Composer from './Composer.svelte';

type Props = Parameters<typeof Composer>[1];

function show(part: Partial<Props> = {}) {
  const onsend = vi.fn<Props['onsend']>(() => Promise.resolve(true));
  const ondraft = vi.fn<Props['ondraft']>();
  const onstop = vi.fn<Props['onstop']>();
  render(Composer, {
    t: en,
    platform: 'linux',
    draft: '',
    working: false,
    needsYou: false,
    stopping: false,
    disabled: false,
    first: true,
    problem: '',
    ondraft,
    onsend,
    onstop,
    pickers: createRawSnippet(() => ({ render: () => '<span></span>' })),
    ...part,
  });
  return {
    onsend,
    ondraft,
    onstop,
    field: screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' }),
  };
}

/** A key press with the code and the moment a browser would give it. */
async function press(field: HTMLElement, part: { keyCode?: number; isComposing?: boolean; at?: number }) {
  const event = createEvent.keyDown(field, {
    key: 'Enter',
    keyCode: part.keyCode ?? 13,
    isComposing: part.isComposing ?? false,
  });
  Object.defineProperty(event, 'timeStamp', { value: part.at ?? 5_000 });
  await fireEvent(field, event);
}

async function compose(field: HTMLElement, text: string, endedAt: number) {
  await fireEvent.compositionStart(field);
  await fireEvent.input(field, { target: { value: text } });
  const event = createEvent.compositionEnd(field);
  Object.defineProperty(event, 'timeStamp', { value: endedAt });
  await fireEvent(field, event);
}

test('Enter sends, Shift Enter begins a new line', async () => {
  const { field, onsend } = show();
  await userEvent.type(field, 'one{Shift>}{Enter}{/Shift}two');
  expect(onsend).not.toHaveBeenCalled();
  expect(field).toHaveValue('one\ntwo');
  await userEvent.type(field, '{Enter}');
  expect(onsend).toHaveBeenCalledExactlyOnceWith('one\ntwo', 'steer', MESSAGE);
  expect(field).toHaveValue('');
});

test('d06_the_enter_that_commits_is_not_sent_and_the_next_one_sends_once', async () => {
  const orders: [string, (field: HTMLElement) => Promise<void>][] = [
    ['WebKit: code 229 after the end', (field) => press(field, { keyCode: 229, at: 1_000 })],
    ['Chromium: composing', (field) => press(field, { keyCode: 229, isComposing: true, at: 1_000 })],
    ['no mark at all, the same press', (field) => press(field, { keyCode: 13, at: 1_003 })],
  ];
  for (const [name, commit] of orders) {
    const { field, onsend } = show();
    await compose(field, '你好', 1_000);
    await commit(field);
    expect(onsend, name).not.toHaveBeenCalled();
    expect(field, name).toHaveValue('你好');
    await press(field, { at: 1_500 });
    expect(onsend, name).toHaveBeenCalledExactlyOnceWith('你好', 'steer', MESSAGE);
    document.body.innerHTML = '';
  }
});

test('words that could not be recorded stay in the field', async () => {
  const { field } = show({
    onsend: () => Promise.resolve(false),
    problem: 'Not sent. Daybook didn’t answer.',
  });
  await userEvent.type(field, 'keep me{Enter}');
  expect(field).toHaveValue('keep me');
  expect(screen.getByRole('alert')).toHaveTextContent('Not sent. Daybook didn’t answer.');
});

test('x18_a_second_enter_while_it_is_sent_sends_nothing', async () => {
  let recorded: (sent: boolean) => void = () => {};
  const onsend = vi.fn(() => new Promise<boolean>((resolve) => (recorded = resolve)));
  const { field } = show({ onsend });
  await userEvent.type(field, 'once{Enter}{Enter}{Enter}');
  expect(onsend).toHaveBeenCalledTimes(1);
  recorded(true);
});

test('r_inb_03_while_work_goes_on_the_person_chooses_when_it_is_read', async () => {
  const { field, onsend, onstop } = show({ working: true, first: false });
  await userEvent.type(field, 'later');
  await userEvent.click(screen.getByRole('button', { name: 'After this is done' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(onsend).toHaveBeenCalledExactlyOnceWith('later', 'follow_up', MESSAGE);
  await userEvent.click(screen.getByRole('button', { name: /Stop/ }));
  expect(onstop).toHaveBeenCalledTimes(1);
});

test('when nothing runs there is nothing to stop and no choice to make', async () => {
  const { field } = show();
  await userEvent.type(field, 'x');
  expect(screen.queryByRole('button', { name: /Stop/ })).toBeNull();
  expect(screen.queryByRole('group', { name: 'When to read it' })).toBeNull();
});

test('every keystroke is kept as a draft', async () => {
  const { field, ondraft } = show({ draft: 'half' });
  expect(field).toHaveValue('half');
  await userEvent.type(field, '!');
  expect(ondraft).toHaveBeenLastCalledWith('half!');
});

/** A composer for a reply, on a clock of its own. */
function replying(reply: Reply, part: Partial<Props> = {}) {
  const timing = handClock();
  return { ...show({ needsYou: true, first: false, reply, timing, ...part }), pass: timing.pass };
}

test('r_inb_10_while_a_question_waits_enter_answers_it', async () => {
  const { field, onsend, pass } = replying({ kind: 'answer', id: 'q' });
  expect(field).toHaveAttribute('placeholder', 'Answer the question…');
  pass(600);
  await userEvent.type(field, 'Red');
  expect(screen.getByText('Sending this answers the question above:')).toBeVisible();
  expect(screen.queryByRole('group', { name: 'When to read it' })).toBeNull();
  await userEvent.type(field, '{Enter}');
  expect(onsend).toHaveBeenCalledExactlyOnceWith('Red', 'steer', { kind: 'answer', id: 'q' });
  expect(field).toHaveValue('');
});

test('while a request waits words are a no with a reason, and it says so before they are sent', async () => {
  const { field, onsend, pass } = replying({ kind: 'refuse', id: 'apr' });
  expect(field).toHaveAttribute('placeholder', expect.stringContaining('this doesn’t allow the step'));
  pass(600);
  await userEvent.type(field, 'yes');
  expect(screen.getByText('Sending this refuses the step and tells Daybook:')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Don’t allow, and say this' }));
  expect(onsend).toHaveBeenCalledExactlyOnceWith('yes', 'steer', { kind: 'refuse', id: 'apr' });
});

test('a24_the_key_that_allows_does_nothing_in_the_composer_and_it_says_so', async () => {
  const { field, onsend, pass } = replying({ kind: 'refuse', id: 'apr' });
  pass(600);
  await userEvent.type(field, 'no{Control>}{Enter}{/Control}');
  expect(onsend).not.toHaveBeenCalled();
  expect(screen.getByRole('status')).toHaveTextContent(
    'Nothing was allowed. Ctrl ↩ works inside the request.',
  );
  await userEvent.type(field, '!');
  expect(screen.queryByRole('status')).toBeNull();
});

test('a24_what_begins_to_wait_under_the_typing_hand_does_not_take_the_words', async () => {
  for (const reply of [
    { kind: 'answer', id: 'q' },
    { kind: 'refuse', id: 'apr' },
  ] as const) {
    const { field, onsend, pass } = replying(reply);
    pass(599);
    await userEvent.type(field, 'also the footer{Enter}');
    const waits = { kind: 'message', waits: true };
    expect(onsend).toHaveBeenCalledExactlyOnceWith('also the footer', 'steer', waits);
    document.body.innerHTML = '';
  }
});

test('where words cannot be the answer they are a message, and it says what comes first', async () => {
  const { field, onsend } = replying({ kind: 'message', waits: true });
  expect(field).toHaveAttribute('placeholder', 'Answer above first, or add something…');
  await userEvent.type(field, 'use the other one{Enter}');
  expect(onsend.mock.lastCall?.[2]).toEqual({ kind: 'message', waits: true });
});
