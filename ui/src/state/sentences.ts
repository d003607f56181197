// Whole sentences out of a text that is still being written, for people who listen to it.
//
// Each call looks only at what came since the last whole sentence, so the cost doesn't grow with the text.

const END = /[.!?](?=\s)|[。！？]|\n/g;
/** A run without any sentence end is spoken once it is this long. */
const LONGEST = 400;

export class Sentences {
  #spoken = 0;

  /** Passes over a text that was there before anyone listened. */
  skip(text: string): void {
    this.#spoken = text.length;
  }

  /** The sentences completed since the last call, or an empty text. `done` gives out the rest too. */
  next(text: string, done: boolean): string {
    if (text.length < this.#spoken) this.#spoken = 0;
    const fresh = text.slice(this.#spoken, this.#spoken + 20_000);
    const end = done ? fresh.length : lastEnd(fresh);
    if (end === 0) return '';
    this.#spoken += end;
    return fresh.slice(0, end).trim();
  }
}

function lastEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(END)) end = match.index + match[0].length;
  if (end === 0 && text.length > LONGEST) return Math.max(text.lastIndexOf(' '), 0);
  return end;
}
