// A request: its order, its arming, its keys, its limits, and what it never offers.
import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { approval, diff, written } from '../../protocol/fake/make';
import type { ApprovalView } from '../../protocol/generated/ApprovalView';
import { handClock } from '../../state/hand-clock';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import ApprovalCard from './ApprovalCard.svelte';
import ApprovalDone from './ApprovalDone.svelte';

/** Turns what follows it from right to left. */
const RLO = String.fromCharCode(0x202e);

type Props = Parameters<typeof ApprovalCard>[1];

function show(part: Partial<ApprovalView> = {}, props: Partial<Props> = {}) {
  const clock = handClock();
  const onallow = vi.fn(() => Promise.resolve(true));
  const onrefuse = vi.fn<Props['onrefuse']>(() => Promise.resolve(true));
  const all: Props = {
    t: en,
    approval: approval('apr_1', part),
    folder: 'Site',
    place: 1,
    of: 1,
    platform: 'linux',
    timing: clock,
    onallow,
    onrefuse,
    ...props,
  };
  const view = render(ApprovalCard, all);
  const { pass } = clock;
  const allow = () => screen.getByRole('button', { name: /Allow once|允许这一次/ });
  return { ...view, all, pass, onallow, onrefuse, allow };
}

test('the order never changes: what, why, where, can, can’t, risk, undo, exact, buttons', () => {
  const { container } = show({ model_says: 'It needs to.' });
  const text = container.textContent ?? '';
  const parts = [
    'Run a command',
    'It needs to.',
    'Where',
    'Can touch',
    'Can’t touch',
    'Risk',
    'Undo',
    'Exactly what will run',
    'Allow once',
    'Don’t allow',
  ];
  const at = parts.map((part) => text.indexOf(part));
  expect(at).not.toContain(-1);
  expect(at).toEqual([...at].sort((a, b) => a - b));
});

test('a53_the_card_says_why_it_asks_where_the_mode_alone_does_not', () => {
  const { container } = show({ facts: { rule: 'builtin/taint:.env' } });
  expect(container).toHaveTextContent(
    'Asked because .env was read, which holds secrets, and this could pass them on',
  );
  cleanup();
  expect(show({ facts: { rule: 'user/command:git push' } }).container).toHaveTextContent(
    'Asked by your rule: Commands like “git push”, however they are written',
  );
  cleanup();
  expect(show({ facts: { rule: 'mode/ask' } }).container).not.toHaveTextContent('because of the mode');
});

test('a43_reading_what_may_hold_secrets_says_who_gets_it_and_that_it_stays_there', () => {
  const part = {
    ...{ act: 'read', tool: 'read_file', exact: '.env', can_touch: ['.env'], risk: 3, undo: 'no' },
    cannot_touch: ['outside_folder', 'network', 'writing'],
    facts: { path: '.env', secrets: '.env', rule: 'builtin/secret:.env' },
  };
  const told = (service: NonNullable<Props['service']>, t = en, more = {}) => {
    const { container, unmount } = show({ ...part, facts: { ...part.facts, ...more } }, { service, t });
    const text = (container.textContent ?? '').replace(/\s+/g, ' ');
    unmount();
    return text;
  };
  const away = told({ name: 'Anthropic', local: false });
  for (const words of [
    'High: it reads what may hold passwords or keys',
    'Its content is sent to Anthropic.',
    'Can’t be undone. What is sent can’t be taken back.',
    'Why it asks Asked because .env holds secrets.',
    'Reads all of .env.',
  ])
    expect(away).toContain(words);
  expect(away).not.toContain('the internet');
  const here = told({ name: 'Ollama', local: true });
  expect(here).toContain('Medium: it reads');
  expect(here).toContain('Its content goes to Ollama, on this computer.');
  expect(here).not.toContain('sent to');
  expect(told({ name: 'Anthropic', local: false }, en, { from_line: '5', lines: '20' })).toContain(
    'Reads .env from line 5, at most 20 lines.',
  );
  const zhWords = told({ name: 'Anthropic', local: false }, zh);
  expect(zhWords).toContain('它的内容会发给 Anthropic。');
  expect(zhWords).toContain('读取 .env 的全部内容。');
  // Nothing is changed by it.
  expect(zhWords).toContain('会读取 .env');
  expect(zhWords).not.toContain('会改动');
});

