// The stand-in as the development page and screenshots use it. The address says what it looks like:
// `?lang=zh&theme=dark&size=large&empty=1&problem=1&heavy=1&nomodel=1&unreadable=1&only=ses_done`.
import type { Patch } from '../generated/Patch';
import { FakeBackend } from './fake';
import { heavyViews } from './heavy';
import { approval, entry } from './make';
import { damagedAt, holding } from './record';
import { sampleWorld } from './sample';
import { story } from './story';
import { en, zh } from './words';

declare global {
  var fake: FakeBackend;
  var fakeApproval: (exact: string, id?: string) => Patch;
}

export function demoBackend(query: URLSearchParams): FakeBackend {
  const language = query.get('lang') === 'zh' ? 'zh-CN' : 'en';
  const now = () => Date.now();
  const world = sampleWorld(language, now());
  const pace = Number(query.get('pace') ?? '1');
  world.settings.theme = query.get('theme') ?? 'system';
  world.settings.text_size = query.get('size') ?? 'normal';
  if (query.has('empty')) Object.assign(world, { summaries: [], folders: world.folders.slice(0, 1) });
  if (query.has('nomodel')) {
    world.settings.model = null;
    for (const provider of world.providers) {
      Object.assign(provider, { models: [], check: null });
      if (provider.key === 'stored') provider.key = 'missing';
    }
  }
  if (query.has('unreadable')) Object.assign(world, { ownUnreadable: true, grantsUnreadable: true });
  if (query.has('problem')) world.app.keychain = 'missing';
  for (const view of heavyViews(now(), world)) {
    world.views.set(view.id, view);
    if (query.has('heavy')) {
      const { id, title, folder, tour } = view;
      world.summaries.push({
        id,
        title,
        folder,
        tour,
        updated: now() - 86_400_000,
        state: 'idle',
        needs_you: 0,
      });
    }
  }
  // A record of a hundred thousand events, and one that was changed from outside.
  world.records = new Map([
    ['ses_record', { events: 100_001, began: now() - 9e8, verification: holding(100_001) }],
    ['ses_hostile', { events: 214, began: now() - 385_000, verification: damagedAt(118) }],
  ]);
  const only = query.get('only');
  if (only !== null) world.summaries = world.summaries.filter((line) => line.id === only);
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms * pace));
  const script = story(language === 'zh-CN' ? zh : en, now);
  const backend = new FakeBackend({ ...world, script, pause, now });
  // Test runs push patches from outside; only test builds have these doors.
  globalThis.fake = backend;
  globalThis.fakeApproval = (exact, id = 'pushed') => ({
    kind: 'entry',
    entry: entry(id, now(), {
      kind: 'approval',
      approval: approval(`apr_${id}`, { exact, facts: { command: exact }, model_says: 'It has to run.' }),
    }),
  });
  return backend;
}
