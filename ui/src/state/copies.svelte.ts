// What a person saves out of Daybook and takes into it: asked for here, chosen in the system's dialog, told when it is done.
//
// The page never learns where: it names what to save, and hears the name that was given.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Copied } from '../protocol/generated/Copied';
import type { CopyOf } from '../protocol/generated/CopyOf';
import type { Imported } from '../protocol/generated/Imported';

export type CopyNews =
  | { kind: 'saved'; copied: Copied }
  | { kind: 'exported'; copied: Copied }
  | { kind: 'imported'; imported: Imported }
  | { kind: 'failed'; failure: Failure };

export class Copies {
  news: CopyNews | null = $state.raw(null);
  /** Is something being chosen, written or taken in? One thing at a time. */
  busy = $state(false);
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  save(session: string, of: CopyOf): Promise<void> {
    return this.#one(async () => {
      const copied = await ask(this.#backend, { name: 'save_copy', args: { session, of } }, 'copied');
      return copied && { kind: of.kind === 'session' ? 'exported' : 'saved', copied };
    });
  }

  /** Gives the session that was taken in; null where none was. */
  async take(): Promise<string | null> {
    let session: string | null = null;
    await this.#one(async () => {
      const imported = await ask(this.#backend, { name: 'import_session' }, 'imported');
      session = imported?.session ?? null;
      return imported && { kind: 'imported', imported };
    });
    return session;
  }

  async #one(run: () => Promise<CopyNews | null>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.news = null;
    try {
      this.news = await run();
    } catch (thrown) {
      this.news = { kind: 'failed', failure: failureOf(thrown) };
    } finally {
      this.busy = false;
    }
  }
}
