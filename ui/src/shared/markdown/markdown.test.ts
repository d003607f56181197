// Blocks, hostile Markdown and slow patterns: streamed text ends as whole text would, nothing acts, nothing hangs.
import { expect, test } from 'vitest';
import { HOSTILE_MARKDOWN, hugeAnswer } from '../../corpus/markdown';
import { Blocks, type Block } from './blocks';
import { highlight } from './highlight';
import { renderMarkdown } from './render';

const shape = (blocks: readonly Block[]) =>
  blocks.map(({ kind, text, language, closed }) => ({ kind, text, language, closed }));
const whole = (text: string) => new Blocks().update(text, true).flat();

function streamed(text: string, size: number): readonly Block[] {
  const blocks = new Blocks();
  for (let at = size; at < text.length; at += size) blocks.update(text.slice(0, at), false);
  return blocks.update(text, true).flat();
}

function html(source: string): HTMLElement {
  const box = document.createElement('div');
  for (const block of whole(source)) {
    if (block.kind === 'markdown') box.append(renderMarkdown(block.text, true));
    else box.append(block.text);
  }
  return box;
}

const SAMPLE = [
  '# Title',
  'A paragraph with **weight**\nover two lines.',
  '- one\n- two\n\n  still two\n\n1. first\n2. second',
  '```rust\nfn a() {}\n\n\nfn b() {}\n```',
  '> quoted\n> text',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '~~~\n``` inside\n~~~',
  'An open fence:\n\n```\nnot closed',
].join('\n\n');

test('d21_streaming_in_any_pieces_ends_as_the_whole_text_would', () => {
  for (const size of [1, 2, 3, 7, 64, 4096]) {
    expect(shape(streamed(SAMPLE, size)), `pieces of ${size}`).toEqual(shape(whole(SAMPLE)));
  }
});

test('d21_fences_with_blank_lines_are_one_block', () => {
  const code = whole(SAMPLE).filter((block) => block.kind === 'code');
  expect(code.map((block) => block.text)).toEqual(['fn a() {}\n\n\nfn b() {}', '``` inside', 'not closed']);
  expect(code.map((block) => block.language)).toEqual(['rust', '', '']);
});

test('d21_finished_blocks_stay_the_same_objects', () => {
  const blocks = new Blocks();
  const before = blocks.update('One.\n\nTwo.\n\nThree\nis', false).flat();
  const after = blocks.update('One.\n\nTwo.\n\nThree\nis longer now', false).flat();
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(after.map((block) => block.id)).toEqual([0, 1, 2]);
});

test('d22_five_thousand_lines_stream_in_linear_time', () => {
  const text = hugeAnswer(5_000);
  const blocks = new Blocks();
  const pieces = 2_000;
  const step = Math.ceil(text.length / pieces);
  let early = 0;
  let late = 0;
  for (let n = 1; n <= pieces; n += 1) {
    const before = performance.now();
    blocks.update(text.slice(0, n * step), false);
    const took = performance.now() - before;
    if (n > 100 && n <= 500) early += took;
    if (n > 1_600) late += took;
  }
  expect(late).toBeLessThan(early * 4 + 50);
  expect(shape(blocks.update(text, true).flat())).toEqual(shape(whole(text)));
});

test('a text that was replaced starts anew', () => {
  const blocks = new Blocks();
  blocks.update('Something else entirely', false);
  expect(shape(blocks.update('New.', true).flat())).toEqual(shape(whole('New.')));
});

