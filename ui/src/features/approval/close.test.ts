// From near by: one line around what changes, and numbers that stay true.
import { expect, test } from 'vitest';
import { diff } from '../../protocol/fake/make';
import { closeUp } from './close';

test('a difference begins a line before its first change and ends a line after its last', () => {
  const [hunk] = closeUp(diff('a', 3, ' a\n b\n c\n-d\n+e\n f\n g').hunks);
  expect(hunk?.old_start).toBe(5);
  expect(hunk?.new_start).toBe(5);
  expect(hunk?.lines.map(({ spans }) => spans[0]?.text)).toEqual(['c', 'd', 'e', 'f']);
  expect(closeUp(diff('a', 1, ' a\n b').hunks)).toEqual([]);
});
