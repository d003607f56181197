// Other folders to look at, as the stand-in keeps them: chosen from the folders it knows, and taken back.
import { Failure } from '../backend';
import type { AddedFolder } from '../generated/AddedFolder';
import type { Command } from '../generated/Command';
import type { Folder } from '../generated/Folder';
import type { Reply } from '../generated/Reply';
import type { Stage } from './fake';

type About = Extract<Command, { name: 'choose_read_folder' | 'remove_folder' }>;

export function answerAdded(stage: Stage, command: About, folders: readonly Folder[]): Reply {
  const { added, folder: own } = stage.view;
  if (command.name === 'choose_read_folder') {
    const chosen = folders.find(({ id }) => id !== own.id && !added.some((one) => one.id === addedId(id)));
    if (chosen) stage.push({ kind: 'added', added: [...added, addedOf(chosen)] });
    return { kind: 'done' };
  }
  const rest = added.filter(({ id }) => id !== command.args.folder);
  if (rest.length === added.length) {
    throw new Failure({ code: 'folder/removed', message: 'taken back already', hint: null });
  }
  stage.push({ kind: 'added', added: rest });
  return { kind: 'done' };
}

/** A folder as one that was added. */
export function addedOf({ id, name, place, exists }: Folder): AddedFolder {
  return { id: addedId(id), name, place, state: exists ? 'here' : 'gone' };
}

function addedId(folder: string): string {
  return `${folder}_added`;
}
