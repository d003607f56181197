// What is kept for undo in the stand-in: letting go brings it under the limit.
import type { Command } from '../generated/Command';
import type { Reply } from '../generated/Reply';
import type { StorageView } from '../generated/StorageView';

type Asked = Extract<Command, { name: 'storage' | 'set_undo_limit' | 'thin_now' }>;

/** What a world keeps that nobody says anything about. */
export function someStorage(since: number): StorageView {
  return { bytes: 3.4 * 1024 ** 3, limit_gigabytes: 10, since, thinned: 0 };
}

export function answerStorage(storage: StorageView, command: Asked): Reply {
  if (command.name === 'set_undo_limit') storage.limit_gigabytes = command.args.gigabytes;
  if (command.name !== 'thin_now') return { kind: 'storage', value: storage };
  const bytes = Math.max(0, storage.bytes - storage.limit_gigabytes * 1024 ** 3);
  const turns = bytes > 0 ? 4 : 0;
  storage.bytes -= bytes;
  storage.thinned += turns;
  return { kind: 'thinned', value: { turns, bytes, left: 0, kept: storage } };
}
