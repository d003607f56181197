// The stand-in's world: a few folders and sessions in every state the page can show.
import { someStorage } from './storing';
import type { Entry } from '../generated/Entry';
import type { Folder } from '../generated/Folder';
import type { GrantView } from '../generated/GrantView';
import type { OwnRule } from '../generated/OwnRule';
import type { Provider } from '../generated/Provider';
import type { SessionSummary } from '../generated/SessionSummary';
import type { SessionView } from '../generated/SessionView';
import { addedOf } from './added';
import { bakery as bakeryFiles, TURNS } from './bakery';
import { emptyView, type World } from './fake';
import { jobsOf } from './jobs';
import { answer, approval, call, calls, diff, end, entry, said, written } from './make';
import { en, zh } from './words';

export type Words = typeof en;
const MINUTE = 60_000;
/** Files of the sample's two turns. */
const CHANGED = 9;
const model = { provider: 'anthropic', model: 'claude-sonnet' };

export function sampleWorld(language: 'en' | 'zh-CN', now: number): Omit<World, 'script' | 'pause' | 'now'> {
  const w = language === 'zh-CN' ? zh : en;
  const folders = foldersOf(w);
  const bakery = folders[0] as Folder;
  const about = { mode: 'ask', model, tour: false } as const;
  const make = (id: string, title: string, part: Partial<SessionView>): SessionView => ({
    ...emptyView(id, bakery, about),
    title,
    seq: 40,
    plan: planOf(w, 2),
    jobs: [],
    tokens: { input: 48_200, cached: 39_600, output: 2_310 },
    spent: { micros: 836_400, sure: 'exact', raised: 0 },
    changed_files: 0,
    ...part,
  });
  const start = now - 6 * MINUTE;
  const views = [
    make('ses_work', w.form, {
      changed_files: CHANGED,
      entries: [...beginning(w, start), answer('e9', start + 4 * MINUTE, w.stacks, true)],
      activity: { kind: 'working', since: start },
      jobs: jobsOf(start),
      waiting: [{ id: 'msg_1', text: w.steer, intent: 'steer', held: false, time: start + 4 * MINUTE }],
    }),
    make('ses_approval', w.form, {
      changed_files: CHANGED,
      entries: [...beginning(w, start), ...requests(w, start + 5 * MINUTE)],
      activity: { kind: 'needs_you', count: 2 },
    }),
    make('ses_question', w.form, {
      entries: [said('e1', start, w.ask), question(w, start + MINUTE)],
      activity: { kind: 'needs_you', count: 1 },
    }),
    make('ses_unknown', w.form, {
      entries: [said('e1', start, w.ask), ...unknown(start)],
      activity: { kind: 'needs_you', count: 1 },
    }),
    make('ses_failed', w.form, {
      added: [addedOf(folders[1] as Folder), addedOf(folders[3] as Folder)],
      entries: [said('e1', start, w.ask), ...failure(w, start)],
      plan: null,
    }),
    make('ses_done', w.form, {
      entries: [
        ...beginning(w, start),
        answer('e9', start + 2 * MINUTE, w.goOn),
        end(TURNS.form, start + 3 * MINUTE, 'completed', {}, 174_000),
        said('e10', start + 4 * MINUTE, w.filterAsk),
        calls(
          'e11',
          start + 4 * MINUTE,
          call('cal_w3', 'edit_file', { path: 'menu.json' }, { added: 5, removed: 3, ms: 40 }),
          call('cal_w4', 'edit_file', { path: 'scripts/menu.js' }, { added: 15, removed: 10, ms: 30 }),
          call('cal_w5', 'write_file', { path: 'styles/filter.css' }, { added: 9, ms: 30 }),
          call('cal_w6', 'run_command', { command: 'sh tidy.sh' }, { ms: 900 }),
        ),
        answer('e12', start + 5 * MINUTE, w.done),
        end(TURNS.filter, start + 5 * MINUTE, 'completed', {}, 74_000),
      ],
      changed_files: CHANGED,
      plan: planOf(w, 6),
    }),
  ];
  return {
    app: {
      version: '0.1.0',
      platform: 'linux',
      cage: 'full',
      cage_missing: [],
      keychain: 'ready',
      store_problem: null,
    },
    folders,
    settings: {
      language,
      theme: 'system',
      text_size: 'normal',
      mode: 'ask',
      model,
      instead: [],
      spend: { session: 3_000_000, day: null },
      prices: [],
      close: 'hide',
    },
    providers: services(),
    summaries: summaries(w, folders, now),
    views: new Map(views.map((view) => [view.id, view])),
    storage: someStorage(now - 40 * 86_400_000),
    grants: grantsOf(w, folders, now),
    own: ownOf(folders, now),
    ownUnreadable: false,
    grantsUnreadable: false,
    files: new Map(
      views
        .slice(0, 2)
        .concat(views.slice(-1))
        .map(({ id }) => [id, bakeryFiles(w, start)]),
    ),
  };
}

