// Settings of the app, and what follows from them for the page: language, theme, size of the text.
//
// The engine keeps them; until it has answered, the computer's own preferences hold. Nothing is saved before that: it would
// be written over settings that nobody saw.
import { ask, type Backend } from '../protocol/backend';
import type { Settings } from '../protocol/generated/Settings';
import { languageOf, textsFor, type Language } from '../texts';

const START: Settings = {
  language: 'system',
  theme: 'system',
  text_size: 'normal',
  mode: 'ask',
  model: null,
  instead: [],
  spend: { session: null, day: null },
  prices: [],
  close: 'hide',
};

export class SettingsState {
  value: Settings = $state.raw(START);
  #backend: Backend;
  #preferred: readonly string[];
  #loaded = false;
  language: Language = $derived.by(() => languageOf(this.value.language, this.#preferred));
  t = $derived(textsFor(this.language));

  constructor(backend: Backend, preferred: readonly string[]) {
    this.#backend = backend;
    this.#preferred = preferred;
  }

  async load(): Promise<void> {
    this.value = await ask(this.#backend, { name: 'settings' }, 'settings');
    this.#loaded = true;
  }

  /** Changes some of them; shown at once, and put back when they couldn't be kept. */
  async change(part: Partial<Settings>): Promise<void> {
    if (!this.#loaded) await this.load();
    const before = this.value;
    const settings = { ...before, ...part };
    this.value = settings;
    try {
      this.value = await ask(this.#backend, { name: 'save_settings', args: { settings } }, 'settings');
    } catch (thrown) {
      this.value = before;
      throw thrown;
    }
  }

  /** Puts language, theme and size on the document's root. */
  apply(root: HTMLElement): void {
    root.lang = this.language;
    set(root, 'data-theme', this.value.theme === 'system' ? null : this.value.theme);
    set(root, 'data-size', this.value.text_size === 'normal' ? null : this.value.text_size);
  }
}

function set(root: HTMLElement, name: string, value: string | null): void {
  if (value === null) root.removeAttribute(name);
  else root.setAttribute(name, value);
}
