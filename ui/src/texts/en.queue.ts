// Words about what waits for the person over all sessions, in English. `zh.queue.ts` has the same shape.
export const queue = {
  label: 'Waiting for you',
  title: (n: number) => (n === 1 ? '1 thing needs you' : `${n} things need you`),
  none: 'Nothing needs you now',
  hide: 'Hide for now',
  here: 'shown here',
  dot: ' · ',
  held: 'Only in this folder, without internet',
  /** A button by what it is about, for those who hear it. */
  named: (button: string, what: string) => `${button}: ${what}`,
  look: { approval: 'Review', question: 'Answer', outcome: 'Review' },
};
