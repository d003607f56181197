// A request as a bar: what stood there before in pale shades, what is new in dark ones.
//
// Pure. Every part that isn't empty has a piece that can be seen; shades alternate so that neighbours can be told apart.
import type { SawPart } from '../../protocol/generated/SawPart';

/** The bar's length, in its own units. */
export const LENGTH = 1_000;
/** The least a piece takes, and what lies between two. */
const LEAST = 4;
const GAP = 3;

export interface Piece {
  from: number;
  width: number;
  /** 1 to 3 pale, 4 and 5 dark. */
  shade: number;
}

export interface Bar {
  total: number;
  same: number;
  fresh: number;
  pieces: readonly Piece[];
  /** The shade of each part. */
  shades: readonly number[];
}

export function barOf(parts: readonly SawPart[]): Bar {
  const sum = (some: readonly SawPart[]) => some.reduce((all, part) => all + part.tokens, 0);
  const total = sum(parts);
  const same = sum(parts.filter((part) => part.same));
  let [pale, dark] = [0, 0];
  const shades = parts.map((part) => (part.same ? 1 + (pale++ % 3) : 4 + (dark++ % 2)));
  const filled = parts.filter((part) => part.tokens > 0).length;
  const room = Math.max(LENGTH - filled * LEAST - Math.max(filled - 1, 0) * GAP, 0);
  let from = 0;
  const pieces: Piece[] = [];
  for (const [at, part] of parts.entries()) {
    if (part.tokens === 0) continue;
    const width = LEAST + (room * part.tokens) / Math.max(total, 1);
    pieces.push({ from: round(from), width: round(width), shade: shades[at] ?? 1 });
    from += width + GAP;
  }
  return { total, same, fresh: total - same, pieces, shades };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
