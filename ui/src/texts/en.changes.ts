// Words about changes of files and taking them back, in English. `zh.changes.ts` has the same shape.
export const changes = {
  tab: 'Changes',
  list: 'Changed files',
  count: (files: string, turns: number) =>
    turns === 1 ? `${files} in 1 turn` : `${files} in ${turns} turns`,
  undoneCount: (n: number) => `${n} undone`,
  files: (n: number) => (n === 1 ? '1 file' : `${n} files`),
  turn: (n: number, time: string) => `Turn ${n}, ${time}`,
  turnOnly: (n: number) => `Turn ${n}`,
  undone: 'undone',
  empty: 'No changes yet',
  emptyText: 'Files Daybook changes will be listed here, each with its own Undo.',
  top: 'top of the folder',
  kinds: {
    created: { file: 'new file', link: 'new link', folder: 'new folder' },
    deleted: { file: 'deleted', link: 'link deleted', folder: 'folder deleted' },
    mode: { file: 'permissions only', link: 'permissions only', folder: 'permissions only' },
  },
  linkMoved: 'link points elsewhere',
  youEdited: 'You edited this since',
  later: (n: number) => `Changed again in turn ${n}`,
  changedSince: 'You changed this file after Daybook did',
  apart:
    'It isn’t as Daybook left it: you or another program changed it. Undo keeps that change and takes back only Daybook’s part.',
  mixed:
    'It isn’t as Daybook left it: you or another program changed the same lines. Undo leaves this file as it is, unless you say otherwise.',
  laterApart: 'Undo keeps the later change and takes back only what this turn did.',
  laterMixed: 'Both turns changed the same lines. Undo leaves this file as it is, unless you say otherwise.',
  compare: 'Compare all three',
  keep: 'Keep everything as it is',
  already: 'This file is already as it was before.',
  blocked: (why: string) => `Undo would leave this file alone: ${why}.`,
  view: 'View',
  sides: 'Side by side',
  unified: 'Unified',
  before: 'Before',
  after: 'After',
  now: 'Now',
  three: {
    back: 'Back to the differences',
    ours: 'What Daybook changed',
    theirs: 'What was changed since',
    merged: 'What Undo would change now',
    mixed: 'Both touch the same lines, so neither can be taken back alone.',
    anyway: 'Bring back the version before…',
    new: 'There was no such file before Daybook made it. Taking it back deletes it, with what was changed since.',
    delete: 'Delete it…',
  },
  differences: 'Differences',
  line: (n: number) => `Line ${n}`,
  binary: 'This isn’t a text file, so its differences can’t be shown line by line.',
  too_large: 'This file is too large to show its differences here.',
  same: 'Its content didn’t change.',
  choose: 'Choose a file to see what changed in it.',
  refresh: 'Read again',
  doubts: {
    untold: 'The folder couldn’t be looked at after a command, so there may be more changes than listed.',
    mixed:
      'Daybook was closed while something ran, or two things ran side by side. Some of these changes may be yours, another program’s or of other work: look at them before you undo.',
  },
  /** What else a turn changed, which stays as it is. */
  notCovered: (paths: string) => `Also changed, and not covered by undo: ${paths}`,
  tooMany: (n: number) => `Show ${n} more lines`,
  addedLine: 'added',
  removedLine: 'removed',
  part: 'Undo this change',
  made: 'Made in this session',
  madeFiles: (n: number) => (n === 1 ? '1 new file' : `${n} new files`),
  showIn: (path: string) => `Show in folder: ${path}`,
};

