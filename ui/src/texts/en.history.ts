// Words about what the model reads of earlier work, in English. `zh.history.ts` has the same shape.
export const history = {
  summarised: (steps: number) =>
    steps === 1 ? 'Earlier work was summarised: 1 step' : `Earlier work was summarised: ${steps} steps`,
  shortened: (results: number) =>
    results === 1
      ? 'An older result was shortened for the model'
      : `${results} older results were shortened for the model`,
  tokens: (before: string, after: string) => `${before} → ${after} tokens`,
  why: {
    budget: 'The model had little room left.',
    overflow: 'The service said that it was too long.',
    asked: 'You asked for it.',
  },
  kept: 'Nothing is lost: all of it stays here and on the record. The model only reads less of it.',
  without: 'No summary could be written. What the record knows exactly stands for the earlier steps.',
  show: 'What the model reads instead',
  full: 'Use the full history again',
  summarising: 'Summarising earlier work, so that it fits…',
  menu: 'More for this session',
  ask: 'Summarise earlier work now',
  askNote: 'The model then reads a summary; nothing is deleted',
};

export const historyNotices = {
  'history/restored': 'From here on the model reads the full history again',
  'turn/extended': {
    cut_call:
      'The answer became too long in the middle of what was to be done. The model is asked once more to go on in smaller parts.',
    open_plan: 'The plan has open items, so the model is asked once more whether it goes on.',
    other: 'The model is asked once more before the work ends.',
  },
};

export const historyFailures = {
  'history/little': 'There is little to summarise yet.',
  'history/full': 'The model reads the full history already.',
  'history/too_long': 'The full history doesn’t fit this model. Choose one that reads more, then try again.',
  'context/cannot_fit': 'This no longer fits what the model can read, even summarised.',
};
