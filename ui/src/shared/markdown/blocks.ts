// A Markdown text cut into blocks while it is still being written.
//
// Finished blocks are never looked at again: only the last one is read anew, and code only to find its end. So a word
// costs what the last block is long, not what the answer is long. Text that no reader should have to parse (huge runs,
// deep nesting) becomes a plain block.
import { Lexer, type Token, type Tokens } from 'marked';

export interface Block {
  readonly id: number;
  readonly kind: 'markdown' | 'code' | 'plain';
  /** Source of a Markdown block, contents of a code block. */
  readonly text: string;
  /** Language of a code block, as written. */
  readonly language: string;
  readonly closed: boolean;
}

/** Longest open block that is read as Markdown. */
const LONGEST = 32_000;
/** A list longer than this gives up its finished items. */
const LONG_LIST = 4_000;
/** How much of a text is read at a time. */
const PIECE = 8_000;
/** Quotes or list marks inside one another beyond which nothing is parsed. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){12}/m;
/** Runs that make an inline parser work hard: brackets, stars, underscores, backticks. */
const DENSE = /[*_`~[\]!<(]{40}/;
const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n/;

interface Fence {
  mark: string;
  length: number;
}

/** Blocks that stay together: a full group is never touched again, so drawing costs what the last group is long. */
export type Group = readonly Block[];
const GROUP = 32;
/** How much of the text before is compared to notice that it is another text. */
const TAIL = 64;

export class Blocks {
  #source = '';
  #groups: Block[][] = [[]];
  #nextId = 0;
  #open = '';
  #fence: Fence | null = null;
  #code: { language: string; lines: string[]; rest: string } | null = null;

  /** Brings the blocks up to a text that continues the one before; any other text starts anew. */
  update(text: string, done: boolean): readonly Group[] {
    if (!this.#continues(text, done)) this.#reset();
    const fresh = text.slice(this.#source.length);
    this.#source = text;
    for (let at = 0; at < fresh.length; at = this.#feed(fresh, at));
    return done ? this.#finished() : this.#shown(this.#openBlock());
  }

  /** While more comes, only the end of what was there is compared: comparing all of it would cost more each time. */
  #continues(text: string, done: boolean): boolean {
    const before = this.#source;
    if (text.length < before.length) return false;
    if (done) return text.startsWith(before);
    return text.startsWith(before.slice(-TAIL), Math.max(before.length - TAIL, 0));
  }

  #reset(): void {
    this.#source = '';
    this.#groups = [[]];
    this.#open = '';
    this.#fence = null;
    this.#code = null;
  }

  /** Takes in the next piece and says where the one after it begins. */
  #feed(fresh: string, at: number): number {
    const end = Math.min(at + PIECE, fresh.length);
    const piece = fresh.slice(at, end);
    if (this.#code) this.#feedCode(piece);
    else this.#feedMarkdown(piece);
    return end;
  }

  #feedMarkdown(piece: string): void {
    this.#open += piece;
    if (this.#open.length > LONGEST || DEEP.test(this.#open) || DENSE.test(this.#open)) {
      this.#giveUp();
      return;
    }
    // What a line is, is known once it is whole; until then it stays with the block before it.
    const whole = this.#open.lastIndexOf('\n') + 1;
    const rest = this.#open.slice(whole);
    const tokens = lex(this.#open.slice(0, whole));
    if (tokens === null) {
      this.#giveUp();
      return;
    }
    const last = lastWithContent(tokens);
    for (const token of tokens.slice(0, last)) this.#close(token);
    this.#open = tokens
      .slice(last)
      .map((token) => token.raw)
      .concat(rest)
      .join('');
    this.#shedItems(tokens[last]);
    this.#enterFence();
  }

  /** Items of a long list before its last one are finished; only the last is read again. */
  #shedItems(token: Token | undefined): void {
    if (token?.type !== 'list' || this.#open.length < LONG_LIST) return;
    const items = (token as Tokens.List).items.map((item) => item.raw);
    const finished = items.slice(0, -1).join('');
    if (finished === '' || !this.#open.startsWith(finished)) return;
    this.#push({ kind: 'markdown', text: finished, language: '' });
    this.#open = this.#open.slice(finished.length);
  }

  /** Once an opening fence is whole, what follows is code until its end. */
  #enterFence(): void {
    const match = FENCE.exec(this.#open);
    const mark = match?.[2];
    if (!match || !mark) return;
    // A backtick in the rest of the line makes it an ordinary paragraph.
    if (mark.startsWith('`') && match[3]?.includes('`')) return;
    this.#fence = { mark: mark.charAt(0), length: mark.length };
    this.#code = { language: match[3]?.trim().split(/\s/)[0] ?? '', lines: [], rest: '' };
    const rest = this.#open.slice(match[0].length);
    this.#open = '';
    this.#feedCode(rest);
  }

  #feedCode(piece: string): void {
    const code = this.#code;
    if (!code) return;
    const lines = (code.rest + piece).split('\n');
    code.rest = lines.pop() ?? '';
    for (const [n, line] of lines.entries()) {
      if (!this.#ends(line)) {
        code.lines.push(line);
        continue;
      }
      const after = [...lines.slice(n + 1), code.rest].join('\n');
      this.#push({ kind: 'code', text: code.lines.join('\n'), language: code.language });
      this.#code = null;
      this.#fence = null;
      if (after !== '') this.#feedMarkdown(after);
      return;
    }
  }

  #ends(line: string): boolean {
    const fence = this.#fence;
    if (!fence) return false;
    const trimmed = line.trim();
    return (
      trimmed.length >= fence.length && trimmed === fence.mark.repeat(trimmed.length) && !/^ {4}/.test(line)
    );
  }

  #close(token: Token): void {
    if (token.type === 'space') return;
    if (token.type === 'code' && FENCE.test(`${token.raw}\n`)) {
      this.#push({ kind: 'code', text: String(token['text']), language: String(token['lang'] ?? '') });
    } else {
      this.#push({ kind: 'markdown', text: token.raw, language: '' });
    }
  }

  #giveUp(): void {
    this.#push({ kind: 'plain', text: this.#open, language: '' });
    this.#open = '';
  }

  #push(block: Pick<Block, 'kind' | 'text' | 'language'>): void {
    if ((this.#groups.at(-1)?.length ?? GROUP) >= GROUP) this.#groups.push([]);
    this.#groups.at(-1)?.push({ id: this.#nextId, closed: true, ...block });
    this.#nextId += 1;
  }

  /** The block that is still being written; it keeps its id when it closes. */
  #openBlock(): Block | null {
    if (this.#code) {
      const { lines, rest, language } = this.#code;
      const text = lines.length === 0 ? rest : `${lines.join('\n')}\n${rest}`;
      return { id: this.#nextId, kind: 'code', text, language, closed: false };
    }
    if (this.#open.trim() === '') return null;
    return { id: this.#nextId, kind: 'markdown', text: this.#open, language: '', closed: false };
  }

  /** Full groups as they are, the last one with the open block behind it. */
  #shown(open: Block | null): readonly Group[] {
    const last = this.#groups.at(-1) ?? [];
    return [...this.#groups.slice(0, -1), open ? [...last, open] : [...last]];
  }

  /** Nothing more comes: whatever is open is whole now. */
  #finished(): readonly Group[] {
    const open = this.#openBlock();
    if (open?.kind === 'code') this.#push({ ...open, text: unfenced(open.text) });
    else for (const token of lex(this.#open) ?? []) this.#close(token);
    this.#code = null;
    this.#fence = null;
    this.#open = '';
    return this.#shown(null);
  }
}

/** Code that ended with the answer: a closing fence without its line break isn't code. */
function unfenced(text: string): string {
  return text.replace(/(^|\n) {0,3}(`{3,}|~{3,})[ \t]*$/, '');
}

function lex(source: string): Token[] | null {
  try {
    return new Lexer({ gfm: true }).blockTokens(source, []);
  } catch {
    return null;
  }
}

/** Index of the last token that isn't blank lines: everything before it can't change any more. */
function lastWithContent(tokens: readonly Token[]): number {
  let last = tokens.length - 1;
  while (last > 0 && tokens[last]?.type === 'space') last -= 1;
  return Math.max(last, 0);
}
