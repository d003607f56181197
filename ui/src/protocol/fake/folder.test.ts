// The stand-in's folder keeps the promises the page is tested against.
import { expect, test } from 'vitest';
import { compare, counted, merge } from './compare';
import { FakeFolder } from './folder';

function folder(): FakeFolder {
  const made = new FakeFolder();
  made.put('a.txt', 'one\ntwo\nthree\nfour\nfive\n');
  made.put('b.txt', 'x\n');
  made.begin('t1', 'First', 1);
  made.change('a.txt', 'ONE\ntwo\nthree\nfour\nfive\n');
  made.change('new.txt', 'n\n');
  made.begin('t2', 'Second', 2);
  made.change('b.txt', null);
  return made;
}

test('differences count lines and mark the words that differ', () => {
  const diff = compare('p', 'a\nprice 6.50\nz\n', 'a\nprice 6.80\nz\nend\n');
  expect(counted(diff)).toEqual({ added: 2, removed: 1 });
  const changed = diff.hunks[0]?.lines.flatMap((line) => line.spans.filter((span) => span.changed));
  expect(changed?.map((span) => span.text)).toEqual(['5', '8']);
  expect(compare('p', 'a\n', 'a\n').no_hunks).toBe('same');
});

test('two changes merge where they are apart and not where they meet', () => {
  const table: [string, string, string, string | null][] = [
    ['a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
    ['a\nb\nc\n', 'a\nX\nc\n', 'a\nY\nc\n', null],
    ['a\nb\n', 'a\nb\n', 'a\nb\nmore\n', 'a\nb\nmore\n'],
  ];
  for (const [base, one, other, expected] of table) expect(merge(base, one, other)).toBe(expected);
});

test('a return can be taken back, and what it is told equals what it does', () => {
  const made = folder();
  const before = made.changes();
  expect(before.turns.map(({ turn, files }) => [turn, files.length])).toEqual([
    ['t2', 1],
    ['t1', 2],
  ]);
  const preview = made.preview({ kind: 'session' }, []);
  const undo = made.undo('u1', { kind: 'session' }, [], []);
  expect(undo.files).toEqual(preview.files);
  expect(undo.files.map((file) => file.what)).toEqual(['restored', 'removed', 'brought_back']);
  expect(made.changes()).toMatchObject({ files: [], turns: [{ undone: true }, { undone: true }] });
  made.undo('u2', { kind: 'undo', undo: 'u1' }, [], []);
  expect(made.changes()).toEqual(before);
});

test('what was changed since is merged, left alone, or brought back when it is named', () => {
  const made = folder();
  made.put('a.txt', 'ONE\ntwo\nthree\nfour\nFIVE\n');
  made.put('new.txt', 'mine\n');
  const of = { kind: 'turn', turn: 't1' } as const;
  expect(made.preview(of, []).kept.map((file) => file.path)).toEqual(['a.txt', 'new.txt']);
  expect(made.threeWay(of, 'a.txt')?.merged?.hunks).toHaveLength(1);
  expect(made.threeWay(of, 'new.txt')?.merged).toBeNull();
  const undo = made.undo('u1', of, [], []);
  expect(undo.kept).toEqual([{ path: 'new.txt', why: 'changed', anyway: null, now: null }]);
  expect(made.threeWay({ kind: 'undo', undo: 'u1' }, 'a.txt')?.ours.hunks[0]?.lines[0]?.spans[0]?.text).toBe(
    'ONE',
  );
  expect(made.undo('u2', of, ['new.txt'], ['new.txt']).files).toEqual([
    { path: 'new.txt', what: 'removed', parted: null },
  ]);
});

test('one part goes back alone, comes again, and never over what somebody changed', () => {
  const line = (n: number) => `line ${n}\n`;
  const all = (...changed: number[]) =>
    Array.from({ length: 30 }, (_, n) => (changed.includes(n) ? `new ${n}\n` : line(n))).join('');
  const made = new FakeFolder();
  made.put('a.txt', all());
  made.begin('t1', 'First', 1);
  made.change('a.txt', all(2, 25));
  const names = made.diff('a.txt', 't1').hunks.map((hunk) => hunk.part ?? '');
  const part = (n: number) => ({ kind: 'part', turn: 't1', part: names[n] ?? '' }) as const;
  const undone = () => made.diff('a.txt', 't1').hunks.map((hunk) => hunk.undone);
  const left = () => made.diff('a.txt', null).hunks.length;
  expect(names).toHaveLength(2);
  expect(made.undo('u1', part(0), ['a.txt'], []).files).toEqual([
    { path: 'a.txt', what: 'restored', parted: null },
  ]);
  expect([undone(), left(), made.changes().turns[0]?.undone]).toEqual([[true, false], 1, false]);
  expect(made.isMixed(part(0), ['a.txt'])).toBe(true);
  made.undo('u2', { kind: 'undo', undo: 'u1' }, [], []);
  expect([undone(), left()]).toEqual([[false, false], 1 + 1]);
  made.undo('u3', part(1), ['a.txt'], []);
  made.undo('u4', part(0), ['a.txt'], []);
  expect([undone(), left(), made.changes().turns[0]?.undone]).toEqual([[true, true], 0, true]);
  made.undo('u5', { kind: 'undo', undo: 'u4' }, [], []);
  expect([undone(), made.changes().turns[0]?.undone]).toEqual([[false, true], false]);
  made.put('a.txt', all(2).replace('new 2\n', 'mine\n'));
  expect(made.isMixed(part(0), ['a.txt'])).toBe(true);
});
