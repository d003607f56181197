// Text from outside, made safe to look at: what is invisible, turns the direction or hides something gets a code.
//
// The code is ⟨U+202E⟩ and the like. Line breaks and tabs stay; everything else that draws nothing is shown.

/** Controls, direction marks, zero-width characters, fillers, tags and variation tricks. */
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The text with everything hidden made visible, cut to `longest` characters in its middle. */
export function visible(text: string, longest = 10_000): string {
  return shorten(text, longest).replace(HIDDEN, code);
}

/** Is there something in it that can't be seen? */
export function hidesSomething(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

/** A long text with its middle left out, so that its tail stays in view. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const head = Math.ceil(longest * 0.6);
  return `${text.slice(0, head)} … ${text.slice(text.length - (longest - head))}`;
}

/** A long line with words of its middle left out, so that none is cut; one that has no words is cut all the same. */
export function atWords(line: string, longest: number): string {
  if (line.length <= longest) return line;
  const head = Math.ceil(longest * 0.6);
  const first = line.slice(0, head + 1).replace(/\s+\S*$/, '');
  const last = line.slice(head - longest - 1).replace(/^\S*\s+/, '');
  const whole = first.length <= head && last !== '' && last.length < longest - head + 1;
  return whole ? `${first} … ${last}` : shorten(line, longest);
}

/** One line of it: for titles, names and paths. */
export function oneLine(text: string, longest = 200): string {
  return visible(
    text
      .slice(0, longest * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    longest,
  );
}

function code(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
