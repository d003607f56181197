// Words of the guided tour, in English. `zh.tour.ts` has the same shape.
export const tour = {
  start: 'See how Daybook works',
  startText: 'In a sample folder, a bakery’s menu gets corrected. It takes about a minute.',
  points: [
    'A plan is made, and you watch it being worked through',
    'You are asked before anything is changed or run',
    'Every changed line is shown under Changes, and can be undone there',
  ],
  begin: 'Begin the tour',
  prompt: 'Show me how this works.',
  end: 'That was the tour',
  broken: 'The tour was stopped',
  endText: 'The same works with a folder of yours and a model you choose.',
  changesText: 'What was changed stands under Changes, line by line. There you can undo it, and redo it.',
  changes: 'See what was changed',
  own: 'Use it on your own folder',
  again: 'Start over',
};
