// What is said about taking changes back: the entry in each state, the plan and its choices, the news, the end of a turn.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Failure } from '../../protocol/backend';
import type { UndoView } from '../../protocol/generated/UndoView';
import type { Plan } from '../../state/undoing.svelte';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import UndoEntry from './UndoEntry.svelte';
import UndoNews from './UndoNews.svelte';
import UndoSheet from './UndoSheet.svelte';

const done: UndoView = {
  id: 'rev_1',
  of: { kind: 'turn', turn: 't' },
  state: 'done',
  files: [
    { path: 'a.txt', what: 'restored', parted: null },
    { path: 'new.txt', what: 'removed', parted: null },
  ],
  count: 2,
  kept: [{ path: 'b.txt', why: 'changed', anyway: null, now: null }],
  kept_more: 0,
  error: null,
  held: false,
  undone: false,
  thinned: null,
};
const none = { files: [], count: 0, kept: [] };

test('r_undo_an_entry_says_what_went_back_and_what_was_left_alone_and_why', async () => {
  const onredo = vi.fn();
  render(UndoEntry, { t: en, undo: done, turn: 2, hindered: '', onredo, oncalloff: vi.fn() });
  expect(screen.getByText('Undid turn 2')).toBeVisible();
  expect(screen.getByText('1 file was left alone')).toBeVisible();
  expect(screen.getByText('changed since')).toBeVisible();
  await userEvent.click(screen.getByText('2 files'));
  expect(screen.getByText('new.txt').parentElement).toHaveTextContent('removed');
  await userEvent.click(screen.getByRole('button', { name: 'Redo' }));
  expect(onredo).toHaveBeenCalledTimes(1);
});

test('a file that an undo brought back apart from its other names is told with them', () => {
  const table: [string[], number, string, string][] = [
    [
      ['b.txt'],
      0,
      'a.txt is a file of its own now. Before, it was one file with b.txt.',
      'a.txt 现在是单独的文件，之前它和 b.txt 是同一个文件。',
    ],
    [
      ['b.txt', 'c.txt'],
      3,
      'a.txt is a file of its own now. Before, it was one file with b.txt, c.txt and 3 more.',
      'a.txt 现在是单独的文件，之前它和 b.txt、c.txt 等 5 个是同一个文件。',
    ],
    [
      [],
      1,
      'a.txt is a file of its own now. Before, the same file had another name elsewhere.',
      'a.txt 现在是单独的文件，之前同一个文件在别处还有 1 个名字。',
    ],
  ];
  for (const [names, more, ...words] of table)
    for (const [at, t] of [en, zh].entries()) {
      const files = [{ path: 'a.txt', what: 'restored', parted: { names, more } }];
      const undo = { ...done, files, count: 1, kept: [] };
      const { unmount } = render(UndoEntry, {
        ...{ t, undo, turn: 2, hindered: '', onredo: vi.fn(), oncalloff: vi.fn() },
      });
      expect(screen.getByText(words[at] ?? '')).toBeVisible();
      unmount();
    }
});

test('an entry is told in each of its states', () => {
  const table: [Partial<UndoView>, string, string | null][] = [
    [{ state: 'working', ...none }, 'Taking changes back…', null],
    [
      { state: 'working', held: true, ...none },
      'The undo waits until other work in this folder is done…',
      'Don’t undo',
    ],
    [{ state: 'working', of: { kind: 'undo', undo: 'x' }, ...none }, 'Redoing changes…', null],
    [
      { state: 'called_off', error: 'restore/called_off', ...none },
      'Not undone: you called it off while it waited. No file was changed.',
      null,
    ],
    [{ state: 'failed', error: 'folder/missing', ...none }, 'The folder isn’t there any more.', null],
    [{ undone: true }, 'redone', null],
    [{ undone: true, of: { kind: 'undo', undo: 'x' } }, 'undone', null],
    [{ of: { kind: 'undo', undo: 'x' } }, 'Redid what was undone', 'Undo'],
    [{ of: { kind: 'session' } }, 'Undid the whole session', 'Redo'],
    [none, 'no file changed', null],
    [{ thinned: new Date(2026, 9, 14).getTime() }, 'Undo no longer possible: thinned on 14 Oct', null],
  ];
  for (const [part, words, button] of table) {
    const { unmount } = render(UndoEntry, {
      t: en,
      undo: { ...done, ...part },
      turn: null,
      hindered: '',
      onredo: vi.fn(),
      oncalloff: vi.fn(),
    });
    expect(screen.getByText(words)).toBeVisible();
    expect(screen.queryByRole('button')?.textContent?.trim() ?? null).toBe(button);
    unmount();
  }
});

