// Words about what a person saves out of Daybook and takes into it, in English. `zh.copies.ts` has the same shape.
export const copies = {
  save: 'Save a copy…',
  output: 'Save all of its output…',
  before: 'As it was before…',
  after: 'As this left it…',
  /** Of a file that is looked at. */
  version: (name: string) => `Save a copy of ${name}`,
  export: 'Export this session…',
  exportNote: 'A folder with all that was said and done in it',
  import: 'Import a session…',
  saved: (name: string) => `Saved: ${name}`,
  exported: (name: string) =>
    `Exported: ${name}. It holds all that was said and done, so look at it before you give it away.`,
  imported: (events: string) =>
    `Imported and checked: ${events} events. It can be looked at; nothing in it runs here.`,
};

/** Why something can’t be saved or taken in. */
export const copyFailures = {
  'copy/nothing': 'There is nothing here that could be saved.',
  'copy/erased': 'You erased this, so there is no copy of it any more.',
  'copy/thinned': 'This was let go of to save room, so there is no copy of it any more.',
  'copy/missing': 'There is no such place, or what belongs there is missing.',
  'copy/permission': 'That place can’t be written to or read. Choose another one.',
  'copy/full': 'The disk is full. Free some space, then try again.',
  'copy/folder': 'A folder stands there already. Choose another name.',
  'copy/failed': 'That couldn’t be read or written. Look at the disk, or choose another place.',
  'archive/there': 'Something stands there already. Choose another name.',
  'archive/here': 'This session is here already.',
  'archive/unfit': 'This is no session that this Daybook can take in.',
  'archive/changed': 'This isn’t what was exported: something in it was changed. Nothing was taken in.',
  'archive/at_work':
    'The session has work open, or had when it was exported. Answer what it asks or stop it, then export it.',
  'archive/store': 'The record couldn’t be read or written. Look at the disk, then try again.',
};
