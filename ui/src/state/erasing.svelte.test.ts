import { describe, expect, it } from 'vitest';
import type { Backend } from '../protocol/backend';
import { Failure } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { HeldPermission } from '../protocol/generated/HeldPermission';
import type { Reply } from '../protocol/generated/Reply';
import { Erasing } from './erasing.svelte';

const SAYS = 'Use kanarie-7f3e for it.';
const folder = { id: 'fol_1', name: 'bakery', place: '/home/ada/bakery', exists: true, wide: null };
const permissions: HeldPermission[] = [
  { id: 'gra_1', what: { kind: 'command', words: ['curl', 'kanarie-7f3e'], exact: true, files: [] }, folder },
];

function set(answer?: (command: Command) => Reply | undefined) {
  const asked: Command[] = [];
  const forgotten: string[] = [];
  const told: Failure[] = [];
  const backend: Backend = {
    call(command) {
      asked.push(command);
      const own = answer?.(command);
      if (own) return Promise.resolve(own);
      const places = [{ kind: 'message', count: 1 }];
      const elsewhere = 2;
      return Promise.resolve<Reply>(
        command.name === 'erase'
          ? {
              kind: 'erased',
              value: { seq: 9, events: 3, sessions: 0, contents: 2, copies: 0, unfinished: false },
            }
          : { kind: 'erase_preview', value: { seq: 3, says: SAYS, places, elsewhere, permissions } },
      );
    },
    subscribe: () => () => {},
  };
  const erasing = new Erasing(
    backend,
    'ses_1',
    (words) => forgotten.push(words),
    (failure) => told.push(failure),
  );
  return { erasing, asked, forgotten, told };
}

describe('erasing', () => {
  it('asks about all that stands there, and erases exactly the marked words', async () => {
    const { erasing, asked, forgotten } = set();
    await erasing.want('msg_1');
    expect(erasing.says).toBe(SAYS);
    await erasing.mark(' kanarie-7f3e ');
    erasing.why = 'private';
    await erasing.confirm();
    expect(asked).toEqual([
      { name: 'preview_erase', args: { session: 'ses_1', place: 'msg_1', text: null } },
      { name: 'preview_erase', args: { session: 'ses_1', place: 'msg_1', text: 'kanarie-7f3e' } },
      {
        name: 'erase',
        args: {
          ...{ session: 'ses_1', place: 'msg_1', text: 'kanarie-7f3e', why: 'private' },
          ...{ everywhere: false, revoke: [] },
        },
      },
    ]);
    expect(erasing.done?.events).toBe(3);
    expect(forgotten).toEqual(['kanarie-7f3e']);
    expect([erasing.says, erasing.marked]).toEqual([null, '']);
  });

  it('erases from other sessions and revokes what holds the words only where the person said so', async () => {
    const { erasing, asked } = set();
    await erasing.want('msg_1');
    expect([erasing.elsewhere, erasing.permissions]).toEqual([2, permissions]);
    await erasing.everything(true);
    erasing.why = 'secret';
    erasing.everywhere = true;
    // One that doesn't hold the marked words any more isn't revoked with them.
    erasing.revoke = ['gra_1', 'gra_other'];
    await erasing.confirm();
    const said = { session: 'ses_1', place: 'msg_1', text: null, why: 'secret' };
    expect(asked.at(-1)).toEqual({ name: 'erase', args: { ...said, everywhere: true, revoke: ['gra_1'] } });
    erasing.close();
    expect([erasing.everywhere, erasing.revoke]).toEqual([false, []]);
  });

  it('turns between what came of a call and what it was asked to do', async () => {
    const { erasing, asked } = set();
    await erasing.want('cal_1', 'said');
    await erasing.mark('kanarie-7f3e');
    await erasing.turn('asked');
    expect([erasing.part, erasing.marked]).toEqual(['asked', '']);
    const places = asked.map((command) => (command.name === 'preview_erase' ? command.args.place : ''));
    expect(places).toEqual(['cal_1', 'cal_1', 'asked:cal_1']);
  });

  it('keeps nothing of the words after it was closed', async () => {
    const { erasing, forgotten } = set();
    await erasing.want('msg_1');
    await erasing.mark('kanarie-7f3e');
    erasing.close();
    expect([erasing.place, erasing.says, erasing.marked, erasing.places]).toEqual([null, null, '', null]);
    expect(forgotten).toEqual([]);
  });

  it('can’t be confirmed before it is known what goes, and says why it was refused', async () => {
    const refused = new Failure({ code: 'erase/busy', message: 'busy', hint: null });
    const { erasing, asked, told } = set((command) => {
      if (command.name === 'erase') throw refused;
      return undefined;
    });
    await erasing.confirm();
    expect(asked).toEqual([]);
    await erasing.want('msg_1');
    // Neither what goes nor why was said.
    await erasing.confirm();
    await erasing.everything(true);
    await erasing.confirm();
    expect(asked.map(({ name }) => name)).toEqual(['preview_erase']);
    erasing.why = 'other';
    await erasing.confirm();
    expect(erasing.problem).toBe(refused);
    expect([erasing.done, erasing.busy]).toEqual([null, false]);
    expect(told).toEqual([]);
  });

  it('says that it failed to whoever closed the sheet meanwhile', async () => {
    const refused = new Failure({ code: 'erase/busy', message: 'busy', hint: null });
    const { erasing, told } = set((command) => {
      if (command.name === 'erase') throw refused;
      return undefined;
    });
    await erasing.want('msg_1');
    await erasing.everything(true);
    erasing.why = 'secret';
    const confirmed = erasing.confirm();
    erasing.close();
    await erasing.want('msg_2');
    await confirmed;
    expect(told).toEqual([refused]);
    expect([erasing.problem, erasing.place, erasing.busy]).toEqual([null, 'msg_2', false]);
  });
});