export const undo = {
  undo: 'Undo',
  redo: 'Redo',
  useFolder: 'Go on in this folder',
  file: 'Undo this file',
  fileRedo: 'Redo this file',
  turn: (title: string) => `Undo everything in: ${title}`,
  session: 'Undo the whole session…',
  hindrance: {
    working: 'Possible once the work has ended or was stopped',
    undoing: 'Changes are being taken back right now',
    read_only: 'This session can only be read',
    job: 'Possible once what goes on in the background has ended or was stopped',
  },
  plan: {
    session: 'Undo the whole session?',
    turn: 'Undo this turn?',
    file: 'Undo this file?',
    redo: 'Redo these changes?',
    goes: (n: number) =>
      n === 1 ? '1 file goes back to how it was.' : `${n} files go back to how they were.`,
    removes: (n: number) => (n === 1 ? '1 new file will be removed.' : `${n} new files will be removed.`),
    removesAgain: (n: number) => (n === 1 ? '1 file will be removed.' : `${n} files will be removed.`),
    brings: (n: number) => (n === 1 ? '1 deleted file comes back.' : `${n} deleted files come back.`),
    bringsAgain: (n: number) => (n === 1 ? '1 file comes back.' : `${n} files come back.`),
    nothing: 'Nothing to undo',
    nothingRedo: 'Nothing to redo',
    none: 'Nothing goes back unless you choose it below.',
    apart: (n: number) =>
      n === 1
        ? 'In 1 of them a later change stays; only Daybook’s part goes.'
        : `In ${n} of them a later change stays; only Daybook’s part goes.`,
    show: 'Show the files',
    kept: (n: number) => (n === 1 ? '1 file stays as it is' : `${n} files stay as they are`),
    named: (n: number) =>
      n === 1
        ? '1 file is undone although it was changed since'
        : `${n} files are undone although they were changed since`,
    namedRedo: (n: number) =>
      n === 1
        ? '1 file is redone although it was changed since'
        : `${n} files are redone although they were changed since`,
    delete: 'Delete it anyway',
    deleteOf: (path: string) => `Delete it anyway: ${path}`,
    deleteNote: (n: number) =>
      n === 1
        ? 'It didn’t exist before: it is deleted, with the later change in it. Redo brings both back.'
        : `${n} of them didn’t exist before: they are deleted, with the later changes in them. Redo brings all of it back.`,
    deleteNoteRedo: (n: number) =>
      n === 1
        ? 'It is deleted, with the later change in it. Undo brings both back.'
        : `${n} of them are deleted, with the later changes in them. Undo brings all of it back.`,
    anyway: 'Bring back anyway',
    anywayOf: (path: string) => `Bring back anyway: ${path}`,
    anywayNote: 'The later change in it goes too.',
    after: 'You can redo this afterwards.',
    again: 'You can undo this afterwards.',
    confirm: (n: number) => (n === 1 ? 'Undo 1 file' : `Undo ${n} files`),
    confirmRedo: (n: number) => (n === 1 ? 'Redo 1 file' : `Redo ${n} files`),
  },
  what: { restored: 'as before', removed: 'removed', brought_back: 'brought back', other: 'changed' },
  why: {
    changed: 'changed since',
    not_empty: 'the folder holds something else now',
    blocked: 'something else stands there now',
    unreadable: 'it can’t be read',
    holds_key: 'it holds one of your keys, which are never copied',
    special: 'it isn’t an ordinary file',
    not_kept: 'no copy was kept of what stood there',
    name_erased: 'words of its name were erased',
    own: 'it belongs to Daybook itself',
    failed: 'it couldn’t be written',
    other: (code: string) => `left alone (${code})`,
  },
  entry: {
    working: 'Taking changes back…',
    workingRedo: 'Redoing changes…',
    held: 'The undo waits until other work in this folder is done…',
    heldRedo: 'The redo waits until other work in this folder is done…',
    callOff: 'Don’t undo',
    callOffRedo: 'Don’t redo',
    calledOff: 'Not undone: you called it off while it waited. No file was changed.',
    calledOffRedo: 'Not redone: you called it off while it waited. No file was changed.',
    session: 'Undid the whole session',
    turn: 'Undid one turn',
    turnNumber: (n: number) => `Undid turn ${n}`,
    since: 'Undid a turn and all after it',
    sinceNumber: (n: number) => `Undid turn ${n} and all after it`,
    call: 'Undid one step',
    part: 'Undid one change',
    undo: 'Redid what was undone',
    file: (path: string) => `Undid changes to ${path}`,
    fileRedo: (path: string) => `Redid changes to ${path}`,
    failed: 'The changes couldn’t be taken back',
    failedRedo: 'The changes couldn’t be redone',
    nothing: 'no file changed',
    kept: (n: number) => (n === 1 ? '1 file was left alone' : `${n} files were left alone`),
    again: 'redone',
    parted: (path: string, names: string) =>
      `${path} is a file of its own now. Before, it was one file with ${names}.`,
    partedElsewhere: (path: string, n: number) =>
      n === 1
        ? `${path} is a file of its own now. Before, the same file had another name elsewhere.`
        : `${path} is a file of its own now. Before, the same file had ${n} other names elsewhere.`,
  },
  news: {
    undone: (what: string) => `Undid changes to ${what}`,
    part: (what: string) => `Undid one change in ${what}`,
    redone: (what: string) => `Redid changes to ${what}`,
    kept: (n: number) => (n === 1 ? '1 file was left alone.' : `${n} files were left alone.`),
    untouched: 'No file was changed',
    nothing: 'There is nothing to undo',
  },
};
