// Coming back: which session is shown when the window opens again.
//
// The newest one, if there is one that can be shown; the tour and a damaged one are left to the list. A session that
// was to be shown and never reached the screen is not tried again at the next start, so that no conversation, however
// odd, can keep the window from opening.
import type { SessionSummary } from '../protocol/generated/SessionSummary';

const KEY = 'daybook.opening';

export class Comeback {
  #storage: Storage | null;

  constructor(storage: Storage | null) {
    this.#storage = storage;
  }

  /** Id of the session to show, null for the start page. Remembers that it is being tried. */
  choose(sessions: readonly SessionSummary[]): string | null {
    const newest = sessions
      .filter((session) => !session.tour && session.state !== 'damaged')
      .reduce<SessionSummary | null>(
        (best, session) => (best && best.updated >= session.updated ? best : session),
        null,
      );
    const tried = this.#read();
    this.#write(null);
    if (!newest || newest.id === tried) return null;
    this.#write(newest.id);
    return newest.id;
  }

  /** It is on the screen. */
  shown(): void {
    this.#write(null);
  }

  #read(): string | null {
    try {
      return this.#storage?.getItem(KEY) ?? null;
    } catch {
      return null;
    }
  }

  /** Without a store nothing is remembered, and coming back is tried each time. */
  #write(id: string | null): void {
    try {
      if (id === null) this.#storage?.removeItem(KEY);
      else this.#storage?.setItem(KEY, id);
    } catch {
      return;
    }
  }
}
