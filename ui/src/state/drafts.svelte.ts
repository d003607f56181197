// Unsent words, kept for each session until they are sent: a reload or a closed window loses none of them.
//
// Drafts live in the page's own storage and nowhere else; a storage that refuses only costs the keeping.

const PREFIX = 'daybook/draft/';
/** Longest draft that is kept: more is pasted data, and storage is small. */
const LONGEST = 100_000;

export class Drafts {
  #storage: Storage | null;

  constructor(storage: Storage | null) {
    this.#storage = storage;
  }

  read(session: string): string {
    try {
      return this.#storage?.getItem(PREFIX + session) ?? '';
    } catch {
      return '';
    }
  }

  write(session: string, text: string): void {
    try {
      if (text === '') this.#storage?.removeItem(PREFIX + session);
      else if (text.length <= LONGEST) this.#storage?.setItem(PREFIX + session, text);
    } catch {
      // Storage is full or switched off; the words are still in the field.
    }
  }
}
