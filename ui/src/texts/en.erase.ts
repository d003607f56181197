// Words about erasing from the record, in English. `zh.erase.ts` has the same shape.
export const erase = {
  action: 'Erase from the record…',
  title: 'Erase from the record',
  lead: 'Mark the words to erase, or choose everything.',
  says: 'What stands here',
  part: 'Which part of the action',
  parts: { said: 'What came of it', asked: 'What it was asked to do' },
  goes: 'These words go',
  all: 'Everything that stands here',
  looking: 'Looking where else they stand…',
  stand: (places: string) => `They stand in ${places}, and go from all of them.`,
  places: {
    message: (n: number) => (n === 1 ? '1 message of yours' : `${n} messages of yours`),
    waiting: (n: number) =>
      n === 1 ? '1 message as it waited to be read' : `${n} messages as they waited to be read`,
    title: (n: number) => (n === 1 ? 'the session’s name' : `${n} names of the session`),
    answer: (n: number) => (n === 1 ? '1 answer' : `${n} answers`),
    call: (n: number) => (n === 1 ? '1 entry about an action' : `${n} entries about actions`),
    result: (n: number) => (n === 1 ? '1 result' : `${n} results`),
    shown: (n: number) => (n === 1 ? '1 piece that was shown live' : `${n} pieces that were shown live`),
    note: (n: number) => (n === 1 ? '1 note to the model' : `${n} notes to the model`),
    other: (n: number) => (n === 1 ? '1 other place' : `${n} other places`),
  },
  also: 'They also go from kept copies of files, so a change that holds them stays as it is, and from old copies of the record.',
  mark: 'A mark stays in their place with the time it was erased, and the model reads that mark from then on.',
  beside: 'They also stand elsewhere',
  elsewhere: (n: number) =>
    n === 1 ? 'Erase them from 1 other session as well' : `Erase them from ${n} other sessions as well`,
  revoke: (what: string, folder: string) => `Revoke what you allowed for good in ${folder}: ${what}`,
  stays:
    'What the model’s service received and your files stay as they are: change a key or password where it is used.',
  why: 'Why',
  whys: { secret: 'A key or a password', private: 'Something private', other: 'Something else' },
  confirm: 'Erase for good',
  erasing: 'Erasing…',
  slow: 'Everything that is kept is looked through. This can take a while.',
  done: 'Erased.',
  doneText: (places: string, contents: string) => `${places}, ${contents}.`,
  doneSessions: (n: number) =>
    n === 1 ? '1 other session is among them.' : `${n} other sessions are among them.`,
  doneEvents: (n: number) => (n === 1 ? '1 entry of the record' : `${n} entries of the record`),
  doneContents: (n: number) => (n === 1 ? '1 kept content' : `${n} kept contents`),
  doneCopies: (n: number) =>
    n === 1
      ? '1 copy of the record from before an update went as well.'
      : `${n} copies of the record from before updates went as well.`,
  unfinished: 'Old bytes may still be on the disk. Daybook removes them when it starts the next time.',
  notice: (n: number) =>
    n === 1
      ? 'You erased words from 1 entry of the record'
      : `You erased words from ${n} entries of the record`,
};

/** Why something can't be erased, by code. */
export const eraseFailures = {
  'erase/busy': 'Work is going on here. Stop it first, then erase.',
  'erase/busy_elsewhere':
    'Work is going on in another session that holds these words. Stop it first, or erase them only here.',
  'erase/moved_on': 'Something happened meanwhile. Look again.',
  'erase/nothing': 'These words stand nowhere in this session any more.',
  'erase/short': 'Mark at least 4 characters.',
  'erase/words': 'There are no words of its own here.',
  'erase/mark': 'These words are part of the mark that stands where something was erased.',
  'erase/needed':
    'The record can’t be read without exactly these words. Mark more of what stands around them.',
  'erase/unknown': 'This doesn’t stand in the session any more.',
  'content/erased': 'It held words that you erased from the record, so it can’t be brought back.',
  'content/thinned': 'Its content was let go because it was kept too long, so it can’t be brought back.',
};
