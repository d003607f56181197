// Which line of the list is brought into sight, and when the list stays as the person left it.

/** What the list looks at. */
export interface Sight {
  /** The event that is looked at. */
  at: number;
  /** The one that was chosen; null is the newest, whichever that is. */
  chosen: number | null;
  /** What the list is narrowed to. */
  family: string;
}

/** Where in the list the line is brought to, if it is out of sight; null leaves the list where it is. */
export function broughtTo(before: Sight | null, now: Sight, following: boolean): 'center' | 'end' | null {
  const align = now.chosen === null ? 'end' : 'center';
  if (before?.family !== now.family || before.chosen !== now.chosen) return align;
  // More was recorded: only who stays at the newest goes along.
  return now.at !== before.at && following ? align : null;
}
