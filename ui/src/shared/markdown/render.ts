// One block of Markdown as a document fragment in which nothing can load, run, navigate or style itself.
//
// HTML in the source is shown as text. Pictures become links, links become buttons that carry their target and go
// nowhere. What is left passes the sanitiser's short list; the window's policy is the wall behind it.
import DOMPurify from 'dompurify';
import { Marked, type RendererObject, type Tokens } from 'marked';
import { highlight } from './highlight';

const TAGS = [
  ...['p', 'br', 'strong', 'em', 'del', 'code', 'pre', 'ul', 'ol', 'li', 'blockquote', 'hr', 'a'],
  ...['h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];
/** Longest target that is kept; what is longer isn't an address anybody reads. */
const LONGEST_TARGET = 10_000;

const renderer: RendererObject = {
  html({ text, block }: Tokens.HTML | Tokens.Tag) {
    if (/^<br\s*\/?>$/i.test(text.trim())) return '<br>';
    return block ? `<p>${escape(text.trim())}</p>` : escape(text);
  },
  heading({ tokens, depth }: Tokens.Heading) {
    const tag = `h${Math.min(depth + 2, 6)}`;
    return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
  },
  link({ href, tokens }: Tokens.Link) {
    return link(href, this.parser.parseInline(tokens));
  },
  image({ href, text }: Tokens.Image) {
    return link(href, escape(text || href));
  },
  checkbox({ checked }: Tokens.Checkbox) {
    return checked ? '☑ ' : '☐ ';
  },
  code({ text, lang }: Tokens.Code) {
    const language = (lang ?? '').split(/\s/)[0] ?? '';
    return `<pre><code data-language="${escape(language)}">${escape(text)}</code></pre>`;
  },
  tablecell(cell: Tokens.TableCell) {
    const tag = cell.header ? 'th' : 'td';
    return `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
  },
};

const marked = new Marked({ gfm: true, async: false, renderer });

/** The block as nodes. `closed` blocks get colours in their code. */
export function renderMarkdown(source: string, closed: boolean): DocumentFragment {
  const fragment = parse(source);
  for (const anchor of fragment.querySelectorAll('a')) anchor.replaceWith(button(anchor));
  for (const table of fragment.querySelectorAll('table')) wrap(table);
  if (closed) for (const code of fragment.querySelectorAll<HTMLElement>('pre > code')) colour(code);
  return fragment;
}

/** What a text says without its marks, for places that show words alone. */
export function plainWords(source: string): string {
  return (parse(source).textContent ?? '').trim();
}

function parse(source: string): DocumentFragment {
  let html: string;
  try {
    html = marked.parse(source) as string;
  } catch {
    html = `<p>${escape(source)}</p>`;
  }
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['data-target', 'data-language', 'start'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    FORBID_TAGS: ['img', 'style', 'form', 'svg', 'math', 'input', 'button'],
    RETURN_DOM_FRAGMENT: true,
  });
}

function link(target: string, inner: string): string {
  return `<a data-target="${escape(target.slice(0, LONGEST_TARGET))}">${inner}</a>`;
}

/** A link that goes nowhere by itself: whoever shows it hears the click and shows the target. */
function button(anchor: HTMLAnchorElement): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'md-link';
  made.dataset['target'] = anchor.dataset['target'] ?? '';
  made.append(...anchor.childNodes);
  return made;
}

/** Wide tables scroll by themselves. */
function wrap(table: HTMLTableElement): void {
  const box = document.createElement('div');
  box.className = 'md-table';
  box.tabIndex = 0;
  table.replaceWith(box);
  box.append(table);
}

function colour(code: HTMLElement): void {
  const coloured = highlight(code.textContent ?? '', code.dataset['language'] ?? '');
  if (coloured) code.replaceChildren(coloured);
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