test('a service on this computer makes only reading less of a risk, not a command that names a secret', () => {
  const service = { name: 'Ollama', local: true };
  const told = (part: Parameters<typeof show>[0]) => {
    const { container, unmount } = show({ risk: 3, ...part }, { service });
    const lit = container.querySelectorAll('.pips .on').length;
    unmount();
    return lit;
  };
  const facts = { command: 'cat .env', path: '.env', secrets: '.env' };
  expect(told({ act: 'read', facts })).toBe(2);
  expect(told({ act: 'run', facts })).toBe(3);
  expect(told({ act: 'read', facts, reach: ['example.org:443'] })).toBe(3);
  expect(told({ act: 'read', facts: { ...facts, protected: '.env' } })).toBe(3);
});

test('a command that wants a site it has no way to is said to fail, and what it prints of a secret to be sent', () => {
  const facts = { command: 'curl https://example.org', hosts: 'example.org' };
  const words = 'It wants example.org and has no way there: it will probably fail.';
  const held = { cannot_touch: ['outside_folder', 'network'], facts };
  show(held);
  expect(screen.getByText(words)).toBeVisible();
  cleanup();
  for (const part of [
    { ...held, reach: ['example.org:443'] },
    { ...held, cannot_touch: [] },
  ]) {
    show(part);
    expect(screen.queryByText(words)).toBeNull();
    cleanup();
  }
  show({ facts: { command: 'cat .env', secrets: '.env' } }, { service: { name: 'Workshop', local: false } });
  expect(screen.getByText('What it prints of that is sent to Workshop.')).toBeVisible();
});

test('only once can be allowed: no scope is enforced for more', () => {
  show();
  expect(screen.getAllByRole('button').map((button) => button.textContent?.trim().split(' ')[0])).toEqual([
    'Allow',
    'Don’t',
  ]);
  expect(document.body.textContent).not.toMatch(/this session/i);
});

test('a24_clicks_and_keys_before_it_stood_still_do_nothing', async () => {
  const { allow, pass, onallow } = show();
  expect(allow()).toBeDisabled();
  await fireEvent.keyDown(screen.getByRole('article'), { key: 'Enter', ctrlKey: true });
  expect(onallow).not.toHaveBeenCalled();
  pass(600);
  expect(allow()).toBeEnabled();
  await userEvent.click(allow());
  expect(onallow).toHaveBeenCalledTimes(1);
});

test('a24_a_no_needs_no_arming_and_only_the_yes_waits', async () => {
  const { allow, onrefuse } = show();
  expect(allow()).toBeDisabled();
  await userEvent.click(screen.getByRole('button', { name: 'Don’t allow…' }));
  await userEvent.click(screen.getByRole('button', { name: 'Don’t allow' }));
  expect(onrefuse).toHaveBeenCalledExactlyOnceWith('');
});

test('the command stands in the title and whole on the card, nothing has to be unfolded', () => {
  const command = `npm test -- --only ${'form '.repeat(110)}--last`;
  const { unmount } = show({ exact: command, facts: { command } });
  expect(screen.getByRole('heading').textContent).toMatch(/^Run a command: npm test .*….*--last$/);
  expect(screen.getByLabelText('Exactly what will run').textContent).toBe(command);
  unmount();
  show({}, { t: zh });
  expect(screen.getByRole('heading', { name: '运行一条命令：npm test' })).toBeVisible();
});

test('folders that have to be made first are named with the file', () => {
  const facts = { path: 'new/er/a.txt', folders: 'new\nnew/er' };
  show({ act: 'write', can_touch: ['new/er/a.txt'], facts });
  expect(screen.getByText('new/er/a.txt, new and new/er')).toBeVisible();
});

