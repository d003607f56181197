// One session as it stands: the fold of its view and of the patches that carry it forward.
//
// Each entry is a cell of its own, so more text for one answer touches that cell and nothing else, however long the
// conversation is. Nothing is guessed: what isn't in the fold isn't on the screen.
import type { Activity } from '../protocol/generated/Activity';
import type { AddedFolder } from '../protocol/generated/AddedFolder';
import type { CallView } from '../protocol/generated/CallView';
import type { Effort } from '../protocol/generated/Effort';
import type { Entry } from '../protocol/generated/Entry';
import type { EntryBody } from '../protocol/generated/EntryBody';
import type { Folder } from '../protocol/generated/Folder';
import type { JobView } from '../protocol/generated/JobView';
import type { Mode } from '../protocol/generated/Mode';
import type { ModelChoice } from '../protocol/generated/ModelChoice';
import type { Patch } from '../protocol/generated/Patch';
import type { Plan } from '../protocol/generated/Plan';
import type { Spent } from '../protocol/generated/Spent';
import type { SessionView } from '../protocol/generated/SessionView';
import type { Tokens } from '../protocol/generated/Tokens';
import type { UndoView } from '../protocol/generated/UndoView';
import { withJob } from '../protocol/jobs';
import { appendOutput } from '../protocol/output';
import type { WaitingMessage } from '../protocol/generated/WaitingMessage';

/** One entry: its place and time never change, its body does. */
export class Cell {
  readonly key: string;
  readonly time: number;
  body: EntryBody = $state.raw({ kind: 'said', text: '' });

  constructor(entry: Entry) {
    this.key = entry.key;
    this.time = entry.time;
    this.body = entry.body;
  }
}

export class SessionFold {
  readonly id: string;
  readonly folder: Folder;
  readonly tour: boolean;
  readonly readOnly: string | null;
  title = $state('');
  /** Other folders it may look at. */
  added: AddedFolder[] = $state.raw([]);
  mode: Mode = $state('ask');
  model: ModelChoice | null = $state.raw(null);
  effort: Effort | null = $state(null);
  activity: Activity = $state.raw({ kind: 'idle' });
  plan: Plan | null = $state.raw(null);
  waiting: WaitingMessage[] = $state.raw([]);
  /** Commands in the background, in the order they were made: all that are open, and those that ended lately. */
  jobs: JobView[] = $state.raw([]);
  changedFiles = $state(0);
  tokens: Tokens = $state.raw({ input: 0, cached: 0, output: 0 });
  /** What these cost, and how much more than the session's limit was allowed. */
  spent: Spent = $state.raw({ micros: 0, sure: 'exact', raised: 0 });
  cells: Cell[] = $state.raw([]);
  /** Keys of entries that wait for the person, oldest first. */
  open: string[] = $state.raw([]);
  /** Returns to how things were, oldest first. */
  undos: UndoView[] = $state.raw([]);
  /** Last event folded in. */
  seq = $state(0);
  // Indexes, not state: nothing on screen reads them.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #byKey = new Map<string, Cell>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  #callEntry = new Map<string, string>();

