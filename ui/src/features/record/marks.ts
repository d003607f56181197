// Marks of a record on a line of fixed width: one an event where there is room, else one for a few neighbours.
//
// Pure. A mark shows the gravest of its events, so what went wrong is never hidden by what is beside it.

/** Most marks on the line. */
export const MOST = 216;

export type MarkKind = 'plain' | 'turn' | 'you' | 'bad';
export interface Mark {
  kind: MarkKind;
  /** Half its height, of 14. */
  reach: number;
}

const GRAVITY: readonly MarkKind[] = ['plain', 'turn', 'you', 'bad'];

export function marksOf(letters: string): readonly Mark[] {
  const n = Math.min(letters.length, MOST);
  return Array.from({ length: n }, (_, at) => {
    const from = Math.floor((at * letters.length) / n);
    const to = Math.floor(((at + 1) * letters.length) / n);
    let kind: MarkKind = 'plain';
    let weight = 0;
    for (let seq = from; seq < to; seq += 1) {
      const letter = letters[seq] ?? '';
      const own = kindOf(letter);
      if (GRAVITY.indexOf(own) > GRAVITY.indexOf(kind)) kind = own;
      weight = Math.max(weight, weightOf(letter));
    }
    return { kind, reach: kind === 'plain' ? weight : 12 };
  });
}

/** The strokes of one kind, over a width. */
export function pathOf(marks: readonly Mark[], kind: MarkKind, width: number): string {
  const gap = marks.length < 2 ? 0 : (width - 12) / (marks.length - 1);
  return marks
    .map((mark, at) =>
      mark.kind === kind ? `M${(6 + at * gap).toFixed(1)} ${14 - mark.reach}v${mark.reach * 2}` : '',
    )
    .join('');
}

function kindOf(letter: string): MarkKind {
  if (letter !== letter.toLowerCase()) return 'bad';
  if (letter === 'n') return 'turn';
  return letter === 'y' ? 'you' : 'plain';
}

function weightOf(letter: string): number {
  if ('pam'.includes(letter)) return 7;
  if ('cf'.includes(letter)) return 5.5;
  return letter === 'd' ? 2.5 : 4;
}
