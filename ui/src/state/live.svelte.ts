// A session that is open on the screen: its fold, the subscription that carries it forward, and what can be said to it.
//
// When the page falls behind, the session is opened again from the record and followed from there. Each thing sent has
// an id made once, so that sending again after a lost answer is one message.
import { ask, failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { Effort } from '../protocol/generated/Effort';
import type { Intent } from '../protocol/generated/Intent';
import type { Mode } from '../protocol/generated/Mode';
import type { ModelChoice } from '../protocol/generated/ModelChoice';
import type { Notification } from '../protocol/generated/Notification';
import type { PastLimit } from '../protocol/generated/PastLimit';
import type { Resolution } from '../protocol/generated/Resolution';
import { SessionFold } from './session.svelte';

/** Milliseconds until a session that can't be read again is tried once more: doubled each time, up to the last. */
const RETRY_MS = { first: 1_000, last: 16_000 };

/** More than this once: one of a request's offers, by its place. */
export interface More {
  offer: number;
  lasting: boolean;
}

export class LiveSession {
  readonly id: string;
  fold: SessionFold | null = $state.raw(null);
  /** Why it couldn't be opened, or why the last thing asked of it was refused. */
  problem: Failure | null = $state.raw(null);
  /** Was it a message that was refused? */
  unsent = $state(false);
  /** Was it read again after falling behind? */
  resynced = $state(false);
  #backend: Backend;
  #stop: (() => void) | null = null;
  #closed = false;
  /** Why it can't be followed any more, while it is tried again. */
  #lost: Failure | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #wait = RETRY_MS.first;
  #unsent: { text: string; intent: Intent; command: string } | null = null;
  #past: { shown: string; command: string } | null = null;

  constructor(backend: Backend, id: string) {
    this.#backend = backend;
    this.id = id;
  }

  /** Reads the session and follows it from there. */
  async open(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      const view = await ask(this.#backend, { name: 'open_session', args: { session: this.id } }, 'session');
      if (this.#closed) return;
      this.#stop?.();
      this.fold = new SessionFold(view);
      const topic = { kind: 'session', session: this.id, from: view.seq + 1 } as const;
      this.#stop = this.#backend.subscribe(topic, (batch) => this.#receive(batch));
      this.#found();
    } catch (thrown) {
      if (!this.#closed) this.#lose(failureOf(thrown));
    }
  }

  #found(): void {
    if (this.#lost && this.problem === this.#lost) this.problem = null;
    this.#lost = null;
    this.#wait = RETRY_MS.first;
  }

  /** What is on the screen stands still now: that is said, and it is read again until it moves. */
  #lose(why: Failure): void {
    this.problem = why;
    if (!this.fold) return;
    this.#lost = why;
    this.#retry = setTimeout(() => void this.open(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, RETRY_MS.last);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#stop?.();
    this.#stop = null;
  }

  /** Says something. True once it is on the record; on false the words are still the caller's. */
  async send(text: string, intent: Intent): Promise<boolean> {
    if (this.#unsent?.text !== text || this.#unsent.intent !== intent) {
      this.#unsent = { text, intent, command: newCommand() };
    }
    const command = this.#unsent.command;
    const sent = await this.#attempt(async () => {
      await ask(this.#backend, { name: 'send', args: { session: this.id, text, intent, command } }, 'sent');
      this.#unsent = null;
    });
    this.unsent = !sent;
    return sent;
  }

  /** Goes on past a limit of money, as far as was shown. Clicked twice before it is done, it is one message and one portion. */
  goOn(past: PastLimit, text: string): Promise<boolean> {
    const shown = JSON.stringify(past);
    if (this.#past?.shown !== shown) this.#past = { shown, command: newCommand() };
    const { command } = this.#past;
    return this.#attempt(async () => {
      await ask(this.#backend, { name: 'go_on', args: { session: this.id, past, text, command } }, 'sent');
      this.#past = null;
    });
  }

  interrupt(): Promise<boolean> {
    return this.#tell({ name: 'interrupt', args: { session: this.id } });
  }

  stopJob(job: string): Promise<boolean> {
    return this.#tell({ name: 'stop_job', args: { session: this.id, job } });
  }

  /** The person looked: a job that was lost sight of runs no more. */
  settleJob(job: string): Promise<boolean> {
    return this.#tell({ name: 'settle_job', args: { session: this.id, job } });
  }

  sendWaiting(message: string): Promise<boolean> {
    return this.#attempt(async () => {
      await ask(this.#backend, { name: 'send_waiting', args: { session: this.id, message } }, 'sent');
    });
  }

  removeMessage(message: string): Promise<boolean> {
    return this.#tell({ name: 'remove_message', args: { session: this.id, message } });
  }

  /** Says yes to one call; with the place of an offer, to all that this offer names, for the session or for good. */
  approve(approval: string, digest: string, more: More | null = null): Promise<boolean> {
    const { offer, lasting } = more ?? { offer: null, lasting: false };
    return this.#tell({ name: 'approve', args: { session: this.id, approval, digest, offer, lasting } });
  }

  refuse(approval: string, why: string): Promise<boolean> {
    const reason = why.trim() === '' ? null : why.trim();
    return this.#tell({ name: 'refuse', args: { session: this.id, approval, why: reason } });
  }

  answer(question: string, text: string): Promise<boolean> {
    return this.#tell({ name: 'answer', args: { session: this.id, question, text } });
  }

  resolve(call: string, resolution: Resolution): Promise<boolean> {
    return this.#tell({ name: 'resolve', args: { session: this.id, call, resolution } });
  }

  setMode(mode: Mode): Promise<boolean> {
    return this.#tell({ name: 'set_mode', args: { session: this.id, mode } });
  }

  /** Lets the person choose another folder to look at, in the system's dialog. */
  lookAtAnother(): Promise<boolean> {
    return this.#tell({ name: 'choose_read_folder', args: { session: this.id } });
  }

  removeFolder(folder: string): Promise<boolean> {
    return this.#tell({ name: 'remove_folder', args: { session: this.id, folder } });
  }

  rename(title: string): Promise<boolean> {
    return this.#tell({ name: 'rename', args: { session: this.id, title } });
  }

  /** Earlier work is summarised for the model. */
  summarise(): Promise<boolean> {
    return this.#tell({ name: 'summarise', args: { session: this.id } });
  }

  /** The model reads all of it again. */
  useFullHistory(): Promise<boolean> {
    return this.#tell({ name: 'use_full_history', args: { session: this.id } });
  }

  setModel(model: ModelChoice): Promise<boolean> {
    return this.#tell({ name: 'set_model', args: { session: this.id, model } });
  }

  setEffort(effort: Effort | null): Promise<boolean> {
    return this.#tell({ name: 'set_effort', args: { session: this.id, effort } });
  }

  #tell(command: Parameters<typeof tell>[1]): Promise<boolean> {
    return this.#attempt(() => tell(this.#backend, command));
  }

  async #attempt(run: () => Promise<void>): Promise<boolean> {
    this.unsent = false;
    try {
      await run();
      this.problem = null;
      return true;
    } catch (thrown) {
      this.problem = failureOf(thrown);
      return false;
    }
  }

  #receive(batch: readonly Notification[]): void {
    for (const notification of batch) {
      if (notification.kind === 'session' && notification.session === this.id) {
        this.fold?.apply(notification.seq, notification.patches);
      } else if (notification.kind === 'resync' && notification.session === this.id) {
        this.resynced = true;
        void this.open();
        return;
      }
    }
  }
}

/** `cmd_` and 32 hex digits. */
function newCommand(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `cmd_${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