  constructor(view: SessionView) {
    this.id = view.id;
    this.folder = view.folder;
    this.tour = view.tour;
    this.readOnly = view.read_only;
    this.seq = view.seq;
    this.title = view.title;
    this.added = view.added;
    this.mode = view.mode;
    this.model = view.model;
    this.effort = view.effort;
    this.activity = view.activity;
    this.plan = view.plan;
    this.waiting = view.waiting;
    this.jobs = view.jobs;
    this.changedFiles = view.changed_files;
    this.tokens = view.tokens;
    this.spent = view.spent;
    this.cells = view.entries.map((entry) => this.#remember(new Cell(entry)));
    this.undos = this.cells.flatMap(({ body }) => (body.kind === 'undo' ? [body.undo] : []));
    this.open = this.cells.filter((cell) => needsPerson(cell.body)).map((cell) => cell.key);
  }

  /**
   * Folds patches up to and including `seq` in. What is older than the view is passed over; pieces that stream before
   * they are recorded carry the number of the last event, and come once.
   */
  apply(seq: number, patches: readonly Patch[]): void {
    if (seq < this.seq) return;
    for (const patch of patches) this.#patch(patch);
    this.seq = seq;
  }

  /** Was nothing said in it yet? */
  get untouched(): boolean {
    return this.cells.length === 0 && this.waiting.length === 0 && this.readOnly === null;
  }

  cell(key: string): Cell | undefined {
    return this.#byKey.get(key);
  }

  #patch(patch: Patch): void {
    switch (patch.kind) {
      case 'entry':
        return this.#put(patch.entry);
      case 'text':
        return this.#addText(patch.key, patch.text);
      case 'output':
        return this.#addOutput(patch.call, patch.text);
      case 'removed':
        return this.#remove(patch.key);
      case 'job':
        this.jobs = withJob(this.jobs, patch.job);
        return;
      case 'job_output':
        this.jobs = this.jobs.map((job) =>
          job.id === patch.job ? { ...job, output: appendOutput(job.output, patch.text) } : job,
        );
        return;
      case 'plan':
        this.plan = patch.plan;
        return;
      case 'waiting':
        this.waiting = patch.waiting;
        return;
      case 'added':
        this.added = patch.added;
        return;
      case 'activity':
        this.activity = patch.activity;
        return;
      case 'meta':
        this.title = patch.title;
        this.mode = patch.mode;
        this.model = patch.model;
        this.effort = patch.effort;
        this.changedFiles = patch.changed_files;
        this.tokens = patch.tokens;
        this.spent = patch.spent;
        return;
    }
  }

  #put(entry: Entry): void {
    const known = this.#byKey.get(entry.key);
    if (known) {
      known.body = entry.body;
      this.#rememberCalls(known);
    } else {
      this.cells = [...this.cells, this.#remember(new Cell(entry))];
    }
    this.#track(entry.key, needsPerson(entry.body));
    if (entry.body.kind === 'undo') this.#trackUndo(entry.body.undo);
  }

  #trackUndo(undo: UndoView): void {
    const known = this.undos.some((other) => other.id === undo.id);
    this.undos = known
      ? this.undos.map((other) => (other.id === undo.id ? undo : other))
      : [...this.undos, undo];
  }

  #addText(key: string, text: string): void {
    const cell = this.#byKey.get(key);
    if (cell?.body.kind === 'answer') cell.body = { ...cell.body, text: cell.body.text + text };
  }

  #addOutput(call: string, text: string): void {
    const cell = this.#byKey.get(this.#callEntry.get(call) ?? '');
    if (cell?.body.kind !== 'calls') return;
    const calls = cell.body.calls.map((view) =>
      view.id === call ? { ...view, output: appendOutput(view.output, text) } : view,
    );
    cell.body = { kind: 'calls', calls };
  }

  #remove(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.cells = this.cells.filter((cell) => cell.key !== key);
    this.#track(key, false);
  }

  #track(key: string, waits: boolean): void {
    const listed = this.open.includes(key);
    if (waits && !listed) this.open = [...this.open, key];
    if (!waits && listed) this.open = this.open.filter((other) => other !== key);
  }

  #remember(cell: Cell): Cell {
    this.#byKey.set(cell.key, cell);
    this.#rememberCalls(cell);
    return cell;
  }

  #rememberCalls(cell: Cell): void {
    for (const call of callsOf(cell.body)) this.#callEntry.set(call.id, cell.key);
  }
}

/** Does this entry wait for the person? */
export function needsPerson(body: EntryBody): boolean {
  switch (body.kind) {
    case 'approval':
      return body.approval.state.kind === 'open';
    case 'question':
      return body.question.answer === null;
    case 'unknown':
      return body.resolution === null;
    case 'said':
    case 'answer':
    case 'calls':
    case 'history':
    case 'notice':
    case 'undo':
    case 'turn_end':
      return false;
  }
}

function callsOf(body: EntryBody): readonly CallView[] {
  return body.kind === 'calls' ? body.calls : [];
}
