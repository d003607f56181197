// What is asked about a folder that holds far more than one piece of work, in English. `zh.wide.ts` has the same shape.
export const wide = {
  title: {
    home: 'This is your whole home folder',
    above_home: 'This folder holds your whole home folder',
    disk: 'This is a whole disk',
    own_data: 'This folder holds Daybook’s own data',
  },
  lead: (name: string) => `To work in “${name}” would mean:`,
  means: {
    sees: 'Everything in it may be read: documents, pictures, messages, what other programs keep.',
    changes: 'Everything in it may be changed, in Edit freely and Auto without a question.',
    undo: 'Looking through it takes long, and undo may not cover all of it.',
    own_data: 'Daybook’s own data stays out of reach.',
  },
  better: 'A folder for just this work is safer and faster.',
  other: 'Choose another folder',
  anyway: 'Work in it anyway',
};
