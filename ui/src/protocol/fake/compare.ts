// How the stand-in compares texts: differences line by line with their changed words, and merging two changes of one
// text. For small texts only: it is exact, not fast.
import type { DiffLine } from '../generated/DiffLine';
import type { FileDiff } from '../generated/FileDiff';
import type { Hunk } from '../generated/Hunk';

/** Lines around changes. */
const CONTEXT = 3;

/** The difference from one text to another; nothing is the empty text. */
export function compare(path: string, before: string | null, after: string | null): FileDiff {
  const [a, b] = [linesOf(before), linesOf(after)];
  const rows: { line: DiffLine; old: number; now: number }[] = [];
  const plain = (kind: string, text: string): DiffLine => ({ kind, spans: [{ text, changed: false }] });
  let [i, j] = [0, 0];
  for (const [nextA, nextB] of [...common(a, b), [a.length, b.length] as const]) {
    const [gone, come] = [a.slice(i, nextA), b.slice(j, nextB)];
    for (const [n, text] of gone.entries())
      rows.push({ line: worded('removed', text, come[n]), old: i + n, now: j });
    for (const [n, text] of come.entries())
      rows.push({ line: worded('added', text, gone[n]), old: nextA, now: j + n });
    const same = a[nextA];
    if (same !== undefined) rows.push({ line: plain('same', same), old: nextA, now: nextB });
    [i, j] = [nextA + 1, nextB + 1];
  }
  const hunks: Hunk[] = [];
  let last = -1;
  for (const [at, row] of rows.entries()) {
    const near = rows.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1);
    if (!near.some(({ line }) => line.kind !== 'same')) continue;
    const open = hunks.at(-1);
    if (open && last === at - 1) open.lines.push(row.line);
    else {
      const start = { old_start: row.old + 1, new_start: row.now + 1 };
      hunks.push({ ...start, lines: [row.line], part: null, undone: false });
    }
    last = at;
  }
  return { path, created: before === null, no_hunks: hunks.length === 0 ? 'same' : null, hunks };
}

/** The text after a change without some of its hunks, by their places. */
export function without(
  before: string,
  after: string,
  hunks: readonly Hunk[],
  gone: readonly number[],
): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const out: string[] = [];
  let at = 0;
  for (const [n, hunk] of hunks.entries()) {
    if (!gone.includes(n)) continue;
    const head = hunk.lines.findIndex((line) => line.kind !== 'same');
    const core = hunk.lines.slice(head, hunk.lines.findLastIndex((line) => line.kind !== 'same') + 1);
    const [from, to] = [hunk.new_start - 1 + head, hunk.old_start - 1 + head];
    out.push(...now.slice(at, from));
    out.push(...old.slice(to, to + core.filter((line) => line.kind !== 'added').length));
    at = from + core.filter((line) => line.kind !== 'removed').length;
  }
  return [...out, ...now.slice(at)].map((line) => `${line}\n`).join('');
}

/** How many lines came and went. */
export function counted(diff: FileDiff): { added: number; removed: number } {
  const kinds = diff.hunks.flatMap((hunk) => hunk.lines.map((line) => line.kind));
  const count = (kind: string) => kinds.filter((one) => one === kind).length;
  return { added: count('added'), removed: count('removed') };
}

/** Both changes of `base` in one text; null where they touch the same lines. */
export function merge(base: string, one: string, other: string): string | null {
  const [b, x, y] = [linesOf(base), linesOf(one), linesOf(other)];
  const inX = new Map(common(b, x));
  const inY = new Map(common(b, y));
  const out: string[] = [];
  let [i, j, k] = [0, 0, 0];
  for (let at = 0; at <= b.length; at += 1) {
    const [nextX, nextY] = at === b.length ? [x.length, y.length] : [inX.get(at), inY.get(at)];
    if (nextX === undefined || nextY === undefined) continue;
    const [was, mine, theirs] = [b.slice(i, at), x.slice(j, nextX), y.slice(k, nextY)];
    if (equal(was, mine)) out.push(...theirs);
    else if (equal(was, theirs) || equal(mine, theirs)) out.push(...mine);
    else return null;
    const line = b[at];
    if (line !== undefined) out.push(line);
    [i, j, k] = [at + 1, nextX + 1, nextY + 1];
  }
  return out.map((line) => `${line}\n`).join('');
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  return text.replace(/\n$/, '').split('\n');
}

function equal(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, n) => line === other[n]);
}

/** Places of the longest common lines, in order. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** A line with the part marked in which it differs from its counterpart. */
function worded(kind: string, text: string, other: string | undefined): DiffLine {
  if (other === undefined) return { kind, spans: [{ text, changed: false }] };
  let head = 0;
  while (head < text.length && text[head] === other[head]) head += 1;
  let tail = 0;
  const room = Math.min(text.length, other.length) - head;
  while (tail < room && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const cuts = [text.slice(0, head), text.slice(head, text.length - tail), text.slice(text.length - tail)];
  const spans = cuts.map((piece, n) => ({ text: piece, changed: n === 1 })).filter((one) => one.text !== '');
  return { kind, spans };
}
