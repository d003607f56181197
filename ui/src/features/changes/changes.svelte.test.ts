// The list of turns and the pane of a file, over the stand-in's folder.
import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Failure } from '../../protocol/backend';
import { TURNS } from '../../protocol/fake/bakery';
import { FakeBackend } from '../../protocol/fake/fake';
import { call } from '../../protocol/fake/make';
import { sampleWorld } from '../../protocol/fake/sample';
import { CallChange } from '../../state/callchange.svelte';
import { Changes } from '../../state/changes.svelte';
import { en } from '../../texts/en';
import { failureWords } from '../../texts/words';
import CallChangeView from './CallChange.svelte';
import DiffPane from './DiffPane.svelte';
import TurnList from './TurnList.svelte';

async function made() {
  const backend = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  const changes = new Changes(backend, 'ses_done');
  await changes.load();
  const folder = backend.world.files.get('ses_done');
  if (!folder) throw new Error('the sample has a folder');
  return { changes, folder, backend };
}

function list(changes: Changes, hindered = '') {
  const on = { onselect: vi.fn(), onundoturn: vi.fn(), onundoall: vi.fn() };
  render(TurnList, { t: en, changes, hindered, ...on });
  return on;
}

test('a turn says what isn’t known about its changes', async () => {
  const { changes, folder } = await made();
  folder.doubts.set(TURNS.filter, 'mixed');
  await changes.load();
  list(changes);
  expect(screen.getAllByText(/Daybook was closed while something ran/)).toHaveLength(1);
});

test('a turn names what else it changed, which undo doesn’t cover', async () => {
  const { changes } = await made();
  const paths = ['node_modules', 'huge.bin'];
  changes.turns = changes.turns.map((turn, n) =>
    n === 0 ? { ...turn, files: [], not_covered: { paths, count: 9 } } : turn,
  );
  list(changes);
  expect(screen.getByText(/not covered by undo: node_modules, huge\.bin.*7 more/)).toBeVisible();
  // Where nothing of it is covered there is nothing to undo.
  expect(screen.getAllByRole('button', { name: /^Undo everything in/ })).toHaveLength(1);
});

test('changes are listed by turn, newest first, each with its own way back', async () => {
  const { changes } = await made();
  const on = list(changes);
  expect(screen.getByText('9 files in 2 turns')).toBeVisible();
  expect(screen.getAllByRole('heading', { level: 2 }).map((h) => h.textContent)).toEqual([
    'Made in this session',
    'Now add a gluten-free filter to the menu.',
    'Make the order form work on phones, and add a gluten-free filter to the menu. Please don’t change any prices.',
  ]);
  const lines = screen.getAllByTitle(/./).filter((line) => line.classList.contains('file'));
  expect(lines.map((line) => line.querySelector('.where')?.textContent)).toEqual([
    'You edited this since',
    'scripts',
    'styles, new file',
    'scripts, deleted',
    'scripts, new link',
    'checks, permissions only',
    'photos, new folder',
    'top of the folder',
    'top of the folder',
  ]);
  await userEvent.click(screen.getByRole('button', { name: /Undo everything in: Now add/ }));
  expect(on.onundoturn).toHaveBeenCalledExactlyOnceWith(TURNS.filter);
  await userEvent.click(screen.getByRole('button', { name: 'Undo the whole session…' }));
  expect(on.onundoall).toHaveBeenCalledTimes(1);
});

test('a turn that was taken back says so and offers no second time', async () => {
  const { changes, folder } = await made();
  folder.undo('u', { kind: 'turn', turn: TURNS.form }, [], []);
  await changes.load();
  list(changes);
  expect(screen.getByText(/^Turn 1, .*, undone$/)).toBeVisible();
  expect(screen.getAllByRole('button', { name: /Undo everything in/ })).toHaveLength(1);
});

