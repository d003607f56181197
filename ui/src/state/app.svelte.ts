// The page as a whole: where the person is, what is open, and the lists around it.
//
// Starting never waits for the last conversation: the lists are read, the start page is shown, and a session is opened
// only when someone goes there.
import { createContext } from 'svelte';
import { ask, failureOf, type Backend, type Failure } from '../protocol/backend';
import type { AppInfo } from '../protocol/generated/AppInfo';
import type { Folder } from '../protocol/generated/Folder';
import type { Notification } from '../protocol/generated/Notification';
import { Changes } from './changes.svelte';
import { Copies } from './copies.svelte';
import { Drafts } from './drafts.svelte';
import { Erasing } from './erasing.svelte';
import { LiveSession } from './live.svelte';
import { Permissions } from './permissions.svelte';
import { Providers } from './providers.svelte';
import { Queue, type Review } from './queue.svelte';
import { SessionList } from './sessions.svelte';
import { SettingsState } from './settings.svelte';
import { Keeping } from './storage.svelte';
import { Undoing } from './undoing.svelte';

export type SettingsPage = 'models' | 'permissions' | 'storage' | 'look';
export type Place =
  | { view: 'welcome' }
  | { view: 'session'; id: string }
  | { view: 'settings'; page: SettingsPage; back: Place };

export class App {
  readonly backend: Backend;
  readonly settings: SettingsState;
  readonly sessions = new SessionList();
  readonly providers: Providers;
  readonly permissions: Permissions;
  readonly storage: Keeping;
  readonly copies: Copies;
  readonly drafts: Drafts;
  readonly queue: Queue;
  info: AppInfo | null = $state.raw(null);
  folders: Folder[] = $state.raw([]);
  place: Place = $state.raw({ view: 'welcome' });
  live: LiveSession | null = $state.raw(null);
  changes: Changes | null = $state.raw(null);
  undoing: Undoing | null = $state.raw(null);
  erasing: Erasing | null = $state.raw(null);
  problem: Failure | null = $state.raw(null);
  /** Something dropped that isn't a folder; dropped again, it is another. */
  dropRefused: { readonly name: string } | null = $state.raw(null);
  /** A folder that holds far more than a piece of work, while the person is asked about it. */
  wide: Folder | null = $state.raw(null);
  started = $state(false);
  /** The session whose composer is to take the focus, until it did. */
  wanted: string | null = $state(null);
  platform = $derived(this.info?.platform ?? 'linux');
  #stop: (() => void) | null = null;

  constructor(backend: Backend, preferred: readonly string[], storage: Storage | null) {
    this.backend = backend;
    this.settings = new SettingsState(backend, preferred);
    this.providers = new Providers(backend);
    this.permissions = new Permissions(backend);
    this.storage = new Keeping(backend);
    this.copies = new Copies(backend);
    this.drafts = new Drafts(storage);
    this.queue = new Queue(backend);
  }

