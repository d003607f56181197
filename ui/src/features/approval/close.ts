// A difference from near by: each part from one line before its first change to one line after its last.
//
// On a request what changes has to be on the screen at once. Lines around it that stay as they are can be read under
// Changes; numbers of lines stay true.
import type { Hunk } from '../../protocol/generated/Hunk';

/** Lines that stay, kept around what changes. */
const AROUND = 1;

export function closeUp(hunks: readonly Hunk[]): Hunk[] {
  return hunks.flatMap((hunk) => {
    const changes = (line: { kind: string }) => line.kind !== 'same';
    const first = hunk.lines.findIndex(changes);
    if (first < 0) return [];
    const from = Math.max(0, first - AROUND);
    const to = hunk.lines.findLastIndex(changes) + AROUND + 1;
    const { old_start, new_start, lines } = hunk;
    const start = { old_start: old_start + from, new_start: new_start + from };
    return [{ ...hunk, ...start, lines: lines.slice(from, to) }];
  });
}
