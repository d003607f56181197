// Colours for code, as a document fragment. A dozen languages; anything else, and anything large, stays plain.
import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const languages = { bash, css, diff, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

/** Beyond this a text is shown plain: colouring must never be what the window waits for. */
const LONGEST = 20_000;
/** A line longer than this is data, and what makes patterns slow. */
const LONGEST_LINE = 1_000;

/** The code in colours, or null when it stays plain. */
export function highlight(code: string, language: string): DocumentFragment | null {
  const name = language.toLowerCase();
  if (code.length > LONGEST || hljs.getLanguage(name) === undefined) return null;
  if (code.split('\n').some((line) => line.length > LONGEST_LINE)) return null;
  const { value } = hljs.highlight(code, { language: name, ignoreIllegals: true });
  return DOMPurify.sanitize(value, {
    ALLOWED_TAGS: ['span'],
    ALLOWED_ATTR: ['class'],
    RETURN_DOM_FRAGMENT: true,
  });
}