test('a71_what_no_parser_should_chew_becomes_plain_and_quickly', () => {
  const table: [string, string][] = [
    ['nested quotes', '>'.repeat(100_000)],
    ['nested lists', '- '.repeat(50_000)],
    ['one word of 5 MB', 'x'.repeat(5_000_000).slice(0, 200_000)],
    ['brackets', '['.repeat(50_000)],
    ['stars', '*a '.repeat(60_000)],
    ['backticks', '`'.repeat(50_000)],
    ['angle brackets', '<'.repeat(50_000)],
    ['underscores', '_a'.repeat(60_000)],
    ['links in links', '[a]('.repeat(20_000)],
    ['table rows', `|${' a |'.repeat(5_000)}\n|${'---|'.repeat(5_000)}`],
  ];
  for (const [name, text] of table) {
    const before = performance.now();
    const blocks = whole(text);
    for (const block of blocks) if (block.kind === 'markdown') renderMarkdown(block.text, true);
    expect(performance.now() - before, name).toBeLessThan(1_500);
  }
});

test('a71_slow_patterns_for_the_highlighter_stay_plain_or_quick', () => {
  const before = performance.now();
  for (const language of ['javascript', 'css', 'xml', 'markdown', 'python', 'sql', 'yaml', 'bash', 'rust']) {
    for (const text of [
      '/*'.repeat(9_000),
      '"\\'.repeat(400),
      '<'.repeat(900),
      'a'.repeat(900) + '!',
      ' '.repeat(900) + '#',
    ]) {
      highlight(text, language);
    }
  }
  expect(performance.now() - before).toBeLessThan(3_000);
  expect(highlight('x'.repeat(20_001), 'javascript')).toBeNull();
  expect(highlight('let a = 1;', 'no-such-language')).toBeNull();
  expect(highlight('let a = 1;', 'constructor')).toBeNull();
});

test('code in a known language is coloured as nodes', () => {
  const fragment = highlight('let a = "<b>"; // <img src=x>', 'javascript');
  expect(fragment?.textContent).toBe('let a = "<b>"; // <img src=x>');
  expect([...(fragment?.querySelectorAll('*') ?? [])].every((node) => node.tagName === 'SPAN')).toBe(true);
});

const ALLOWED = new Set(
  'P BR STRONG EM DEL CODE PRE UL OL LI BLOCKQUOTE HR H3 H4 H5 H6 TABLE THEAD TBODY TR TH TD BUTTON DIV SPAN'.split(
    ' ',
  ),
);

test('a47_a48_hostile_markdown_is_inert', () => {
  for (const source of [...HOSTILE_MARKDOWN, HOSTILE_MARKDOWN.join('\n\n')]) {
    for (const node of html(source).querySelectorAll('*')) {
      expect(ALLOWED.has(node.tagName), `${node.tagName} from ${source.slice(0, 60)}`).toBe(true);
      for (const { name } of node.attributes) {
        expect(['type', 'class', 'data-target', 'data-language', 'tabindex', 'start'], source).toContain(
          name,
        );
      }
    }
  }
});

test('a48_links_are_buttons_that_carry_their_target_and_go_nowhere', () => {
  const box = html(
    '[words](https://example.org/a?b=1) ![alt](https://example.org/p.png) <https://example.org>',
  );
  const buttons = [...box.querySelectorAll('button')];
  expect(buttons.map((button) => [button.textContent, button.dataset['target'], button.type])).toEqual([
    ['words', 'https://example.org/a?b=1', 'button'],
    ['alt', 'https://example.org/p.png', 'button'],
    ['https://example.org', 'https://example.org', 'button'],
  ]);
  expect(box.querySelector('a, img, [href], [src], [target]')).toBeNull();
});

test('a81_markup_in_words_is_shown_as_words', () => {
  expect(html('a <b onclick="x()">bold</b> <script>alert(1)</script>').textContent?.trim()).toBe(
    'a <b onclick="x()">bold</b> <script>alert(1)</script>',
  );
  expect(html('one<br>two').querySelector('br')).not.toBeNull();
});

test('headings keep below those of the page, tables scroll by themselves', () => {
  expect(html('# One\n\n###### Six').querySelectorAll('h3, h6')).toHaveLength(2);
  expect(html('| a |\n|---|\n| b |').querySelector('.md-table > table')).not.toBeNull();
});
