// The record of a session as it is looked at: its outline, the lines that are on the screen, and the event that is chosen.
//
// The outline has one letter an event, so a record of any length can be filtered and drawn without being read; lines come
// in blocks when they are wanted. Numbers are the record's own, the same that live events carry.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Moment } from '../protocol/generated/Moment';
import type { RecordBreak } from '../protocol/generated/RecordBreak';
import type { RecordEvent } from '../protocol/generated/RecordEvent';
import type { RecordLine } from '../protocol/generated/RecordLine';
import type { Saw } from '../protocol/generated/Saw';

/** What the list can be narrowed to, each with the letters it takes. */
export const FAMILIES = {
  all: '',
  words: 'ma',
  steps: 'ntps',
  calls: 'cf',
  approvals: 'y',
  changes: 'f',
  recovery: 'r',
} as const;
export type Family = keyof typeof FAMILIES;

/** Lines asked for at once. */
export const BLOCK = 100;
/** Milliseconds between reading on while the session works. */
const FOLLOW_MS = 400;
/** Milliseconds a moment must be stayed at before it is read. */
const SETTLE_MS = 120;
/** Milliseconds an event is stayed at while the record is played. */
const PLAY_MS = 700;

/** What is known of one event, each as soon as it is there. */
export interface Looked {
  seq: number;
  moment: Moment | null;
  saw: Saw | null;
  event: RecordEvent | null;
}

export class RecordLog {
  /** One letter an event; see the wire. */
  letters = $state.raw('');
  began: number | null = $state.raw(null);
  ended: number | null = $state.raw(null);
  broken: RecordBreak | null = $state.raw(null);
  loaded = $state(false);
  problem: Failure | null = $state.raw(null);
  family: Family = $state('all');
  playing = $state(false);
  looked: Looked | null = $state.raw(null);
  /** The event that was chosen; null is the newest, whichever that is. */
  chosen: number | null = $state.raw(null);
  readonly session: string;
  #backend: Backend;
  #blocks: Record<number, readonly RecordLine[]> = $state.raw({});
  // Notes of what is under way, not state: nothing on screen reads them.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #wanted = new Map<number, number>();
  #opening: object | null = null;
  #reading = false;
  #again = false;
  #follow: ReturnType<typeof setTimeout> | undefined;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #play: ReturnType<typeof setInterval> | undefined;

  total = $derived.by(() => this.letters.length);
  at = $derived.by(() => this.chosen ?? Math.max(this.letters.length - 1, 0));
  /** How many events each family has. */
  counts = $derived.by(() => countsOf(this.letters));
  /** The events in the list. */
  shown = $derived.by(() => chosenOf(this.letters, FAMILIES[this.family]));
  /** Where turns begin. */
  turns = $derived.by(() => placesOf(this.letters, 'n'));

  constructor(backend: Backend, session: string) {
    this.#backend = backend;
    this.session = session;
  }

  /** Reads it; from its beginning where the session was opened anew, which it is when words were erased. */
  open(opening: object): Promise<void> {
    if (this.#opening !== opening) {
      this.#opening = opening;
      this.letters = '';
      this.#blocks = {};
      this.#wanted.clear();
      this.looked = null;
    }
    return this.load();
  }

  /** Reads on from where the outline ends. */
  async load(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        const from = this.letters.length;
        const args = { session: this.session, from };
        const more = await ask(this.#backend, { name: 'record_outline', args }, 'record_outline');
        // Opened anew meanwhile: what came is for what was there before.
        if (from !== this.letters.length) {
          this.#again = true;
          continue;
        }
        if (more.letters) this.letters += more.letters;
        this.began = more.began;
        this.ended = more.ended;
        this.broken = more.broken;
      } while (this.#again);
      this.loaded = true;
      this.problem = null;
    } catch (thrown) {
      this.problem = failureOf(thrown);
    } finally {
      this.#reading = false;
    }
  }

