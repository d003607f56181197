// Unsent words, kept for each session until they are sent: a reload or a closed window loses none of them.
//
// Drafts live in the page's own storage and in the field that is open, and nowhere else; a storage that refuses only costs
// the keeping. What is taken out of them is taken out of the open field too, or its next key would write it back.

const PREFIX = 'daybook/draft/';
/** Longest draft that is kept: more is pasted data, and storage is small. */
const LONGEST = 100_000;

export class Drafts {
  #storage: Storage | null;
  /** Takes words out of the field that is open. */
  #open: ((words: string) => void) | null = null;

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

  /** Says how words are taken out of the field that is open; returns the way to end that. */
  opened(forget: (words: string) => void): () => void {
    this.#open = forget;
    return () => {
      if (this.#open === forget) this.#open = null;
    };
  }

  /** Takes words out of every draft, kept or open. */
  forget(words: string): void {
    if (words === '') return;
    this.#forgetKept(words);
    this.#open?.(words);
  }

  write(session: string, text: string): void {
    try {
      if (text === '') this.#storage?.removeItem(PREFIX + session);
      else if (text.length <= LONGEST) this.#storage?.setItem(PREFIX + session, text);
    } catch {
      // Storage is full or switched off; the words are still in the field.
    }
  }

  #forgetKept(words: string): void {
    try {
      const keys = Object.keys(this.#storage ?? {}).filter((key) => key.startsWith(PREFIX));
      for (const key of keys) {
        const draft = this.#storage?.getItem(key) ?? '';
        if (draft.includes(words)) this.write(key.slice(PREFIX.length), draft.replaceAll(words, ''));
      }
    } catch {
      // A storage that refuses keeps nothing.
    }
  }
}