function grantsOf(w: Words, folders: Folder[], now: number): GrantView[] {
  const [bakery, invoices, , garden] = folders as [Folder, Folder, Folder, Folder];
  const here = { session: 'ses_work', session_title: w.form };
  const always = { session: null, session_title: null };
  const grant = (id: string, folder: Folder, rest: Omit<GrantView, 'id' | 'folder'>): GrantView => ({
    id,
    folder,
    ...rest,
  });
  const at = (minutes: number) => now - minutes * MINUTE;
  return [
    grant('gra_1', bakery, {
      what: { kind: 'command', words: ['node', 'checks/form.mjs'], exact: false, files: [] },
      ...here,
      given: at(20),
      used: at(3),
      used_known: true,
    }),
    grant('gra_2', bakery, {
      what: { kind: 'site', site: 'downloads.example.org:443' },
      ...here,
      given: at(30),
      used: null,
      used_known: true,
    }),
    grant('gra_3', invoices, {
      what: { kind: 'write', under: 'scans/2025' },
      ...always,
      given: at(9_000),
      used: null,
      used_known: false,
    }),
    grant('gra_4', garden, {
      what: { kind: 'command', words: ['sh', 'plant.sh'], exact: true, files: ['plant.sh'] },
      ...always,
      given: at(20_000),
      used: at(15_000),
      used_known: true,
    }),
  ];
}

function ownOf(folders: Folder[], now: number): OwnRule[] {
  return [
    { about: { kind: 'command', words: 'git push' }, folder: null, word: 'never', given: now - 5 * MINUTE },
    {
      about: { kind: 'path', under: 'accounts' },
      folder: folders[1] ?? null,
      word: 'never',
      given: now - 9 * MINUTE,
    },
  ];
}

function foldersOf(w: Words): Folder[] {
  const places = ['~/Documents/Websites', '~/Dropbox/Accounts', '~/Documents', '~/Desktop'];
  return [w.bakery, w.invoices, w.thesis, w.garden].map((name, n) => ({
    id: `fol_${n}`,
    name,
    place: places[n] ?? '~',
    exists: n !== 3,
    wide: null,
  }));
}

function summaries(w: Words, folders: Folder[], now: number): SessionSummary[] {
  const [bakery, invoices, thesis] = folders as [Folder, Folder, Folder];
  const line = (id: string, title: string, folder: Folder, ago: number, state = 'idle', waits = 0) => ({
    id,
    title,
    folder,
    updated: now - ago * MINUTE,
    state,
    needs_you: waits,
    tour: false,
  });
  return [
    line('ses_work', w.form, bakery, 0, 'working'),
    line('ses_approval', w.hours, bakery, 3, 'needs_you', 2),
    line('ses_done', w.photos, bakery, 9_000),
    line('ses_question', w.rename, invoices, 12, 'needs_you', 1),
    line('ses_unknown', w.totals, invoices, 5_000, 'needs_you', 1),
    line('ses_failed', w.cite, thesis, 70, 'failed'),
  ];
}

function planOf(w: Words, done: number): SessionView['plan'] {
  const status = (n: number) => (n < done ? 'completed' : n === done ? 'in_progress' : 'pending');
  return { version: 3, items: w.plan.map((text, n) => ({ text, status: status(n) })) };
}

function beginning(w: Words, start: number): Entry[] {
  const read = ['order.html', 'styles.css', 'menu.json', 'scripts/order.js', 'index.html', 'checks/form.mjs'];
  const checks = 'fail  the form fits a 360-pixel screen\nfail  every label can be tapped\npass  11 others\n';
  return [
    said('e1', start, w.ask),
    answer('e2', start, w.look),
    calls(
      'e3',
      start,
      ...read.map((path, n) => call(`cal_r${n}`, 'read_file', { path }, { ms: 300 })),
      call('cal_s', 'search_files', { pattern: 'label for=' }, { output: 'order.html:14\norder.html:21\n' }),
      call('cal_c', 'run_command', { command: 'node checks/form.mjs' }, checksResult(checks)),
    ),
    answer('e4', start + 2 * MINUTE, w.found),
    calls(
      'e5',
      start + 2 * MINUTE,
      call('cal_w1', 'edit_file', { path: 'order.html' }, { added: 18, removed: 9, ms: 40 }),
      call('cal_w2', 'edit_file', { path: 'styles.css' }, { added: 22, removed: 4, ms: 30 }),
    ),
  ];
}