  /** Something was recorded: read on soon, once for many. */
  follow(): void {
    this.#follow ??= setTimeout(() => {
      this.#follow = undefined;
      void this.load();
    }, FOLLOW_MS);
  }

  stop(): void {
    clearTimeout(this.#follow);
    this.#follow = undefined;
    clearTimeout(this.#settle);
    this.pause();
  }

  /** A line, as far as it is here; `want` gets what isn't. */
  line(seq: number): RecordLine | undefined {
    return this.#blocks[Math.floor(seq / BLOCK)]?.[seq % BLOCK];
  }

  want(seq: number): void {
    const block = Math.floor(seq / BLOCK);
    const due = Math.min(BLOCK, this.total - block * BLOCK);
    if (due <= 0 || (this.#wanted.get(block) ?? 0) >= due) return;
    this.#wanted.set(block, due);
    void this.#read(block);
  }

  async #read(block: number): Promise<void> {
    const args = { session: this.session, from: block * BLOCK, count: BLOCK };
    const opening = this.#opening;
    try {
      const lines = await ask(this.#backend, { name: 'record_lines', args }, 'record_lines');
      if (opening === this.#opening) this.#blocks = { ...this.#blocks, [block]: lines };
    } catch (thrown) {
      this.#wanted.delete(block);
      this.problem = failureOf(thrown);
    }
  }

  /** The number of the turn that an event belongs to, from 1; 0 before the first. */
  turnOf(seq: number): number {
    let [low, high] = [0, this.turns.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.turns[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Chooses an event; the last one is the newest from then on. */
  choose(seq: number): void {
    const last = Math.max(this.total - 1, 0);
    const to = Math.min(Math.max(seq, 0), last);
    this.chosen = to === last ? null : to;
  }

  /** To the event before or after, of those in the list. */
  step(by: 1 | -1): boolean {
    const { shown, at } = this;
    const place = by > 0 ? after(shown, at) : after(shown, at - 1) - 1;
    const to = shown[place];
    if (to === undefined) return false;
    this.choose(to);
    return true;
  }

  /** Goes through the events one after the other, from the beginning where the end is looked at. */
  play(): void {
    if (this.playing || this.shown.length === 0) return;
    if (after(this.shown, this.at) >= this.shown.length) this.choose(this.shown[0] ?? 0);
    this.playing = true;
    this.#play = setInterval(() => {
      if (!this.step(1)) this.pause();
    }, PLAY_MS);
  }

  pause(): void {
    clearInterval(this.#play);
    this.playing = false;
  }

  /** Looks at an event once it is stayed at: how things stood then, and what the model saw where it is of a step. */
  look(seq: number): void {
    clearTimeout(this.#settle);
    if (seq >= this.total || this.looked?.seq === seq) return;
    this.#settle = setTimeout(() => void this.#look(seq), SETTLE_MS);
  }

  async #look(seq: number): Promise<void> {
    const args = { session: this.session, seq };
    const opening = this.#opening;
    const here = () => this.at === seq && opening === this.#opening;
    try {
      const moment = await ask(this.#backend, { name: 'moment', args }, 'moment');
      if (!here()) return;
      const saw = ofRequest(this.letters[seq]) ? await this.#saw(seq) : null;
      if (!here()) return;
      this.looked = { seq, moment, saw, event: null };
      this.problem = null;
    } catch (thrown) {
      if (here()) this.problem = failureOf(thrown);
    }
  }

  async #saw(seq: number): Promise<Saw | null> {
    try {
      return await ask(this.#backend, { name: 'saw', args: { session: this.session, seq } }, 'saw');
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.code === 'record/no_request') return null;
      throw failure;
    }
  }

  /** Reads the chosen event exactly as recorded. */
  async readEvent(): Promise<void> {
    const { looked } = this;
    if (!looked || looked.event) return;
    const opening = this.#opening;
    const args = { session: this.session, seq: looked.seq };
    try {
      const event = await ask(this.#backend, { name: 'record_event', args }, 'record_event');
      if (opening !== this.#opening) return;
      if (this.looked?.seq === event.seq) this.looked = { ...this.looked, event };
    } catch (thrown) {
      if (opening === this.#opening) this.problem = failureOf(thrown);
    }
  }

  /** A piece of a request, exactly as it was sent. */
  async body(seq: number, from: number): Promise<{ text: string; next: number | null }> {
    return ask(this.#backend, { name: 'saw_body', args: { session: this.session, seq, from } }, 'saw_body');
  }
}

/** Does a letter belong to what goes on around a request? */
function ofRequest(letter: string | undefined): boolean {
  return letter !== undefined && 'sadp'.includes(letter.toLowerCase());
}

function countsOf(letters: string): { [family in Family]: number } {
  const by: { [letter in string]?: number } = {};
  for (const letter of letters) {
    const small = letter.toLowerCase();
    by[small] = (by[small] ?? 0) + 1;
  }
  const count = (of: string) => [...of].reduce((sum, letter) => sum + (by[letter] ?? 0), 0);
  const counts = Object.entries(FAMILIES).map(([family, of]) => [
    family,
    of === '' ? letters.length : count(of),
  ]);
  return Object.fromEntries(counts) as { [family in Family]: number };
}

function chosenOf(letters: string, of: string): readonly number[] {
  if (of === '') return Array.from(letters, (_, seq) => seq);
  return placesOf(letters, of);
}

function placesOf(letters: string, of: string): readonly number[] {
  const places: number[] = [];
  for (let seq = 0; seq < letters.length; seq += 1) {
    if (of.includes((letters[seq] ?? '').toLowerCase())) places.push(seq);
  }
  return places;
}

/** The place of the first of these that is greater. */
function after(sorted: readonly number[], than: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= than) low = middle + 1;
    else high = middle;
  }
  return low;
}
