// The output that a view holds of a call or a job: its end, by lines and bytes, as the service holds it.

/** Lines of an output that are kept for showing. */
export const OUTPUT_LINES = 200;
/** And bytes of these, in UTF-8. */
const OUTPUT_BYTES = 16 * 1024;

/** Appends to an output and keeps its end. */
export function appendOutput(output: string, text: string): string {
  const lines = lastLines(output + text, OUTPUT_LINES);
  const from = startOfLast(lines, OUTPUT_BYTES);
  return from === 0 ? lines : `…${lines.slice(from)}`;
}

/** The last lines of a text, without walking through what comes before them. */
function lastLines(text: string, lines: number): string {
  let at = text.length;
  if (text.endsWith('\n')) at -= 1;
  for (let n = 0; n < lines; n += 1) {
    at = text.lastIndexOf('\n', at - 1);
    if (at < 0) return text;
  }
  return text.slice(at + 1);
}

/** Where the last bytes of a text begin, at a whole character. */
function startOfLast(text: string, bytes: number): number {
  // No unit takes more than three.
  if (text.length * 3 <= bytes) return 0;
  let left = bytes;
  let at = text.length;
  while (at > 0) {
    const second = (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00;
    const start = second ? at - 2 : at - 1;
    left -= second ? 4 : bytesOf(text.charCodeAt(start));
    if (left < 0) return at;
    at = start;
  }
  return 0;
}

function bytesOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}
