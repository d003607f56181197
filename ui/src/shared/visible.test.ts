// What can't be seen gets a code, long things keep their tail.
import { expect, test } from 'vitest';
import { atWords, hidesSomething, oneLine, shorten, visible } from './visible';

test('a20_hidden_and_turning_characters_are_shown_as_codes', () => {
  const table: [string, string][] = [
    ['rm\u202e/ fr', 'rm⟨U+202E⟩/ fr'],
    ['a\u200bb\u2060c\ufeff', 'a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩'],
    ['\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['\u001b]8;;https://x\u0007y', '⟨U+001B⟩]8;;https://x⟨U+0007⟩y'],
    ['a\bb\rc', 'a⟨U+0008⟩b⟨U+000D⟩c'],
    ['\u{e0041}x', '⟨U+E0041⟩x'],
    ['soft\u00adhyphen\u3164', 'soft⟨U+00AD⟩hyphen⟨U+3164⟩'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['中文 and émoji 🌍', '中文 and émoji 🌍'],
  ];
  for (const [given, expected] of table) {
    expect(visible(given)).toBe(expected);
    expect(hidesSomething(given)).toBe(given !== expected);
  }
});

test('a21_the_tail_of_a_long_text_stays', () => {
  const long = `echo ${'a'.repeat(5_000)}; rm -rf x`;
  expect(shorten(long, 100)).toHaveLength(103);
  expect(shorten(long, 100).endsWith('; rm -rf x')).toBe(true);
});

test('a81_a_name_is_one_bounded_line', () => {
  expect(oneLine('a\n\n  b\tc')).toBe('a b c');
  expect(oneLine('x'.repeat(1_000_000), 80).length).toBeLessThan(90);
});

test('a long line loses words of its middle, never a part of one', () => {
  const table: [string, number, string][] = [
    ['short', 10, 'short'],
    [
      'echo made > made.txt; rm old.txt; sed -i s,5.20,9.99, menu.md',
      60,
      'echo made > made.txt; rm old.txt; … -i s,5.20,9.99, menu.md',
    ],
    ['x'.repeat(20), 10, 'xxxxxx … xxxx'],
  ];
  for (const [line, longest, expected] of table) expect(atWords(line, longest)).toBe(expected);
});
