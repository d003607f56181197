// Erasing words from the record of a session: what stands at a place, which of it is marked, and where else it stands.
//
// Invariants: the words to erase are kept nowhere but here, and not after the sheet is closed; what is shown as going is
// what the engine was asked about last.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { ErasePlace } from '../protocol/generated/ErasePlace';
import type { EraseWhy } from '../protocol/generated/EraseWhy';
import type { ErasedView } from '../protocol/generated/ErasedView';
import type { HeldPermission } from '../protocol/generated/HeldPermission';

/** Erases the same words from what this page keeps itself. */
export type Forget = (words: string) => void;

/** Says a failure to somebody who closed the sheet before it came. */
export type Tell = (failure: Failure) => void;

/** Of a call: what came of it, or what it was asked to do. */
export type CallPart = 'said' | 'asked';

/** What stands where words were erased. */
const MARK = '[erased by the person]';

/** Is nothing left here but the marks of what was erased? */
export function isErased(text: string): boolean {
  return text.includes(MARK) && text.replaceAll(MARK, '').trim() === '';
}

export class Erasing {
  /** An entry's key or a call's id; null while nothing is being erased. */
  place: string | null = $state.raw(null);
  /** Which part of a call is meant; null where it is no call. */
  part: CallPart | null = $state.raw(null);
  /** All that stands there; null before it is known. */
  says: string | null = $state.raw(null);
  /** The marked words; empty where none are. */
  marked = $state('');
  /** Was all that stands there chosen? */
  all = $state(false);
  /** Where the words stand; null while that is asked. */
  places: readonly ErasePlace[] | null = $state.raw(null);
  /** Other sessions that hold the words. */
  elsewhere = $state(0);
  /** What was allowed for good and holds them. */
  permissions: readonly HeldPermission[] = $state.raw([]);
  /** Why; null before it is said. */
  why: EraseWhy | null = $state(null);
  /** From the other sessions as well? */
  everywhere = $state(false);
  /** Ids of the permissions that are revoked with it. */
  revoke: string[] = $state([]);
  busy = $state(false);
  problem: Failure | null = $state.raw(null);
  done: ErasedView | null = $state.raw(null);
  #backend: Backend;
  #session: string;
  #forget: Forget;
  #tell: Tell;
  #asked = 0;

  constructor(backend: Backend, session: string, forget: Forget, tell: Tell) {
    this.#backend = backend;
    this.#session = session;
    this.#forget = forget;
    this.#tell = tell;
  }

  /** Opens the sheet for a place; of a call, for one of its parts. */
  async want(place: string, part: CallPart | null = null): Promise<void> {
    this.close();
    this.place = place;
    this.part = part;
    await this.#look();
  }

  /** Turns to the other part of the call. */
  async turn(part: CallPart): Promise<void> {
    if (this.place === null || part === this.part || this.busy || this.done) return;
    await this.want(this.place, part);
  }

  /** Was it said what goes, and is it known where that stands? */
  get ready(): boolean {
    return this.places !== null && (this.all || this.marked !== '') && this.why !== null && !this.busy;
  }

  /** Marks words of what stands there. */
  async mark(words: string): Promise<void> {
    const marked = words.trim();
    if (marked === this.marked || this.busy || this.done) return;
    this.marked = marked;
    if (marked !== '') this.all = false;
    await this.#look();
  }

  /** Chooses all that stands there, or not. */
  async everything(all: boolean): Promise<void> {
    if (this.busy || this.done) return;
    this.all = all;
    if (all && this.marked !== '') {
      this.marked = '';
      await this.#look();
    }
  }

  async confirm(): Promise<void> {
    const { place, why } = this;
    if (place === null || why === null || !this.ready) return;
    this.busy = true;
    this.problem = null;
    const { everywhere } = this;
    const held = this.permissions.map(({ id }) => id);
    const revoke = this.revoke.filter((id) => held.includes(id));
    const args = { ...this.#target(place), why, everywhere: everywhere && this.elsewhere > 0, revoke };
    const words = this.marked || (this.says ?? '');
    const asked = this.#asked;
    try {
      const done = await ask(this.#backend, { name: 'erase', args }, 'erased');
      this.#forget(words);
      // The sheet may have been closed, or opened at another place, meanwhile.
      if (asked === this.#asked) {
        this.done = done;
        this.says = null;
        this.marked = '';
        this.all = false;
      }
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (asked === this.#asked) this.problem = failure;
      else this.#tell(failure);
    }
    this.busy = false;
  }

  close(): void {
    this.#asked += 1;
    this.place = null;
    this.says = null;
    this.marked = '';
    this.all = false;
    this.places = null;
    this.problem = null;
    this.done = null;
    this.why = null;
    this.part = null;
    this.everywhere = false;
    this.revoke = [];
  }

  #target(place: string): { session: string; place: string; text: string | null } {
    const named = this.part === 'asked' ? `asked:${place}` : place;
    return { session: this.#session, place: named, text: this.marked || null };
  }

  /** Asks where the words stand; only the last answer counts. */
  async #look(): Promise<void> {
    if (this.place === null) return;
    this.#asked += 1;
    const asked = this.#asked;
    this.places = null;
    this.problem = null;
    try {
      const args = this.#target(this.place);
      const found = await ask(this.#backend, { name: 'preview_erase', args }, 'erase_preview');
      if (asked !== this.#asked) return;
      this.says = found.says;
      this.places = found.places;
      this.elsewhere = found.elsewhere;
      this.permissions = found.permissions;
    } catch (thrown) {
      if (asked === this.#asked) this.problem = failureOf(thrown);
    }
  }
}