test('a file of a turn that was taken back alone is marked and counted, and no longer called new', async () => {
  const { changes, folder } = await made();
  const [first] =
    changes.turns
      .find(({ turn }) => turn === TURNS.filter)
      ?.files.filter(({ change, kind }) => change === 'created' && kind === 'file') ?? [];
  if (!first) throw new Error('the sample has a new file');
  folder.undo('u', { kind: 'turn', turn: TURNS.filter }, [first.path], []);
  await changes.load();
  list(changes);
  expect(screen.getByText('8 files in 2 turns, 1 undone')).toBeVisible();
  const line = screen.getByTitle(first.path);
  expect(line).toHaveClass('undone');
  expect(line.querySelector('.where')).toHaveTextContent(/undone$/);
  expect(line).not.toHaveTextContent(/new file|\+/);
  folder.undo('v', { kind: 'session' }, [], ['menu.json']);
  await changes.load();
  expect(await screen.findByText('9 undone')).toBeVisible();
});

test('the list and the file that is looked at are read again when the window is come back to', async () => {
  const { changes, folder } = await made();
  list(changes);
  await changes.select(TURNS.form, 'styles.css');
  expect(changes.standing?.kind).toBe('ready');
  folder.put('styles.css', 'all mine\n');
  window.dispatchEvent(new Event('focus'));
  await waitFor(() => expect(changes.standing?.kind).toBe('mixed'));
  expect(changes.changedSince('styles.css')).toBe(true);
});

test('a file that a later turn changed again isn’t called the person’s', async () => {
  const { changes, folder } = await made();
  folder.begin('t3', 'Third', 3);
  folder.change('styles.css', 'other\n');
  await changes.load();
  list(changes);
  expect(screen.getByText('top of the folder, Changed again in turn 3')).toBeVisible();
});

test('while a turn works every way back is closed, with the reason', async () => {
  const { changes } = await made();
  list(changes, en.undo.hindrance.working);
  for (const button of screen.getAllByRole('button', { name: /^Undo/ })) expect(button).toBeDisabled();
  expect(screen.getByText('Possible once the work has ended or was stopped')).toBeVisible();
});

test('J and K move through the files of all turns', async () => {
  const { changes } = await made();
  list(changes);
  await changes.select(TURNS.filter, 'photos/small');
  const current = () => document.querySelector<HTMLElement>('.file[aria-current]');
  await waitFor(() => expect(current()).toHaveAttribute('title', 'photos/small'));
  current()?.focus();
  await userEvent.keyboard('j');
  await waitFor(() => expect(document.activeElement).toHaveAttribute('title', 'order.html'));
  await userEvent.keyboard('kk');
  await waitFor(() => expect(document.activeElement).toHaveAttribute('title', 'checks/run.sh'));
});

async function pane(
  changes: Changes,
  part: Partial<{ wide: boolean; view: 'sides' | 'unified'; hindered: string }> = {},
) {
  const on = { onview: vi.fn(), onundo: vi.fn(), onredo: vi.fn(), onundopart: vi.fn(), onsave: vi.fn() };
  render(DiffPane, { t: en, changes, wide: true, view: 'sides', hindered: '', ...on, ...part });
  return on;
}

test('differences stand side by side, each line with its counterpart', async () => {
  const { changes } = await made();
  await changes.select(TURNS.form, 'styles.css');
  const on = await pane(changes);
  const table = screen.getByRole('table', { name: 'Differences' });
  expect(
    within(table)
      .getAllByRole('columnheader')
      .map((h) => h.textContent),
  ).toEqual(['Before', 'Now']);
  const row = within(table).getByText('added', { exact: false }).closest('tr');
  expect(row?.textContent?.replace(/\s+/g, ' ')).toContain('grid-template-columns: 1fr 1fr;');
  await userEvent.click(screen.getByRole('button', { name: 'Unified' }));
  expect(on.onview).toHaveBeenCalledExactlyOnceWith('unified');
  await userEvent.click(screen.getByRole('button', { name: 'Undo this file' }));
  expect(on.onundo).toHaveBeenCalledTimes(1);
});

test('in a small window there is one column and no choice', async () => {
  const { changes } = await made();
  await changes.select(TURNS.form, 'styles.css');
  await pane(changes, { wide: false });
  expect(screen.queryByRole('group', { name: 'View' })).toBeNull();
  expect(screen.queryByRole('columnheader')).toBeNull();
});

