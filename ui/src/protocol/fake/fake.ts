// A stand-in for the engine: keeps sessions in memory, answers every command, and delivers what a script puts forward.
//
// For tests, the development page and screenshots only; it never reaches a shipped page. It keeps the same promises as
// the real one: patches in order by sequence number, a view that equals their fold, answers bound to a digest.
import { Failure, type Backend } from '../backend';
import type { Command } from '../generated/Command';
import type { Folder } from '../generated/Folder';
import type { GrantView } from '../generated/GrantView';
import type { OwnRule } from '../generated/OwnRule';
import type { Notification } from '../generated/Notification';
import type { Patch } from '../generated/Patch';
import type { Provider } from '../generated/Provider';
import type { Reply } from '../generated/Reply';
import type { SessionSummary } from '../generated/SessionSummary';
import type { SessionView } from '../generated/SessionView';
import type { Settings } from '../generated/Settings';
import type { StorageView } from '../generated/StorageView';
import type { Topic } from '../generated/Topic';
import type { AppInfo } from '../generated/AppInfo';
import { answerAdded } from './added';
import { advance } from './advance';
import { answerPermissions, give } from './allowing';
import { answerErasing } from './erasing';
import { FakeFolder } from './folder';
import { needsOf } from './needs';
import { answerRecord, holding, type RecordShape } from './record';
import { answerProviders } from './services';
import { answerStorage } from './storing';
import { answerChanges } from './undoing';

/** What a script may do when something is asked of its session. */
export interface Stage {
  readonly id: string;
  readonly view: SessionView;
  /** The folder it works in, and what it changed there. */
  readonly files: FakeFolder;
  /** Puts patches forward as one event. */
  push(...patches: Patch[]): void;
  pause(ms: number): Promise<void>;
}

/** Reacts to commands that touch one session. Returns when it has nothing more to say. */
export type Script = (stage: Stage, command: Command) => Promise<void> | void;

export interface World {
  app: AppInfo;
  folders: Folder[];
  settings: Settings;
  providers: Provider[];
  summaries: SessionSummary[];
  views: Map<string, SessionView>;
  /** What sessions changed; one that isn't named changed nothing yet. */
  files: Map<string, FakeFolder>;
  /** What their records hold; one that isn't named has a few events. */
  records?: Map<string, RecordShape>;
  /** What is kept for undo. */
  storage: StorageView;
  /** What was allowed for more than one call, newest first. */
  grants: GrantView[];
  own: OwnRule[];
  /** Can't the rules be read? */
  ownUnreadable: boolean;
  /** Is there more that was allowed for good and can't be read? */
  grantsUnreadable: boolean;
  script: Script;
  /** Waits; a test passes one that returns at once. */
  pause: (ms: number) => Promise<void>;
  /** The moment things happen at. */
  now: () => number;
}

interface Listener {
  topic: Topic;
  on: (batch: Notification[]) => void;
}

