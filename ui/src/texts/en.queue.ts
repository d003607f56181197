// Words about what waits for the person over all sessions, in English. `zh.queue.ts` has the same shape.
export const queue = {
  label: 'Waiting for you',
  title: (n: number) => (n === 1 ? '1 thing needs you' : `${n} things need you`),
  none: 'Nothing needs you now',
  hide: 'Hide for now',
  here: 'shown here',
  dot: ' · ',
  held: 'Only in this folder, without internet',
  look: { approval: 'Review', question: 'Answer', outcome: 'Review' },
};