test('r_undo_one_that_waits_for_the_folder_can_be_called_off', async () => {
  const oncalloff = vi.fn();
  const undo: UndoView = { ...done, state: 'working', held: true, of: { kind: 'undo', undo: 'x' }, ...none };
  render(UndoEntry, { t: zh, undo, turn: null, hindered: '', onredo: vi.fn(), oncalloff });
  await userEvent.click(screen.getByRole('button', { name: '不恢复了' }));
  expect(oncalloff).toHaveBeenCalledTimes(1);
});

test('while a turn works an entry says why it can’t be redone now', () => {
  render(UndoEntry, {
    t: zh,
    undo: done,
    turn: 2,
    hindered: zh.undo.hindrance.working,
    onredo: vi.fn(),
    oncalloff: vi.fn(),
  });
  expect(screen.getByText('撤销了第 2 轮')).toBeVisible();
  const button = screen.getByRole('button', { name: '恢复' });
  expect(button).toBeDisabled();
  expect(button).toHaveAttribute('title', '等工作结束或停止后才能撤销');
});

test('r_undo_a_plan_counts_says_what_is_unsure_and_brings_back_only_what_is_named', async () => {
  const onconfirm = vi.fn();
  const plan = {
    of: { kind: 'session' as const },
    paths: [],
    count: 3,
    files: [{ path: 'a.txt', what: 'restored', parted: null }],
    apart: ['c.txt'],
    kept: [
      { path: 'b.txt', why: 'changed', anyway: 'restored', now: null },
      { path: 'full', why: 'not_empty', anyway: 'removed', now: null },
    ],
    doubt: 'mixed',
    notCovered: { paths: ['node_modules'], count: 1 },
  };
  render(UndoSheet, { t: en, plan, busy: false, onconfirm, onclose: vi.fn() });
  expect(screen.getByRole('dialog', { name: 'Undo the whole session?' })).toBeVisible();
  expect(screen.getByText('3 files go back to how they were.')).toBeVisible();
  expect(screen.getByText('2 files stay as they are')).toBeVisible();
  expect(screen.getByText(/Some of these changes may be yours/)).toBeVisible();
  expect(screen.getByText('Also changed, and not covered by undo: node_modules')).toBeVisible();
  // Only what was changed can be named; what is in the way can't.
  expect(screen.getAllByRole('checkbox')).toHaveLength(1);
  await userEvent.click(screen.getByRole('button', { name: 'Undo 3 files' }));
  expect(onconfirm).toHaveBeenLastCalledWith([]);
  await userEvent.click(screen.getByRole('checkbox', { name: 'Bring back anyway: b.txt' }));
  expect(screen.getByText('The later change in it goes too.')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Undo 4 files' }));
  expect(onconfirm).toHaveBeenLastCalledWith(['b.txt']);
});

/** A file that would stay. */
const STAYS: Plan = {
  of: { kind: 'turn', turn: 't' },
  paths: ['b.txt'],
  count: 0,
  files: [],
  apart: [],
  kept: [{ path: 'b.txt', why: 'changed', anyway: 'restored', now: null }],
  doubt: null,
  notCovered: null,
};

test('a plan that changes nothing can’t be gone ahead with', () => {
  render(UndoSheet, { t: en, plan: STAYS, busy: false, onconfirm: vi.fn(), onclose: vi.fn() });
  expect(screen.getByRole('dialog', { name: 'Undo this file?' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Nothing to undo' })).toBeDisabled();
  expect(screen.getByText('Nothing goes back unless you choose it below.')).toBeVisible();
});

test('what is said stays true once a file that would stay is named', async () => {
  render(UndoSheet, { t: en, plan: STAYS, busy: false, onconfirm: vi.fn(), onclose: vi.fn() });
  expect(screen.getByText('1 file stays as it is')).toBeVisible();
  await userEvent.click(screen.getByRole('checkbox'));
  expect(screen.queryByText('1 file stays as it is')).toBeNull();
  expect(screen.getByText('1 file is undone although it was changed since')).toBeVisible();
  expect(screen.getByText('1 file goes back to how it was.')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Undo 1 file' })).toBeEnabled();
});

test('r_undo_what_was_new_and_changed_since_is_called_deleted_with_the_change_in_it', async () => {
  const kept = [{ path: 'three.txt', why: 'changed', anyway: 'removed', now: null }];
  const cases = [
    [en, STAYS.of, 'Delete it anyway', 'Redo brings both back.', 'Undo 1 file'],
    [en, { kind: 'undo' as const, undo: 'u' }, 'Delete it anyway', 'Undo brings both back.', 'Redo 1 file'],
    [zh, STAYS.of, '仍然删除', '恢复时两者都会找回。', '撤销 1 个文件'],
  ] as const;
  for (const [t, of, label, note, button] of cases) {
    const plan = { ...STAYS, of, paths: ['three.txt'], kept };
    const { container, unmount } = render(UndoSheet, {
      t,
      plan,
      busy: false,
      onconfirm: vi.fn(),
      onclose: vi.fn(),
    });
    await userEvent.click(screen.getByRole('checkbox', { name: new RegExp(`^${label}`) }));
    expect(container).toHaveTextContent(note);
    expect(screen.getByRole('button', { name: button })).toBeEnabled();
    // Nothing goes back to how it was, and nothing is brought back.
    expect(container).not.toHaveTextContent(/goes back to|Bring back|之前的样子|仍然恢复/);
    unmount();
  }
});

test('a return of one file is called by its name', () => {
  const one = { ...done, count: 1, kept: [], files: [{ path: 'menu.md', what: 'restored', parted: null }] };
  const told = (undo: UndoView, t = en) => {
    const { container, unmount } = render(UndoEntry, {
      t,
      undo,
      turn: 1,
      hindered: '',
      onredo: vi.fn(),
      oncalloff: vi.fn(),
    });
    const title = container.querySelector('b')?.textContent;
    unmount();
    return title;
  };
  expect(told(one)).toBe('Undid changes to menu.md');
  expect(told({ ...one, of: { kind: 'undo', undo: 'x' } })).toBe('Redid changes to menu.md');
  expect(told(one, zh)).toBe('撤销了 menu.md 的改动');
  // Where another was left alone it was about more than one.
  expect(told({ ...one, kept: done.kept })).toBe('Undid turn 1');
});

test('what was new is announced as removed, what was deleted as coming back', () => {
  const files = [
    { path: 'lines.txt', what: 'removed', parted: null },
    { path: 'menu.md', what: 'restored', parted: null },
    { path: 'old.txt', what: 'brought_back', parted: null },
  ];
  const plan = { paths: [], count: 3, files, apart: [], kept: [], doubt: null, notCovered: null };
  const rest = { busy: false, onconfirm: vi.fn(), onclose: vi.fn() };
  const session = { ...plan, of: { kind: 'session' as const } };
  const table = [
    [en, session, '1 file goes back to how it was. 1 new file will be removed. 1 deleted file comes back.'],
    [zh, session, '1 个文件会回到之前的样子。1 个新文件会被移除。1 个已删除的文件会找回。'],
    [
      en,
      { ...plan, count: 1, files: files.slice(0, 1), of: { kind: 'undo' as const, undo: 'u' } },
      '1 file will be removed.',
    ],
  ] as const;
  for (const [t, shown, words] of table) {
    const { unmount } = render(UndoSheet, { t, plan: shown, ...rest });
    expect(screen.getByText(words)).toBeVisible();
    unmount();
  }
});

test('news name the file or count the files, offer the way back, and hold while somebody is at them', async () => {
  const [onredo, onhold, onclose] = [vi.fn(), vi.fn(), vi.fn()];
  const show = (undo: UndoView, t = en) =>
    render(UndoNews, { t, news: { kind: 'done', undo }, onredo, onuse: vi.fn(), onhold, onclose });
  const first = show(done);
  expect(screen.getByRole('status')).toHaveTextContent('Undid changes to 2 files. 1 file was left alone.');
  await userEvent.hover(screen.getByRole('status'));
  expect(onhold).toHaveBeenLastCalledWith(true);
  await userEvent.click(screen.getByRole('button', { name: 'Redo' }));
  expect(onredo).toHaveBeenCalledExactlyOnceWith('rev_1');
  first.unmount();
  const one = {
    ...done,
    count: 1,
    kept: [],
    files: [{ path: 'styles.css', what: 'restored', parted: null }],
  };
  show(one, zh).unmount();
  show({ ...one, of: { kind: 'undo', undo: 'x' } });
  expect(screen.getByRole('status')).toHaveTextContent('Redid changes to styles.css');
  expect(screen.getByRole('button', { name: 'Undo' })).toBeVisible();
});

test('a return that was refused is an alert in words', () => {
  const failure = new Failure({ code: 'restore/busy', message: 'busy', hint: null });
  render(UndoNews, {
    t: zh,
    news: { kind: 'failed', failure },
    onredo: vi.fn(),
    onuse: vi.fn(),
    onhold: vi.fn(),
    onclose: vi.fn(),
  });
  expect(screen.getByRole('alert')).toHaveTextContent('这里正在工作。请先停止，再撤销。');
});

test('where another folder stands in the place, the person may go on in it', async () => {
  const failure = new Failure({ code: 'folder/other', message: 'other', hint: null });
  const onuse = vi.fn();
  const on = { onredo: vi.fn(), onhold: vi.fn(), onclose: vi.fn() };
  render(UndoNews, { t: en, news: { kind: 'failed', failure }, onuse, ...on });
  expect(screen.getByRole('alert')).toHaveTextContent('Another folder is there now');
  await userEvent.click(screen.getByRole('button', { name: 'Go on in this folder' }));
  expect(onuse).toHaveBeenCalledOnce();
});