function checksResult(output: string) {
  return { facts: { command: 'node checks/form.mjs', exit_code: '1' }, ms: 8_200, output };
}

function requests(w: Words, time: number): Entry[] {
  const first = approval('apr_1', {
    facts: {
      command: 'node checks/form.mjs --width 360',
      not_covered: 'node_modules\nphotos/big.iso\ncache\nvideo.mp4\nbackup.tar',
      not_covered_count: '6',
    },
    exact: 'node checks/form.mjs --width 360',
    model_says: w.why,
    offers: [
      { kind: 'command', words: ['node', 'checks/form.mjs'], exact: false, files: [] },
      { kind: 'commands' },
    ],
  });
  const second = approval('apr_2', {
    tool: 'edit_file',
    act: 'edit',
    facts: { path: 'menu.json' },
    can_touch: ['menu.json'],
    risk: 1,
    undo: 'yes',
    ...written(menuDiff()),
    offers: [{ kind: 'write', under: '.' }],
  });
  return [
    answer('e9', time, w.helper),
    entry('e10', time, { kind: 'approval', approval: first }),
    entry('e11', time, { kind: 'approval', approval: second }),
  ];
}

function question(w: Words, time: number): Entry {
  const asked = {
    id: 'que_1',
    text: w.question,
    options: w.options,
    free_text: true,
    sensitive: false,
    answer: null,
  };
  return entry('e2', time, { kind: 'question', question: asked });
}

function unknown(start: number): Entry[] {
  const upload = call('cal_u', 'run_command', { command: './publish.sh' }, { state: 'unknown', ms: null });
  return [
    entry('e2', start + MINUTE, { kind: 'notice', code: 'recovery/adopted', facts: {}, level: 'info' }),
    entry('e3', start + MINUTE, {
      kind: 'unknown',
      call: upload,
      evidence: {
        started_at: String(start),
        reason: 'runtime_restarted',
        output_tail: 'sent  9 of 14 files\nsent  styles.css\n',
      },
      resolution: null,
    }),
  ];
}

function failure(w: Words, start: number): Entry[] {
  const facts = { class: 'overloaded', provider: 'Anthropic', said: 'Overloaded', status: '529' };
  return [
    answer('e2', start, w.look),
    entry('e3', start + MINUTE, { kind: 'notice', code: 'attempt/failed', facts, level: 'bad' }),
    end('e4', start + 2 * MINUTE, 'failed', facts, 95_000),
  ];
}

function menuDiff() {
  return diff(
    'menu.json',
    44,
    '     { "name": "Almond cake",\n-      "price": 4.20⟦ },⟧\n+      "price": 4.20⟦,⟧\n+      ⟦"tags": ["gluten-free"] },⟧\n     { "name": "Rice-flour bun",\n-      "price": 3.10⟦ },⟧\n+      "price": 3.10⟦,⟧\n+      ⟦"tags": ["gluten-free"] },⟧\n     { "name": "Cinnamon knot",',
  );
}

function services(): Provider[] {
  const line = (id: string, name: string, key: string, models: string[]): Provider => ({
    id,
    name,
    dialect: { anthropic: 'anthropic-messages', openai: 'openai-responses' }[id] ?? 'openai-chat',
    base_url: id === 'ollama' ? 'http://localhost:11434' : `https://api.${id}.example`,
    key,
    custom: false,
    models,
    efforts: id === 'anthropic' ? { 'claude-sonnet': ['low', 'medium', 'high', 'max'] } : {},
    context_tokens: null,
    certificates: [],
    check: key === 'missing' ? null : { ok: true, facts: {} },
  });
  return [
    line('ollama', 'Ollama', 'not_needed', ['qwen3:8b', 'llama3.2', 'gemma3']),
    line('anthropic', 'Anthropic', 'stored', ['claude-sonnet', 'claude-haiku']),
    line('openai', 'OpenAI', 'missing', []),
    line('deepseek', 'DeepSeek', 'missing', []),
  ];
}