test('r_undo_a_conflict_is_said_compared_and_can_be_left', async () => {
  const { changes } = await made();
  await changes.select(TURNS.filter, 'menu.json');
  await pane(changes);
  expect(screen.getByText('You changed this file after Daybook did')).toBeVisible();
  expect(screen.getByText(/Undo keeps that change/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Compare all three' }));
  for (const name of ['What Daybook changed', 'What was changed since', 'What Undo would change now'])
    expect(screen.getByRole('region', { name })).toBeVisible();
  const since = screen.getByRole('region', { name: 'What was changed since' });
  expect(since).toHaveTextContent('6.80');
  await userEvent.click(screen.getByRole('button', { name: 'Keep everything as it is' }));
  expect(screen.queryByText('You changed this file after Daybook did')).toBeNull();
  expect(screen.getByRole('columnheader', { name: 'After' })).toBeVisible();
});

test('where both changed the same lines the version before is offered by name', async () => {
  const { changes, folder } = await made();
  folder.put('styles.css', 'all mine\n');
  await changes.load();
  await changes.select(TURNS.form, 'styles.css');
  const on = await pane(changes);
  expect(screen.getByText(/Undo leaves this file as it is, unless you say otherwise/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Compare all three' }));
  await userEvent.click(screen.getByRole('button', { name: 'Bring back the version before…' }));
  expect(on.onundo).toHaveBeenCalledTimes(1);
});

test('a file that is as it was says so and has no way back', async () => {
  const { changes, folder } = await made();
  folder.undo('u', { kind: 'turn', turn: TURNS.form }, ['styles.css'], []);
  await changes.load();
  await changes.select(TURNS.form, 'styles.css');
  const on = await pane(changes);
  expect(screen.getByText('This file is already as it was before.')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Undo this file' })).toBeNull();
  // Its redo stands where its undo was.
  await userEvent.click(screen.getByRole('button', { name: 'Redo this file' }));
  expect(on.onredo).toHaveBeenCalledTimes(1);
});

test('why a file can’t be taken back now stands beside the button', async () => {
  const { changes } = await made();
  await changes.select(TURNS.form, 'styles.css');
  const hindered = 'Possible once the work has ended or was stopped';
  await pane(changes, { hindered });
  expect(screen.getByText(hindered)).toBeVisible();
  const button = screen.getByRole('button', { name: 'Undo this file' });
  expect(button).toBeDisabled();
  expect(button).toHaveAccessibleDescription(hindered);
});

test('r_undo_a_file_that_was_new_has_no_version_before_and_is_said_to_be_deleted', async () => {
  const { changes, folder } = await made();
  folder.begin('trn_new', 'Make it', 1e12);
  folder.change('three.txt', 'one\ntwo\n');
  folder.put('three.txt', 'all mine\n');
  await changes.load();
  await changes.select('trn_new', 'three.txt');
  const on = await pane(changes);
  await userEvent.click(screen.getByRole('button', { name: 'Compare all three' }));
  expect(screen.getByText(/no such file before Daybook made it/)).toBeVisible();
  expect(screen.queryByRole('button', { name: /version before/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Delete it…' }));
  expect(on.onundo).toHaveBeenCalledTimes(1);
});

test('where nothing changed nothing is offered to be taken back', async () => {
  const { changes } = await made();
  const [turn] = changes.turns;
  if (!turn) throw new Error('the sample has turns');
  changes.turns = [{ ...turn, files: [], doubt: 'mixed' }];
  list(changes);
  expect(screen.queryByRole('button', { name: /^Undo everything in/ })).toBeNull();
  expect(changes.latest).toBeNull();
});

test('a file of a turn whose contents were let go has no way back, and says since when', async () => {
  const { changes, folder } = await made();
  folder.put('styles.css', 'all mine\n');
  await changes.load();
  await changes.select(TURNS.form, 'styles.css');
  changes.turns = changes.turns.map((turn) => ({ ...turn, thinned: new Date(2026, 9, 14).getTime() }));
  const on = await pane(changes);
  expect(screen.getByText(en.storage.gone('14 Oct'))).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Undo this file' })).toBeNull();
  for (const part of screen.queryAllByRole('button', { name: /^Undo this change/ }))
    expect(part).toBeDisabled();
  await userEvent.click(screen.getByRole('button', { name: 'Compare all three' }));
  expect(screen.getByRole('button', { name: 'Bring back the version before…' })).toBeDisabled();
  expect(on.onundo).not.toHaveBeenCalled();
});

test('each part of a difference has its own way back, in one column and in two', async () => {
  const { changes, folder } = await made();
  const all = (...changed: number[]) =>
    Array.from({ length: 30 }, (_, n) => `${changed.includes(n) ? 'new' : 'line'} ${n}\n`).join('');
  folder.put('list.txt', all());
  folder.begin('trn_list', 'A list', 1e12);
  folder.change('list.txt', all(2, 25));
  folder.undo('u1', { kind: 'part', turn: 'trn_list', part: 'part trn_list list.txt 1' }, ['list.txt'], []);
  await changes.load();
  await changes.select('trn_list', 'list.txt');
  for (const view of ['sides', 'unified'] as const) {
    const on = await pane(changes, { view });
    expect(screen.getByText('undone')).toBeVisible();
    // That a part of it went back is no change by somebody else.
    expect(screen.queryByText('You changed this file after Daybook did')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Undo this change: Line 1' }));
    expect(on.onundopart).toHaveBeenCalledExactlyOnceWith('part trn_list list.txt 0');
    document.body.replaceChildren();
  }
  await pane(changes, { hindered: 'Possible once the work has ended or was stopped' });
  expect(screen.getByRole('button', { name: 'Undo this change: Line 1' })).toBeDisabled();
});

test('what was made is listed first, opens its difference, and is shown in its folder by its id', async () => {
  const { changes, folder, backend } = await made();
  folder.begin('trn_made', 'Sum it up', 1e12);
  folder.change('summary.md', 'All of it.\n');
  await changes.load();
  const on = list(changes);
  const section = within(screen.getByRole('region', { name: 'Made in this session' }));
  await userEvent.click(section.getByRole('button', { name: 'summary.md' }));
  expect(on.onselect).toHaveBeenCalledExactlyOnceWith('trn_made', 'summary.md');
  await userEvent.click(section.getByRole('button', { name: 'Show in folder: summary.md' }));
  const asked = backend.asked.at(-1);
  expect(asked).toEqual({ name: 'show_made', args: { session: 'ses_done', made: 'made_summary.md' } });
  folder.put('summary.md', null);
  await changes.load();
  await waitFor(() => expect(section.queryByRole('button', { name: 'summary.md' })).toBeNull());
});

test('a call unfolded shows its difference and its way back, and looks again after each undo', async () => {
  const { backend, folder } = await made();
  const onundo = vi.fn();
  const open = () =>
    new CallChange(backend, 'ses_done', call('cal_w2', 'edit_file', { path: './styles.css' }));
  const props = { t: en, open, undos: [], hindered: '', onundo };
  const { rerender } = render(CallChangeView, props);
  const undo = await screen.findByRole('button', { name: 'Undo: styles.css' });
  const rows = screen.getByRole('table', { name: en.changes.differences });
  expect(rows).toHaveTextContent('grid-template-columns: 1fr 1fr;');
  await userEvent.click(undo);
  expect(onundo).toHaveBeenCalledTimes(1);
  await rerender({ ...props, hindered: 'Work is going on.' });
  expect(undo).toBeDisabled();
  expect(screen.getByText('Work is going on.')).toBeVisible();
  folder.undo('rev_1', { kind: 'call', call: 'cal_w2' }, [], []);
  await rerender({ ...props, undos: [...props.undos] });
  expect(await screen.findByText('undone')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Undo: styles.css' })).toBeNull();
  expect(rows).toBeVisible();
});

test('a call whose change can’t be read says why', async () => {
  const { backend } = await made();
  const open = () =>
    new CallChange(backend, 'ses_done', call('cal_none', 'edit_file', { path: 'styles.css' }));
  render(CallChangeView, { t: en, open, undos: [], hindered: '', onundo: vi.fn() });
  expect(
    await screen.findByText(
      failureWords(new Failure({ code: 'changes/unknown', message: '', hint: null }), en),
    ),
  ).toBeVisible();
});