test('a file with a name outside is named, and nothing is promised of what is outside', () => {
  const facts = { named_elsewhere: 'a.txt\nb.txt', names_unseen: '3' };
  const { container, unmount } = show({ cannot_touch: ['network'], facts });
  const looked = 'that Daybook didn’t look for, outside this folder or in ignored ones: a.txt and b.txt';
  expect(screen.getByText(`3 more names ${looked}`)).toBeVisible();
  expect(container.textContent).not.toContain('anything outside');
  unmount();
  // Before one is written, its names are looked for everywhere in the folder.
  show({ act: 'write', cannot_touch: ['network'], facts: { named_elsewhere: 'a.txt', names_unseen: '1' } });
  expect(screen.getByText('Has 1 more name outside this folder: a.txt')).toBeVisible();
});

test('a21_what_does_not_fit_its_box_must_be_read_however_short_it_is', async () => {
  const { allow, pass } = show({ exact: 'one\ntwo\nthree\nfour; rm -rf x' });
  pass(600);
  expect(allow()).toBeEnabled();
  const box = screen.getByLabelText('Exactly what will run');
  Object.defineProperties(box, { scrollHeight: { value: 90 }, clientHeight: { value: 64 } });
  await fireEvent.scroll(box);
  expect(allow()).toBeDisabled();
  expect(screen.getByText(/Read it to its end/)).toBeVisible();
  box.scrollTop = 26;
  await fireEvent.scroll(box);
  expect(allow()).toBeEnabled();
});

test('where a difference says it in better words the exact thing is folded', async () => {
  const change = diff('a.css', 1, '-one\n+two');
  const { container } = show({
    ...{ act: 'edit', tool: 'edit_file', facts: { path: 'a.css' } },
    ...written(change),
  });
  expect(screen.getByRole('heading', { name: 'Change a.css' })).toBeVisible();
  expect(container.querySelector('pre')).toBeNull();
  await userEvent.click(screen.getByText('Show exactly what will be done'));
  expect(container.querySelector('pre')).toHaveTextContent('@@ -1,1 +1,1 @@ -one +two');
});

test('a21_what_says_that_it_holds_the_request_back_stands_only_while_it_does', async () => {
  const change = diff('a.css', 1, '-one\n+two');
  const { allow, pass } = show({
    ...{ act: 'edit', tool: 'edit_file', facts: { path: 'a.css' } },
    ...written(change),
  });
  pass(600);
  await userEvent.click(screen.getByText('Show exactly what will be done'));
  const box = screen.getByLabelText('Exactly what will be done');
  Object.defineProperties(box, { scrollHeight: { value: 300 }, clientHeight: { value: 100 } });
  await fireEvent.scroll(box);
  // All of the difference was on the screen, so the same in other words needs no reading.
  expect(allow()).toBeEnabled();
  expect(screen.queryByText(/Read it to its end/)).toBeNull();
});

test('what is done to a file is said in a sentence with its whole path', async () => {
  const path = `${'deep/'.repeat(12)}letter.txt`;
  const said = async (
    act: string,
    facts: Record<string, string>,
    part: Partial<ApprovalView> = {},
    t = en,
  ) => {
    const { container, unmount } = show({ act, facts: { path, ...facts }, exact: path, ...part }, { t });
    const fold = container.querySelector('summary');
    if (fold) await userEvent.click(fold);
    const words = container.querySelector('.sentence')?.textContent;
    const box = container.querySelector('pre')?.textContent;
    unmount();
    return [words, box];
  };
  const change = { diff: diff('a', 1, '+two') };
  const lines = { added: '2', removed: '1' };
  expect(await said('edit', lines, change)).toEqual([
    `Changes the file ${path}, 2 lines added and 1 removed.`,
    undefined,
  ]);
  expect((await said('write', { new: 'true', added: '3', removed: '0' }, change))[0]).toBe(
    `Makes the new file ${path}, 3 lines added and 0 removed.`,
  );
  expect((await said('write', { new: 'false' }))[0]).toBe(`Replaces what is in the file ${path}.`);
  expect(await said('delete', { kind: 'file', to: 'trash' })).toEqual([
    `Deletes the file ${path} and puts it into the trash.`,
    undefined,
  ]);
  expect((await said('delete', { kind: 'folder', files: '12', more: 'true', to: 'kept' }))[0]).toBe(
    `Deletes the folder ${path} with more than 12 files in it and keeps its content on the record.`,
  );
  expect((await said('delete', { kind: 'file', to: 'trash' }, {}, zh))[0]).toBe(
    `删除文件 ${path}，并移到回收站。`,
  );
  // What the sentence doesn't say stands below it, and a command needs no sentence.
  expect((await said('edit', {}, { exact: `link -> ${path}` }))[1]).toBe(`link -> ${path}`);
  expect(await said('run', { command: 'npm test' }, { exact: 'npm test' })).toEqual([undefined, 'npm test']);
});

