// What is allowed without asking: what the person allowed, what holds by itself, and what would happen with a command.
import { ask, failureOf, tell, type Backend, type Failure } from '../protocol/backend';
import type { AddedView } from '../protocol/generated/AddedView';
import type { Command } from '../protocol/generated/Command';
import type { GrantView } from '../protocol/generated/GrantView';
import type { Mode } from '../protocol/generated/Mode';
import type { ModeRule } from '../protocol/generated/ModeRule';
import type { OwnRule } from '../protocol/generated/OwnRule';
import type { Permissions as Value } from '../protocol/generated/Permissions';
import type { RuleAbout } from '../protocol/generated/RuleAbout';
import type { RuleWord } from '../protocol/generated/RuleWord';
import type { Tried } from '../protocol/generated/Tried';
import type { WhatIf } from '../protocol/generated/WhatIf';

/** Kinds of acts a rule can be about, without more words. */
export type ActRule = Exclude<RuleAbout['kind'], 'command' | 'path'>;

/** One kind of act, and the verdict of each mode with the rule that gives it. */
export interface RuleRow {
  act: string;
  verdicts: readonly { verdict: string; rule: string }[];
}

export class Permissions {
  value: Value | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** Ids of what is being taken back. */
  revoking: readonly string[] = $state.raw([]);
  /** Is a rule being set? */
  setting = $state(false);
  /** What would happen, and what was asked about. */
  answer: { tried: Tried; session: string; what: WhatIf } | null = $state.raw(null);
  testing = $state(false);
  modes: readonly Mode[] = $derived(modesOf(this.value?.rules ?? []));
  /** The person's rules that have no row of their own: for one folder, about commands or paths. */
  further: readonly OwnRule[] = $derived(
    (this.value?.own ?? []).filter(
      ({ about, folder }) => folder !== null || about.kind === 'command' || about.kind === 'path',
    ),
  );
  rows: readonly RuleRow[] = $derived(rowsOf(this.value?.rules ?? [], this.modes));
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async load(): Promise<void> {
    await this.#attempt(() => this.#renew({ name: 'permissions' }));
  }

  async revoke({ id, session }: Pick<GrantView, 'id' | 'session'>): Promise<void> {
    await this.#taking(id, () => this.#renew({ name: 'revoke', args: { grant: id, session } }));
  }

  /** Takes a folder back that a session may look at. */
  async takeBack({ added, session }: Pick<AddedView, 'added' | 'session'>): Promise<void> {
    await this.#taking(added.id, async () => {
      await tell(this.#backend, { name: 'remove_folder', args: { session, folder: added.id } });
      await this.#renew({ name: 'permissions' });
    });
  }

  /** The rule about a kind of act that holds in every folder. */
  ruleOf(kind: ActRule): RuleWord | null {
    return this.value?.own.find((one) => one.folder === null && one.about.kind === kind)?.word ?? null;
  }

  /** Sets a rule, or takes it away; true when it is done. */
  setRule(about: RuleAbout, folder: string | null, word: RuleWord | null): Promise<boolean> {
    return this.#set({ name: 'set_rule', args: { about, folder, word } });
  }

  /** Starts again without rules, where those that are kept can't be read. */
  async resetRules(): Promise<void> {
    await this.#set({ name: 'reset_rules' });
  }

  /** Lets go of what was allowed for good and can't be read. */
  async resetPermissions(): Promise<void> {
    await this.#set({ name: 'reset_permissions' });
  }

  /** Asks what would happen; nothing runs. */
  async test(session: string, tried: Tried): Promise<void> {
    const words = tried.kind === 'run' ? tried.command : tried.path;
    if (this.testing || words.trim() === '') return;
    this.testing = true;
    this.answer = null;
    await this.#attempt(async () => {
      const args = { session, what: tried };
      const what = await ask(this.#backend, { name: 'what_if', args }, 'what_if');
      this.answer = { session, tried, what };
    });
    this.testing = false;
  }

  async #set(command: Command): Promise<boolean> {
    if (this.setting) return false;
    this.setting = true;
    const done = await this.#attempt(() => this.#renew(command));
    this.setting = false;
    return done;
  }

  /** Takes something back, each thing once at a time. */
  async #taking(id: string, run: () => Promise<void>): Promise<void> {
    if (this.revoking.includes(id)) return;
    this.revoking = [...this.revoking, id];
    await this.#attempt(run);
    this.revoking = this.revoking.filter((other) => other !== id);
  }

  /** What is allowed after a command; what would happen was said before it, and may not hold any more. */
  async #renew(command: Command): Promise<void> {
    this.value = await ask(this.#backend, command, 'permissions');
    this.answer = null;
  }

  async #attempt(run: () => Promise<void>): Promise<boolean> {
    try {
      await run();
      this.problem = null;
      return true;
    } catch (thrown) {
      this.problem = failureOf(thrown);
      return false;
    }
  }
}

function modesOf(rules: readonly ModeRule[]): Mode[] {
  return [...new Set(rules.map((rule) => rule.mode))];
}

function rowsOf(rules: readonly ModeRule[], modes: readonly Mode[]): RuleRow[] {
  const acts = [...new Set(rules.map((rule) => rule.act))];
  const of = (act: string, mode: Mode) => {
    const found = rules.find((rule) => rule.act === act && rule.mode === mode);
    return { verdict: found?.verdict ?? 'ask', rule: found?.rule ?? '' };
  };
  return acts.map((act) => ({ act, verdicts: modes.map((mode) => of(act, mode)) }));
}