export class FakeBackend implements Backend {
  /** Everything that was asked, oldest first. */
  readonly asked: Command[] = [];
  readonly world: World;
  #listeners = new Set<Listener>();
  #made = 0;
  #sent = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
  }

  async call(command: Command): Promise<Reply> {
    this.asked.push(command);
    // Arguments travel as text in the window, so what can't be sent must not work here either.
    return structuredClone(this.#answer(structuredClone(command)));
  }

  subscribe(topic: Topic, on: (batch: Notification[]) => void): () => void {
    const listener = { topic, on };
    this.#listeners.add(listener);
    // Who comes is told what waits, as by the engine.
    if (topic.kind === 'store') queueMicrotask(() => this.#tellNeeds(listener));
    return () => this.#listeners.delete(listener);
  }

  #tellNeeds({ on }: Listener): void {
    const waiting = this.world.summaries.filter((line) => line.needs_you > 0);
    const all = waiting.flatMap(({ id }) => this.world.views.get(id) ?? []);
    on(all.map((view) => ({ kind: 'needs', session: view.id, needs: needsOf(view) })));
  }

  /** Delivers to whoever listens to the lists. */
  announce(...batch: Notification[]): void {
    for (const { topic, on } of this.#listeners) if (topic.kind === 'store') on(batch);
  }

  /** Puts patches forward in a session as one event. */
  push(session: string, ...patches: Patch[]): void {
    const view = this.#view(session);
    view.seq += 1;
    for (const patch of patches) advance(view, patch);
    this.#deliver(session, { kind: 'session', session, seq: view.seq, patches: structuredClone(patches) });
    this.#summarise(view);
  }

  /** Tells the page that it fell behind. */
  resync(session: string): void {
    this.#deliver(session, { kind: 'resync', session });
  }

  #deliver(session: string, notification: Notification): void {
    for (const { topic, on } of this.#listeners) {
      if (topic.kind === 'session' && topic.session === session) on([notification]);
    }
  }

  #answer(command: Command): Reply {
    const { world } = this;
    switch (command.name) {
      case 'app':
        return { kind: 'app', value: world.app };
      case 'sessions':
        return { kind: 'sessions', value: world.summaries };
      case 'folders':
        return { kind: 'folders', value: world.folders };
      case 'choose_folder':
        return { kind: 'folder', value: world.folders[0] ?? null };
      case 'settings':
        return { kind: 'settings', value: world.settings };
      case 'save_settings':
        world.settings = command.args.settings;
        return { kind: 'settings', value: world.settings };
      case 'create_session':
        return { kind: 'created', value: { session: this.#create(command.args.folder, false) } };
      case 'start_tour':
        return { kind: 'created', value: { session: this.#create(world.folders[0]?.id ?? '', true) } };
      case 'open_session':
        return { kind: 'session', value: this.#view(command.args.session) };
      case 'providers':
      case 'set_key':
      case 'forget_key':
      case 'save_provider':
      case 'remove_provider':
      case 'check_provider':
      case 'choose_certificate':
      case 'remove_certificate':
        world.providers = answerProviders(world.providers, command);
        return { kind: 'providers', value: world.providers };
      case 'permissions':
      case 'revoke':
      case 'set_rule':
      case 'reset_rules':
      case 'reset_permissions':
      case 'what_if':
        return answerPermissions(world, command);
      case 'show_made': {
        const { session, made } = command.args;
        const list = this.world.files.get(session)?.changes().made ?? [];
        if (!list.some((one) => one.id === made))
          throw new Failure({ code: 'made/gone', message: `no ${made}`, hint: null });
        return { kind: 'done' };
      }
      case 'save_copy': {
        const { of } = command.args;
        const name = of.kind === 'session' ? 'Menu.daybook' : 'output.txt';
        const events = of.kind === 'session' ? this.#view(command.args.session).seq + 1 : 0;
        return { kind: 'copied', value: { name, bytes: events === 0 ? 12 : 0, events } };
      }
      case 'import_session':
        throw new Failure({ code: 'archive/changed', message: 'it was changed', hint: null });
      case 'use_folder':
        return { kind: 'done' };
      case 'choose_read_folder':
      case 'remove_folder':
        return answerAdded(this.#stage(this.#view(command.args.session)), command, world.folders);
      case 'changes':
      case 'diff':
      case 'preview_undo':
      case 'three_way':
      case 'undo': {
        const stage = this.#stage(this.#view(command.args.session));
        return answerChanges(stage, command, () => this.#id('rev'), world.now);
      }
      case 'record_outline':
      case 'record_lines':
      case 'record_event':
      case 'moment':
      case 'saw':
      case 'saw_body':
      case 'verify':
      case 'verification':
      case 'stop_verify': {
        const view = this.#view(command.args.session);
        return answerRecord(view, this.#record(view), command);
      }
      case 'storage':
      case 'set_undo_limit':
      case 'thin_now':
        return answerStorage(world.storage, command);
      case 'preview_erase':
      case 'erase': {
        const { session } = command.args;
        const reply = answerErasing(this.#view(session), command, world.views.values());
        if (reply.kind === 'erased') this.resync(session);
        return reply;
      }
      default:
        return this.#inSession(command);
    }
  }

  #inSession(command: Extract<Command, { args: { session: string } }>): Reply {
    const view = this.#view(command.args.session);
    if (command.name === 'approve') {
      checkDigest(view, command.args.approval, command.args.digest);
      give(this.world, view, command.args, this.#id('gra'));
    }
    if (command.name === 'send' || command.name === 'go_on') {
      const known = this.#sent.get(command.args.command);
      if (known) return { kind: 'sent', value: { message: known, seq: view.seq } };
      const message = this.#id('msg');
      this.#sent.set(command.args.command, message);
      this.#play(view, command);
      return { kind: 'sent', value: { message, seq: view.seq } };
    }
    this.#play(view, command);
    if (command.name === 'send_waiting') {
      return { kind: 'sent', value: { message: command.args.message, seq: view.seq } };
    }
    return { kind: 'done' };
  }

  #record(view: SessionView): RecordShape {
    const records = (this.world.records ??= new Map());
    const events = view.entries.length === 0 ? 0 : 214;
    const made = { events, began: this.world.now() - 385_000, verification: holding(events) };
    const shape = records.get(view.id) ?? made;
    records.set(view.id, shape);
    return shape;
  }

  #play(view: SessionView, command: Command): void {
    const stage = this.#stage(view);
    // A script goes on after the command was answered, as the engine does.
    queueMicrotask(() => void this.world.script(stage, command));
  }

  #stage(view: SessionView): Stage {
    const files = this.world.files.get(view.id) ?? new FakeFolder();
    this.world.files.set(view.id, files);
    return {
      id: view.id,
      view,
      files,
      push: (...patches) => this.push(view.id, ...patches),
      pause: this.world.pause,
    };
  }

  #create(folderId: string, tour: boolean): string {
    const folder = this.world.folders.find((line) => line.id === folderId);
    if (!folder) throw new Failure({ code: 'folder/missing', message: `no folder ${folderId}`, hint: null });
    const id = this.#id('ses');
    const { mode, model } = this.world.settings;
    this.world.views.set(id, emptyView(id, folder, { mode, model: tour ? null : model, tour }));
    this.#summarise(this.#view(id));
    return id;
  }

  #summarise(view: SessionView): void {
    const summary = summaryOf(view, this.world.now());
    this.world.summaries = [summary, ...this.world.summaries.filter((line) => line.id !== view.id)];
    this.announce({ kind: 'summary', summary }, { kind: 'needs', session: view.id, needs: needsOf(view) });
  }

  #view(id: string): SessionView {
    const view = this.world.views.get(id);
    if (!view) throw new Failure({ code: 'session/unknown', message: `no session ${id}`, hint: null });
    return view;
  }

  #id(kind: string): string {
    this.#made += 1;
    return `${kind}_made${this.#made}`;
  }
}

export function emptyView(
  id: string,
  folder: Folder,
  about: Pick<SessionView, 'mode' | 'model' | 'tour'>,
): SessionView {
  return {
    ...about,
    effort: null,
    id,
    title: '',
    folder,
    added: [],
    activity: { kind: 'idle' },
    seq: 0,
    entries: [],
    plan: null,
    jobs: [],
    waiting: [],
    changed_files: 0,
    tokens: { input: 0, cached: 0, output: 0 },
    spent: { micros: 0, sure: 'exact', raised: 0 },
    read_only: null,
  };
}

function summaryOf(view: SessionView, updated: number): SessionSummary {
  const kind = view.activity.kind;
  const waits = kind === 'needs_you' ? view.activity.kind === 'needs_you' && view.activity.count : 0;
  const state = kind === 'idle' ? 'idle' : kind === 'needs_you' ? 'needs_you' : 'working';
  const { id, title, folder, tour } = view;
  return { id, title, folder, tour, updated, state, needs_you: waits || 0 };
}

/** An approval is answered with the digest of what was shown, or not at all. */
function checkDigest(view: SessionView, approval: string, digest: string): void {
  const open = view.entries.some(
    ({ body }) =>
      body.kind === 'approval' &&
      body.approval.id === approval &&
      body.approval.digest === digest &&
      body.approval.state.kind === 'open',
  );
  if (open) return;
  throw new Failure({
    code: 'approval/changed',
    message: `approval ${approval} isn't open with this digest`,
    hint: null,
  });
}