test('a24_moving_up_the_queue_arms_anew', async () => {
  const { allow, pass, all, rerender } = show({}, { place: 2, of: 2 });
  pass(600);
  expect(allow()).toBeEnabled();
  await rerender({ ...all, place: 1, of: 1 });
  expect(allow()).toBeDisabled();
  pass(600);
  expect(allow()).toBeEnabled();
});

test('a24_plain_enter_never_allows_and_the_focus_is_not_taken', async () => {
  const { pass, onallow } = show();
  pass(600);
  expect(document.activeElement).toBe(document.body);
  const card = screen.getByRole('article');
  await fireEvent.keyDown(card, { key: 'Enter' });
  expect(onallow).not.toHaveBeenCalled();
  await fireEvent.keyDown(card, { key: 'Enter', ctrlKey: true });
  expect(onallow).toHaveBeenCalledTimes(1);
});

test('a24_the_key_allows_only_while_the_focus_is_inside_the_request', async () => {
  const { container, pass, onallow } = show();
  container.setAttribute('role', 'log');
  container.setAttribute('tabindex', '0');
  container.insertAdjacentHTML('beforeend', '<textarea></textarea>');
  pass(600);
  for (const elsewhere of [document.body, container, container.querySelector(':scope > textarea')]) {
    if (!(elsewhere instanceof HTMLElement)) throw new Error('it was just made');
    elsewhere.focus();
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
  }
  expect(onallow).not.toHaveBeenCalled();
  // A press on the card takes the focus into it, and Tab doesn't stop at the card itself.
  const card = screen.getByRole('article');
  expect(card).toHaveAttribute('tabindex', '-1');
  await userEvent.click(screen.getByRole('heading'));
  expect(card).toHaveFocus();
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  expect(onallow).toHaveBeenCalledTimes(1);
});

test('a refusal that was begun can be left, by its button and by Escape, and decides nothing', async () => {
  const { onrefuse } = show();
  const around = vi.fn();
  document.addEventListener('keydown', around);
  const open = screen.getByRole('button', { name: 'Don’t allow…' });
  for (const leave of [
    () => userEvent.click(screen.getByRole('button', { name: 'Cancel' })),
    () => userEvent.keyboard('{Escape}'),
  ]) {
    await userEvent.click(open);
    await userEvent.keyboard('not this');
    around.mockClear();
    await leave();
    expect(screen.queryByRole('textbox')).toBeNull();
    expect(open).toHaveFocus();
    // Nothing else closes by the same press.
    expect(around).not.toHaveBeenCalled();
  }
  await userEvent.click(open);
  expect(screen.getByRole('textbox')).toHaveValue('');
  expect(onrefuse).not.toHaveBeenCalled();
  document.removeEventListener('keydown', around);
});

test('a refusal may carry a reason, and without one it carries none', async () => {
  const { pass, onrefuse } = show();
  pass(600);
  await userEvent.click(screen.getByRole('button', { name: 'Don’t allow…' }));
  await userEvent.type(
    screen.getByRole('textbox', { name: 'Tell it why (optional)' }),
    'Use the other script',
  );
  await userEvent.click(screen.getByRole('button', { name: 'Don’t allow' }));
  expect(onrefuse).toHaveBeenCalledExactlyOnceWith('Use the other script');
});

test('a20_what_hides_in_the_command_is_shown_and_warned_about', () => {
  show({ exact: `rm ${RLO}fdp.txt`, facts: { command: 'x' } });
  expect(screen.getByText(/invisible or look like others/)).toBeVisible();
  expect(screen.getByText('rm ⟨U+202E⟩fdp.txt')).toBeVisible();
});

