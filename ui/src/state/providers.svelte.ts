// The services that serve models: which can be used, which need a key.
//
// A key goes in and is forgotten by the page at once; what comes back says only in which state it is.
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { Effort } from '../protocol/generated/Effort';
import type { ModelChoice } from '../protocol/generated/ModelChoice';
import type { Provider } from '../protocol/generated/Provider';
import type { ProviderDraft } from '../protocol/generated/ProviderDraft';
import type { Facts } from '../texts';

/** Stands for a service of the person's own that isn't there yet. */
export const NEW_SERVICE = 'new';

export class Providers {
  all: Provider[] = $state.raw([]);
  /** Have they arrived? */
  loaded = $state(false);
  /** The service whose form is to be open when their page is next shown. */
  wanted: string | null = null;
  /** The one that is being asked right now. */
  busy: string | null = $state(null);
  problem: Failure | null = $state.raw(null);
  connected: Provider[] = $derived(this.all.filter(isConnected));
  others: Provider[] = $derived(this.all.filter((provider) => !isConnected(provider)));
  /** Every model that can be chosen now. */
  choices: ModelChoice[] = $derived(
    this.connected.flatMap((provider) => provider.models.map((model) => ({ provider: provider.id, model }))),
  );
  #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** How much a model can be asked to think, least first; nothing for one that can't be asked. */
  effortsOf(model: ModelChoice | null): readonly Effort[] {
    const provider = this.all.find(({ id }) => id === model?.provider);
    return (model && provider?.efforts[model.model]) ?? [];
  }

  async load(): Promise<void> {
    this.all = await ask(this.#backend, { name: 'providers' }, 'providers');
    this.loaded = true;
  }

  nameOf(id: string): string {
    return this.all.find((provider) => provider.id === id)?.name ?? id;
  }

  /** Does it run on this computer? */
  isLocal(id: string): boolean {
    const address = this.all.find((provider) => provider.id === id)?.base_url ?? '';
    return /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/i.test(address);
  }

  /** Facts with the name a person gave the service, and whether it runs on this computer. */
  named(facts: Facts): { facts: Facts; local: boolean } {
    const { provider } = facts;
    if (provider === undefined) return { facts, local: false };
    return {
      facts: { ...facts, provider: this.nameOf(provider) },
      local: this.isLocal(provider),
    };
  }

  /** Says once which service was wanted. */
  takeWanted(): string | null {
    const { wanted } = this;
    this.wanted = null;
    return wanted;
  }

  /** Stores a key and tests the service with it. */
  async setKey(provider: string, key: string): Promise<boolean> {
    const stored = await this.#run(provider, { name: 'set_key', args: { provider, key } });
    return stored && this.check(provider);
  }

  forgetKey(provider: string): Promise<boolean> {
    return this.#run(provider, { name: 'forget_key', args: { provider } });
  }

  save(provider: ProviderDraft): Promise<boolean> {
    return this.#run(provider.id ?? NEW_SERVICE, { name: 'save_provider', args: { provider } });
  }

  async remove(provider: string): Promise<boolean> {
    const gone = await this.#run(provider, { name: 'remove_provider', args: { provider } });
    // It is gone although its key couldn't be deleted.
    if (this.problem?.code === 'key/left') await this.load();
    return gone;
  }

  check(provider: string): Promise<boolean> {
    return this.#run(provider, { name: 'check_provider', args: { provider } });
  }

  /** Lets the person choose a service's own certificate, and tests the service with it. Gives what is wrong with the file. */
  async chooseCertificate(provider: string): Promise<Failure | null> {
    const before = this.#fingerprints(provider);
    const problem = await this.#try(provider, { name: 'choose_certificate', args: { provider } });
    if (problem === null && this.#fingerprints(provider) !== before) await this.check(provider);
    return problem;
  }

  removeCertificate(provider: string): Promise<Failure | null> {
    return this.#try(provider, { name: 'remove_certificate', args: { provider } });
  }

  #fingerprints(provider: string): string | undefined {
    const found = this.all.find(({ id }) => id === provider);
    return found?.certificates.map(({ fingerprint }) => fingerprint).join();
  }

  /** Does it; what went wrong stands above the list. */
  async #run(provider: string, command: Command): Promise<boolean> {
    this.problem = await this.#try(provider, command);
    return this.problem === null;
  }

  /** Does it; what went wrong is the caller's to show. */
  async #try(provider: string, command: Command): Promise<Failure | null> {
    this.busy = provider;
    try {
      this.all = await ask(this.#backend, command, 'providers');
      return null;
    } catch (thrown) {
      return failureOf(thrown);
    } finally {
      this.busy = null;
    }
  }
}

/** Can a session use it now? It has a key, needs none of its own kind, or answered when it was asked. */
function isConnected(provider: Provider): boolean {
  if (provider.check?.ok === true) return true;
  switch (provider.key) {
    case 'stored':
    case 'session_only':
    case 'locked':
      return true;
    case 'not_needed':
      return provider.custom;
    default:
      return false;
  }
}
