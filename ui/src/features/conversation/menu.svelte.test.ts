// The menu beside an entry: what it is about, what it offers, and that nothing is offered twice.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { isErased } from '../../state/erasing.svelte';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import { callWords } from '../../texts/words';
import EntryMenu from './EntryMenu.svelte';

const SAYS = 'Use kanarie-7f3e for it.';

test('each menu is named by what it is about', () => {
  const ran = callWords('run_command', { command: 'npm  test\n--all' }, 'done', en);
  const read = callWords('read_file', { path: 'menu.md' }, 'done', zh);
  for (const [t, about, name] of [
    [en, SAYS, `More: ${SAYS}`],
    [en, 'x'.repeat(90), /^More: x{36} … x{24}$/],
    [en, ran, 'More: Ran npm test --all'],
    [zh, read, '更多：读取了 menu.md'],
  ] as const) {
    const { unmount } = render(EntryMenu, { t, about, onerase: () => {} });
    expect(screen.getByRole('button')).toHaveAccessibleName(name);
    unmount();
  }
});

test('words are copied or erased from it, and what is erased already isn’t offered again', async () => {
  const onerase = vi.fn();
  const person = userEvent.setup();
  const { rerender } = render(EntryMenu, { t: en, about: SAYS, text: SAYS, onerase });
  await person.click(screen.getByRole('button'));
  await person.click(screen.getByRole('menuitem', { name: 'Copy' }));
  expect(await navigator.clipboard.readText()).toBe(SAYS);
  expect(await screen.findByText('Copied')).toBeVisible();
  // Where the page gets no clipboard, what is to be copied is marked.
  const write = vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValueOnce(new Error('denied'));
  await person.keyboard('{Enter}{Enter}');
  expect(await screen.findByText(en.app.marked)).toBeVisible();
  expect(getSelection()?.rangeCount).toBe(1);
  write.mockRestore();
  await person.keyboard('{Enter}{ArrowDown}{Enter}');
  expect(onerase).toHaveBeenCalledTimes(1);
  await rerender({ t: en, about: SAYS, text: '', onerase: null });
  expect(screen.queryByRole('button')).toBeNull();
});

test('an entry is erased once nothing but marks is left', () => {
  const mark = '[erased by the person]';
  expect([mark, `${mark} ${mark}\n`, `Use ${mark}`, '', SAYS].map(isErased)).toEqual([
    ...[true, true],
    ...[false, false, false],
  ]);
});