test('a21_a_long_thing_is_open_its_tail_in_view_and_must_be_read_first', async () => {
  for (const exact of [
    `echo ${'a'.repeat(2_000)}; rm -rf x`,
    `ls${' '.repeat(400)}; rm -rf x`,
    `${'line\n'.repeat(40)}rm -rf x`,
  ]) {
    const { allow, pass, onallow, container, unmount } = show({ exact });
    pass(600);
    expect(screen.getByText(/Read it to its end/)).toBeVisible();
    expect(container.querySelector('.tail')?.textContent).toContain('rm -rf x');
    expect(allow()).toBeDisabled();
    await fireEvent.keyDown(screen.getByRole('article'), { key: 'Enter', ctrlKey: true });
    expect(onallow).not.toHaveBeenCalled();
    const box = container.querySelector('pre');
    if (!box) throw new Error('a long thing is shown from the start');
    Object.defineProperties(box, { scrollHeight: { value: 900 }, clientHeight: { value: 200 } });
    box.scrollTop = 700;
    await fireEvent.scroll(box);
    expect(allow()).toBeEnabled();
    unmount();
  }
});

test('a limit is named only where it is enforced', () => {
  const { unmount } = show({ cannot_touch: ['outside_folder', 'from_the_future'] });
  expect(screen.getByText('anything outside this folder')).toBeVisible();
  unmount();
  show({ cannot_touch: [] });
  expect(screen.getByText(/Not limited/)).toBeVisible();
});

test('what a command can look at besides is named, and that nothing is changed there', () => {
  const { unmount } = show({
    added: ['/home/me/Invoices 2025'],
    cannot_touch: ['outside_folder', 'network'],
  });
  expect(
    screen.getByText('It can also read /home/me/Invoices 2025, and change nothing there.'),
  ).toBeVisible();
  // Not all outside is closed to it, so that isn't said.
  expect(screen.getByText('anything else outside this folder, the internet')).toBeVisible();
  unmount();
  show({ act: 'read', facts: { path: '/home/me/Invoices/.env' }, added: ['/home/me/Invoices'] }, { t: zh });
  expect(screen.getByText('/home/me/Invoices/.env，在你添加的供查看的文件夹里。')).toBeVisible();
});

test('facts are worded in the language of the window', () => {
  show({ act: 'delete', facts: { path: 'old.txt' }, can_touch: ['old.txt'], risk: 3, undo: 'no' }, { t: zh });
  expect(screen.getByRole('heading', { name: '删除 old.txt' })).toBeVisible();
  expect(screen.getByText(/高：会删除内容/)).toBeVisible();
});

test('a81_hostile_facts_are_words', () => {
  const { container } = show({
    tool: '<img src=x>',
    act: 'toString',
    facts: JSON.parse('{"__proto__":"x"}'),
    can_touch: ['<b>'],
  });
  expect(container.querySelector('img, b')).toBeNull();
  expect(screen.getByRole('heading', { name: 'Use “<img src=x>”' })).toBeVisible();
});

test('an answered request says what was decided', () => {
  const said = (state: ApprovalView['state']) => {
    const { container, unmount } = render(ApprovalDone, { t: en, approval: approval('a', { state }) });
    const text = container.textContent?.replace(/\s+/g, ' ').trim();
    unmount();
    return text;
  };
  expect(said({ kind: 'granted' })).toBe('Run a command: npm test You allowed this');
  expect(said({ kind: 'refused', why: 'No' })).toBe(
    'Run a command: npm test You didn’t allow this, and said:',
  );
  const lapsed = (why: string) => said({ kind: 'expired', why }).replace('Run a command: npm test ', '');
  expect(lapsed('user')).toBe('Not done: you stopped the work');
  expect(lapsed('shutdown')).toBe('Not done: Daybook was closing');
  expect(lapsed('time')).toBe('No longer asked: nobody answered in time');
  expect(lapsed('changed')).toBe('Asked anew: what would be done has changed');
  expect(lapsed('turn')).toBe('No longer asked: the work ended');
});

