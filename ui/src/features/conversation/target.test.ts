// What is told about a link before anybody follows it.
import { expect, test } from 'vitest';
import { readTarget } from './target';

test('a48_the_whole_target_is_read_and_judged', () => {
  const table: [string, string, Partial<ReturnType<typeof readTarget>>][] = [
    ['https://example.org/a', 'a page', { usable: true, differs: false, long: false, lookalike: false }],
    ['mailto:a@example.org', 'write', { usable: true }],
    ['javascript:alert(1)', 'run', { usable: false, full: 'javascript:alert(1)' }],
    ['data:text/html,<b>', 'x', { usable: false }],
    ['file:///etc/passwd', 'x', { usable: false }],
    ['smb://host/share', 'x', { usable: false }],
    ['vscode://file/etc', 'x', { usable: false }],
    ['ms-settings:about', 'x', { usable: false }],
    ['not an address', 'x', { usable: false }],
    ['https://sink.example/', 'https://good.example', { differs: true }],
    ['https://sink.example/', 'good.example/path', { differs: true }],
    ['https://good.example/x', 'good.example', { differs: false }],
    ['https://sink.example/?d=' + 'A'.repeat(200), 'x', { long: true }],
    ['https://sink.example/' + 'QUJD'.repeat(20), 'x', { long: true }],
    ['https://аpple.com/', 'apple', { lookalike: true, full: 'https://xn--pple-43d.com/' }],
  ];
  for (const [target, shown, expected] of table)
    expect(readTarget(target, shown), target).toMatchObject(expected);
});
