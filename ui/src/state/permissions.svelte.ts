// What is allowed without asking: what the person allowed, what holds by itself, and what would happen with a command.
import { ask, failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { AddedView } from '../protocol/generated/AddedView';
import type { GrantView } from '../protocol/generated/GrantView';
import type { Mode } from '../protocol/generated/Mode';
import type { ModeRule } from '../protocol/generated/ModeRule';
import type { Permissions as Value } from '../protocol/generated/Permissions';
import type { WhatIf } from '../protocol/generated/WhatIf';

/** One kind of act, and the verdict of each mode. */
export interface RuleRow {
  act: string;
  verdicts: readonly string[];
}

export class Permissions {
  value: Value | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** Ids of what is being taken back. */
  revoking: readonly string[] = $state.raw([]);
  /** What would happen with a command, and the words that were asked about. */
  answer: { command: string; session: string; what: WhatIf } | null = $state.raw(null);
  testing = $state(false);
  modes: readonly Mode[] = $derived(modesOf(this.value?.rules ?? []));
  rows: readonly RuleRow[] = $derived(rowsOf(this.value?.rules ?? [], this.modes));
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async load(): Promise<void> {
    await this.#attempt(async () => {
      this.value = await ask(this.#backend, { name: 'permissions' }, 'permissions');
    });
  }

  async revoke({ id, session }: Pick<GrantView, 'id' | 'session'>): Promise<void> {
    if (this.revoking.includes(id)) return;
    this.revoking = [...this.revoking, id];
    await this.#attempt(async () => {
      this.value = await ask(this.#backend, { name: 'revoke', args: { grant: id, session } }, 'permissions');
    });
    this.revoking = this.revoking.filter((other) => other !== id);
  }

  /** Takes a folder back that a session may look at. */
  async takeBack({ added, session }: Pick<AddedView, 'added' | 'session'>): Promise<void> {
    if (this.revoking.includes(added.id)) return;
    this.revoking = [...this.revoking, added.id];
    await this.#attempt(async () => {
      await tell(this.#backend, { name: 'remove_folder', args: { session, folder: added.id } });
      this.value = await ask(this.#backend, { name: 'permissions' }, 'permissions');
    });
    this.revoking = this.revoking.filter((other) => other !== added.id);
  }

  /** Asks what would happen; nothing runs. */
  async test(session: string, command: string): Promise<void> {
    if (this.testing || command.trim() === '') return;
    this.testing = true;
    this.answer = null;
    await this.#attempt(async () => {
      const what = await ask(this.#backend, { name: 'what_if', args: { session, command } }, 'what_if');
      this.answer = { session, command, what };
    });
    this.testing = false;
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
      this.problem = null;
    } catch (thrown) {
      this.problem = failureOf(thrown);
    }
  }
}

function modesOf(rules: readonly ModeRule[]): Mode[] {
  return [...new Set(rules.map((rule) => rule.mode))];
}

function rowsOf(rules: readonly ModeRule[], modes: readonly Mode[]): RuleRow[] {
  const acts = [...new Set(rules.map((rule) => rule.act))];
  const of = (act: string, mode: Mode) =>
    rules.find((rule) => rule.act === act && rule.mode === mode)?.verdict;
  return acts.map((act) => ({ act, verdicts: modes.map((mode) => of(act, mode) ?? 'ask') }));
}
