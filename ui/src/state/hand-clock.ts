// A clock for tests of what waits.
import { flushSync } from 'svelte';
import type { Timing } from './arming.svelte';

/** A clock that is moved by hand; what was due runs when it passes. */
export function handClock(): Timing & { pass(ms: number): void } {
  let now = 0;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, run) => {
      const entry = { at: now + ms, run };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    pass: (ms) => {
      now += ms;
      const ready = due.filter((entry) => entry.at <= now);
      due = due.filter((entry) => entry.at > now);
      for (const entry of ready) entry.run();
      flushSync();
    },
  };
}