  /** Reads the lists and listens to them. Each failure costs its own list only. */
  async start(): Promise<void> {
    this.#stop = this.backend.subscribe({ kind: 'store' }, (batch) => this.#receive(batch));
    await this.attempt(() => this.settings.load());
    await Promise.all([
      this.attempt(async () => {
        this.info = await ask(this.backend, { name: 'app' }, 'app');
      }),
      this.attempt(async () => this.sessions.load(await ask(this.backend, { name: 'sessions' }, 'sessions'))),
      this.attempt(() => this.#loadFolders()),
      this.attempt(() => this.providers.load()),
    ]);
    this.started = true;
  }

  stop(): void {
    this.#stop?.();
    this.live?.close();
    this.undoing?.stop();
  }

  async chooseFolder(): Promise<void> {
    await this.attempt(async () => {
      const folder = await ask(this.backend, { name: 'choose_folder' }, 'folder');
      if (folder) await this.begin(folder);
    });
  }

  /** Begins in a folder. A new session in one that holds far more than a piece of work is asked about first. */
  async begin(folder: Folder, agreed = false): Promise<void> {
    const empty = this.#empty(folder);
    const asks = folder.wide !== null && !agreed && empty === null;
    this.wide = asks ? folder : null;
    if (!asks) await this.attempt(() => this.#begin(folder, empty, agreed));
  }

  async startTour(): Promise<void> {
    await this.attempt(async () => {
      const { language } = this.settings;
      const { session } = await ask(this.backend, { name: 'start_tour', args: { language } }, 'created');
      this.openSession(session);
    });
  }

  /** Takes a session in from where the person says, and shows it. */
  async importSession(): Promise<void> {
    const session = await this.copies.take();
    if (session !== null) this.openSession(session);
  }

  openSession(id: string): void {
    this.place = { view: 'session', id };
    this.dropRefused = null;
    this.queue.review = null;
    if (this.live?.id === id && this.live.fold) return;
    this.live?.close();
    this.live = new LiveSession(this.backend, id);
    this.changes = new Changes(this.backend, id);
    this.undoing?.stop();
    this.undoing = new Undoing(this.backend, id);
    // What it still erases is told to whoever left meanwhile.
    this.erasing?.close();
    this.erasing = new Erasing(
      this.backend,
      id,
      (words) => this.drafts.forget(words),
      (failure) => (this.problem = failure),
    );
    void this.live.open();
  }

  /** To an entry that waits: its session is opened, and the entry shown as soon as it is there. */
  review(what: Review): void {
    this.openSession(what.session);
    this.queue.review = what;
  }

  goWelcome(): void {
    this.place = { view: 'welcome' };
    this.queue.review = null;
    this.live?.close();
    this.live = null;
    this.changes = null;
    this.undoing?.stop();
    this.undoing = null;
    this.erasing?.close();
    this.erasing = null;
    void this.attempt(() => this.#loadFolders());
  }

  goSettings(page: SettingsPage): void {
    const back = this.place.view === 'settings' ? this.place.back : this.place;
    this.place = { view: 'settings', page, back };
    this.queue.review = null;
  }

  leaveSettings(): void {
    if (this.place.view === 'settings') this.place = this.place.back;
  }

  /** A new session in the folder that is open, or the start page to choose one. */
  async newSession(): Promise<void> {
    const folder = this.live?.fold?.folder;
    if (folder && !this.live?.fold?.tour) await this.begin(folder);
    else this.goWelcome();
  }

  /** Runs something; a refusal is shown to the person instead of getting lost. */
  async attempt(run: () => Promise<unknown>): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (thrown) {
      this.problem = failureOf(thrown);
      return false;
    }
  }

  /** The session that is open, where it is in this folder and nothing was said in it yet. */
  #empty({ id }: Folder): string | null {
    const fold = this.live?.fold;
    return fold && !fold.tour && fold.folder.id === id && fold.untouched ? fold.id : null;
  }

  /** A session in the folder to say something in: the empty one, or a new one with the person's word for a wide folder. */
  async #begin(folder: Folder, empty: string | null, wide: boolean): Promise<void> {
    const session = empty ?? (await this.#create(folder, wide));
    this.openSession(session);
    this.wanted = session;
  }

  async #create(folder: Folder, wide: boolean): Promise<string> {
    const { mode, model } = this.settings.value;
    const args = { folder: folder.id, mode, model, wide };
    return (await ask(this.backend, { name: 'create_session', args }, 'created')).session;
  }

  async #loadFolders(): Promise<void> {
    this.folders = await ask(this.backend, { name: 'folders' }, 'folders');
  }

  #receive(batch: readonly Notification[]): void {
    for (const notification of batch) {
      switch (notification.kind) {
        case 'summary':
          this.sessions.put(notification.summary);
          break;
        case 'needs':
          this.queue.put(notification.session, notification.needs);
          break;
        case 'folder_dropped':
          void this.begin(notification.folder);
          break;
        case 'drop_refused':
          this.dropRefused = { name: notification.name };
          break;
        case 'session_chosen':
          this.openSession(notification.session);
          break;
        case 'session':
        case 'resync':
          break;
      }
    }
  }
}

export const [useApp, provideApp] = createContext<App>();
