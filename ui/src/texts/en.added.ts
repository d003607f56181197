// Words about other folders that Daybook may look at, in English. `zh.added.ts` has the same shape.
export const added = {
  menu: (name: string) => `Folder: ${name}`,
  ownNote: 'Daybook works here',
  add: 'Let Daybook look at another folder…',
  addNote: 'It can read there and change nothing',
  group: 'Other folders it may look at',
  chip: (name: string) => `Also reads: ${name}`,
  gone: (name: string) => `Not there now: ${name}`,
  goneNote: 'The folder was moved, or its disk isn’t connected.',
  other: (name: string) => `Not the same folder any more: ${name}`,
  otherNote: 'Another folder stands in its place, so nothing there is read. You can add it again.',
  remove: (name: string) => `Stop reading ${name}`,
  /** On a request. */
  canRead: (paths: string) => `It can also read ${paths}, and change nothing there.`,
  outside: 'anything else outside this folder',
  atPath: (path: string) => `${path}, in a folder you added to look at.`,
  /** On the page of permissions. */
  lead: 'Besides its own folder, a session can read in these. Nothing there can be changed. What is running when you take one back may still see it until it ends.',
  none: 'None. You can add one beside the message field of a session.',
};

/** What the record says. */
export const addedNotices = {
  'folder/added': (name: string) => `From here on it may also look at ${name}`,
  'folder/removed': (name: string) => `From here on it may no longer look at ${name}`,
};

/** Why a folder can’t be added. */
export const addedFailures = {
  'folder/own': 'That folder holds Daybook’s own files. Choose another one.',
  'folder/home': 'That is your whole home folder, or holds it. Choose a folder in it.',
  'folder/private': 'Programs keep their own files, keys and passwords there. Choose another folder.',
  'folder/system': 'That folder belongs to the system. Choose another one.',
  'folder/disk': 'That is a whole disk. Choose a folder on it.',
  'folder/name':
    'The path of that folder holds characters that can’t be shown. Rename it, or choose another one.',
  'folder/shared': 'That folder is, holds, or lies in the one Daybook works in here.',
  'folder/session': 'That is the folder Daybook works in here.',
  'folder/inside': 'Daybook can read that already: it lies in the folder it works in.',
  'folder/around': 'The folder Daybook works in lies in that one.',
  'folder/added': 'Daybook may look at that folder already.',
  'folder/overlaps': 'That folder holds, or lies in, one that was added before. Take that one back first.',
  'folder/count': 'Too many folders are added. Take one back first.',
  'folder/removed': 'That folder was taken back already.',
};
