// What waits for the person over all sessions, as the engine tells it, and answering it from the list.
//
// The order: what waits in the session that is shown, then the rest, oldest first. Invariant: one answer at a time, and
// each names what it answers, so that one click never answers two.
import { failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { Need } from '../protocol/generated/Need';

/** Something that waits, with the session it waits in. */
export interface Waiting {
  session: string;
  need: Need;
}

/** An entry of a session that is to be looked at. */
export interface Review {
  session: string;
  entry: string;
}

export class Queue {
  /** Is the list on the screen? Only the person shows and hides it. */
  shown = $state(false);
  /** What is being answered. */
  answering: string | null = $state(null);
  /** Why the last answer wasn't taken. */
  problem: Failure | null = $state.raw(null);
  /** What the person wants to look at, until it is on the screen. */
  review: Review | null = $state.raw(null);
  #told: readonly Waiting[] = $state.raw([]);
  /** Answered here, and not told yet that they are gone. */
  #answered: readonly string[] = $state.raw([]);
  #all: readonly Waiting[] = $derived(
    this.#told
      .filter(({ need }) => !this.#answered.includes(need.id))
      .toSorted((one, other) => one.need.since - other.need.since || (one.need.id < other.need.id ? -1 : 1)),
  );
  count = $derived(this.#all.length);
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Everything that waits, what waits in this session first. */
  order(session: string | null): readonly Waiting[] {
    const here = this.#all.filter((one) => one.session === session);
    return here.length === 0 ? this.#all : [...here, ...this.#all.filter((one) => one.session !== session)];
  }

  /** What waits in one session now. */
  put(session: string, needs: readonly Need[]): void {
    const others = this.#told.filter((one) => one.session !== session);
    this.#told = [...others, ...needs.map((need) => ({ session, need }))];
    this.#answered = this.#answered.filter((id) => this.#told.some(({ need }) => need.id === id));
  }

  toggle(): void {
    this.shown = !this.shown;
    this.problem = null;
  }

  /** Puts it away; nothing is decided by that. */
  hide(): void {
    this.shown = false;
    this.problem = null;
  }

  /** Says yes to one request, by the digest of what its line showed. Only where the line shows all of it. */
  async approve({ session, need }: Waiting): Promise<boolean> {
    if (need.what.kind !== 'approval' || !need.what.whole) return false;
    const { digest } = need.what;
    const args = { session, approval: need.id, digest, offer: null, lasting: false };
    return this.#answer(need.id, { name: 'approve', args });
  }

  async refuse({ session, need }: Waiting): Promise<boolean> {
    if (need.what.kind !== 'approval') return false;
    return this.#answer(need.id, { name: 'refuse', args: { session, approval: need.id, why: null } });
  }

  async #answer(id: string, command: Command): Promise<boolean> {
    if (this.answering !== null || this.#answered.includes(id)) return false;
    this.answering = id;
    try {
      await tell(this.#backend, command);
      this.#answered = [...this.#answered, id];
      this.problem = null;
      return true;
    } catch (thrown) {
      this.problem = failureOf(thrown);
      return false;
    } finally {
      this.answering = null;
    }
  }
}