test('a reason is shown in plain words, and not again right below the same words', () => {
  const why = '**Nothing** is written until\nyou say `yes`.';
  const { unmount } = show({ model_says: why });
  expect(screen.getByText('The model says why')).toBeVisible();
  expect(screen.getByText(/^Nothing is written until\s+you say yes\.$/)).toBeVisible();
  unmount();
  show({ model_says: why }, { said: `${why}\n` });
  expect(screen.queryByText('The model says why')).toBeNull();
  expect(screen.queryByText('The model gave no reason.')).toBeNull();
});

test('a21_a_long_difference_shows_its_first_rows_and_is_allowed_once_all_were_shown', async () => {
  const lines = Array.from({ length: 80 }, (_, n) => `+line ${n}`).join('\n');
  const { allow, pass, onallow } = show({
    ...{ act: 'write', facts: { path: 'a' } },
    ...written(diff('a', 1, ` x\n ${'y'}\n${lines}`)),
  });
  expect(screen.getByText('line 0')).toBeVisible();
  expect(screen.queryByText('line 79')).toBeNull();
  pass(600);
  // What wasn't on the screen can't be allowed, by no way.
  expect(allow()).toBeDisabled();
  expect(screen.getByText(/^There is more of it/)).toBeVisible();
  await fireEvent.keyDown(screen.getByRole('article'), { key: 'Enter', ctrlKey: true });
  expect(onallow).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: /^Show \d+ more lines$/ }));
  expect(screen.getByText('line 79')).toBeVisible();
  expect(allow()).toBeEnabled();
});

test('a21_a_long_difference_can_be_read_in_one_text_instead', async () => {
  const lines = Array.from({ length: 80 }, (_, n) => `+line ${n}`).join('\n');
  const { allow, pass, container } = show({
    ...{ act: 'write', facts: { path: 'a' } },
    ...written(diff('a', 1, lines)),
  });
  pass(600);
  await userEvent.click(screen.getByText('Show exactly what will be done'));
  expect(allow()).toBeDisabled();
  expect(container.querySelector('.tail')).toHaveTextContent('line 79');
  const box = container.querySelector('pre');
  if (!box) throw new Error('it was opened');
  Object.defineProperties(box, { scrollHeight: { value: 900 }, clientHeight: { value: 200 } });
  await fireEvent.scroll(box);
  expect(allow()).toBeDisabled();
  box.scrollTop = 700;
  await fireEvent.scroll(box);
  expect(allow()).toBeEnabled();
});

test('a21_what_can_not_be_shown_whole_can_not_be_allowed', async () => {
  for (const part of [{}, written(diff('a', 1, '+x'))]) {
    const { allow, pass, onallow, onrefuse, unmount } = show({
      ...{ act: 'write', facts: { path: 'a' }, ...part, exact: '', unshown: true },
    });
    pass(600);
    const fold = screen.queryByText('Show exactly what will be done');
    if (fold) await userEvent.click(fold);
    expect(screen.getByText(/can’t be shown here whole/)).toBeVisible();
    expect(allow()).toBeDisabled();
    await fireEvent.keyDown(screen.getByRole('article'), { key: 'Enter', ctrlKey: true });
    expect(onallow).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'Don’t allow…' }));
    await userEvent.click(screen.getByRole('button', { name: 'Don’t allow' }));
    expect(onrefuse).toHaveBeenCalledTimes(1);
    unmount();
  }
});

test('what may hold secrets and what acts later by itself is said to be so', () => {
  const secrets = '.env\nkeys/id_rsa';
  const { unmount } = show({ act: 'read', facts: { path: '.env', secrets } });
  expect(screen.getByText(/it reads what may hold passwords or keys/)).toBeVisible();
  expect(screen.getByText('May hold passwords or keys: .env and keys/id_rsa')).toBeVisible();
  unmount();
  const hook = '.git/hooks/pre-commit';
  show({ act: 'write', risk: 3, facts: { path: hook, protected: hook } });
  expect(screen.getByText(/High: other programs obey this file later, without asking/)).toBeVisible();
});
