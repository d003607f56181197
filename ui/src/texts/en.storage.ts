// Words about what is kept for undo, in English. `zh.storage.ts` has the same shape.
export const storage = {
  name: 'Storage',
  lead: 'So that changes can be undone, Daybook keeps what stood in your files before. Old contents are let go by this rule.',
  kept: 'Kept for undo',
  keptNone: 'Nothing yet',
  since: (day: string) => `Undo is possible back to ${day}`,
  thinned: (n: number) =>
    n === 1 ? '1 older turn can’t be undone any more' : `${n} older turns can’t be undone any more`,
  rule: 'The rule',
  rules: [
    'Everything of the last 30 days stays, and the last turn of every session.',
    'When more is kept than the limit, contents of older turns go, oldest first, until the rest fits.',
    'What was changed stays on the record. Only the way back goes.',
    'Daybook looks once a day, while nothing runs.',
  ],
  limit: 'Limit',
  bytes: 'bytes',
  size: (n: string, unit: string) => `${n} ${unit}`,
  now: 'Thin now',
  thinning: 'Thinning…',
  done: (n: number, size: string) =>
    n === 1 ? `1 turn was thinned, ${size} are free.` : `${n} turns were thinned, ${size} are free.`,
  both: (done: string, left: string) => `${done} ${left}`,
  left: (n: number) =>
    n === 1
      ? '1 session is at work. What it keeps is left for the next time.'
      : `${n} sessions are at work. What they keep is left for the next time.`,
  busy: (n: number) =>
    n === 1
      ? 'Nothing was thinned, since 1 session is at work. Try again when it is done.'
      : `Nothing was thinned, since ${n} sessions are at work. Try again when they are done.`,
  nothing: 'Nothing has to go: it all fits, or is younger than 30 days.',
  gone: (day: string) => `Undo no longer possible: thinned on ${day}`,
};
