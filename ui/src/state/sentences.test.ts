// Whole sentences only, each once, in two languages.
import { expect, test } from 'vitest';
import { Sentences } from './sentences';

function spoken(pieces: string[]): string[] {
  const sentences = new Sentences();
  let text = '';
  const out = pieces.map((piece) => sentences.next((text += piece), false));
  out.push(sentences.next(text, true));
  return out.filter(Boolean);
}

test('sentences are given out whole and once', () => {
  expect(spoken(['One se', 'ntence. And', ' another! The', ' rest'])).toEqual([
    'One sentence.',
    'And another!',
    'The rest',
  ]);
  expect(spoken(['第一句。第', '二句！还', '有'])).toEqual(['第一句。', '第二句！', '还有']);
  expect(spoken(['Version 1.2 of a.txt is', ' fine. '])).toEqual(['Version 1.2 of a.txt is fine.']);
});

test('what was there before is passed over', () => {
  const sentences = new Sentences();
  sentences.skip('Old. Text.');
  expect(sentences.next('Old. Text.', true)).toBe('');
});
