import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { Backend } from '../../protocol/backend';
import type { HeldPermission } from '../../protocol/generated/HeldPermission';
import type { Reply } from '../../protocol/generated/Reply';
import { Erasing } from '../../state/erasing.svelte';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import EraseSheet from './EraseSheet.svelte';

const SAYS = 'Use kanarie-7f3e for it.';
const folder = { id: 'fol_1', name: 'bakery', place: '/home/ada/bakery', exists: true, wide: null };
const permissions: HeldPermission[] = [
  { id: 'gra_1', what: { kind: 'command', words: ['curl', 'kanarie-7f3e'], exact: true, files: [] }, folder },
];
const asked: string[] = [];
const backend: Backend = {
  call(command) {
    asked.push(
      command.name === 'erase'
        ? `erase ${command.args.text ?? 'all'} ${command.args.why} ${command.args.everywhere} ${command.args.revoke.join()}`
        : command.name,
    );
    const places = [
      { kind: 'message', count: 1 },
      { kind: 'answer', count: 2 },
    ];
    return Promise.resolve<Reply>(
      command.name === 'erase'
        ? {
            kind: 'erased',
            value: { seq: 9, events: 3, sessions: 1, contents: 2, copies: 1, unfinished: true },
          }
        : { kind: 'erase_preview', value: { seq: 3, says: SAYS, places, elsewhere: 1, permissions } },
    );
  },
  subscribe: () => () => {},
};

it('says what goes and what can’t, erases the marked words, and says what went', async () => {
  const erasing = new Erasing(
    backend,
    'ses_1',
    () => {},
    () => {},
  );
  await erasing.want('msg_1');
  render(EraseSheet, { t: en, erasing });
  const text = screen.getByRole<HTMLTextAreaElement>('textbox', { name: en.erase.says });
  expect(text).toHaveValue(SAYS);
  // Nothing is chosen for anybody, and nothing goes before it is.
  const confirm = () => screen.getByRole('button', { name: en.erase.confirm });
  expect(screen.getByRole('checkbox', { name: en.erase.all })).not.toBeChecked();
  expect(confirm()).toBeDisabled();
  expect(screen.queryByRole('radio')).toBeNull();
  await userEvent.click(screen.getByRole('checkbox', { name: en.erase.all }));
  expect(screen.getByText(/1 message of yours and 2 answers/)).toBeVisible();
  for (const line of [en.erase.also, en.erase.mark, en.erase.stays])
    expect(screen.getByText(line)).toBeVisible();
  for (const radio of screen.getAllByRole('radio')) expect(radio).not.toBeChecked();
  expect(confirm()).toBeDisabled();
  text.setSelectionRange(4, 16);
  text.dispatchEvent(new Event('select'));
  expect(await screen.findByText('kanarie-7f3e')).toBeVisible();
  expect(screen.getByRole('checkbox', { name: en.erase.all })).not.toBeChecked();
  await userEvent.click(await screen.findByRole('radio', { name: en.erase.whys.private }));
  await userEvent.click(screen.getByRole('checkbox', { name: en.erase.elsewhere(1) }));
  await userEvent.click(
    screen.getByRole('checkbox', { name: /^Revoke what you allowed for good in bakery/ }),
  );
  await userEvent.click(await screen.findByRole('button', { name: en.erase.confirm }));
  expect(asked.at(-1)).toBe('erase kanarie-7f3e private true gra_1');
  expect(await screen.findByText(/1 other session is among them/)).toBeVisible();
  expect(await screen.findByText(en.erase.unfinished)).toBeVisible();
  expect(screen.queryByText(/kanarie/)).toBeNull();
});

it('is told in Chinese as well', async () => {
  const erasing = new Erasing(
    backend,
    'ses_1',
    () => {},
    () => {},
  );
  await erasing.want('msg_1');
  await erasing.everything(true);
  render(EraseSheet, { t: zh, erasing });
  expect(screen.getByText(/它们出现在 1 条你的消息 和 2 个回答中/)).toBeVisible();
});
