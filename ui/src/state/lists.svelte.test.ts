// The lists around a session: sessions by folder, services by state, changed files, settings, layout.
import { expect, test } from 'vitest';
import { Failure } from '../protocol/backend';
import { FakeBackend } from '../protocol/fake/fake';
import { TURNS } from '../protocol/fake/bakery';
import { sampleWorld } from '../protocol/fake/sample';
import { Changes } from './changes.svelte';
import { Layout } from './layout.svelte';
import { Providers } from './providers.svelte';
import { SessionList } from './sessions.svelte';
import { SettingsState } from './settings.svelte';

const fake = () =>
  new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });

test('sessions are grouped by folder, newest first', () => {
  const list = new SessionList();
  list.load(fake().world.summaries);
  expect(list.projects.map((project) => [project.folder.name, project.sessions.length])).toEqual([
    ['Lantern Bakery site', 3],
    ['Invoices 2025', 2],
    ['Thesis', 1],
  ]);
  list.query = 'INVOICES';
  expect(list.projects.map((project) => project.folder.name)).toEqual(['Invoices 2025']);
});

test('what was told while the list was read stays where it is newer', () => {
  const list = new SessionList();
  const [line] = fake().world.summaries;
  if (!line) throw new Error('the sample has sessions');
  const told = (id: string, updated: number, title: string) => ({ ...line, id, updated, title });
  list.put(told('a', 5, 'told'));
  list.put(told('b', 5, 'told'));
  list.put(told('new', 9, 'told'));
  list.load([told('a', 4, 'read'), told('b', 6, 'read'), told('c', 1, 'read')]);
  expect(list.all.map(({ id, title }) => `${id} ${title}`)).toEqual([
    'new told',
    'b read',
    'a told',
    'c read',
  ]);
});

test('d23_ten_thousand_sessions_are_grouped_at_once', () => {
  const list = new SessionList();
  const line = fake().world.summaries[0];
  if (!line) throw new Error('the sample has sessions');
  const many = Array.from({ length: 10_000 }, (_, n) => ({ ...line, id: `s${n}`, updated: n }));
  const before = performance.now();
  list.load(many);
  expect(list.projects[0]?.sessions[0]?.id).toBe('s9999');
  expect(performance.now() - before).toBeLessThan(500);
});

test('a service counts as connected by its key or by its answer', async () => {
  const providers = new Providers(fake());
  await providers.load();
  expect(providers.connected.map((provider) => provider.id)).toEqual(['ollama', 'anthropic']);
  expect(await providers.setKey('openai', 'sk-1')).toBe(true);
  expect(providers.connected.map((provider) => provider.id)).toEqual(['ollama', 'anthropic', 'openai']);
  expect(JSON.stringify(providers.all)).not.toContain('sk-1');
  expect(providers.choices).toContainEqual({ provider: 'ollama', model: 'llama3.2' });
});

test('a slower answer about another file replaces nothing', async () => {
  const backend = fake();
  const changes = new Changes(backend, 'ses_done');
  await changes.load();
  const first = changes.select(TURNS.filter, 'menu.json');
  const second = changes.select(TURNS.filter, 'styles/filter.css');
  await Promise.all([first, second]);
  expect(changes.diff?.path).toBe('styles/filter.css');
  await changes.step(-1);
  expect(changes.selected?.path).toBe('scripts/menu.js');
  await changes.step(-1);
  await changes.step(-1);
  expect(changes.selected?.path).toBe('menu.json');
});

test('settings that cannot be kept are put back', async () => {
  const backend = fake();
  const settings = new SettingsState(backend, ['zh-Hans-CN']);
  expect(settings.language).toBe('zh-CN');
  await settings.load();
  expect(settings.language).toBe('en');
  backend.call = () => Promise.reject(new Failure({ code: 'store/read_only', message: '', hint: null }));
  await expect(settings.change({ theme: 'dark' })).rejects.toThrow();
  expect(settings.value.theme).toBe('system');
});

test('nothing is saved over settings that nobody saw', async () => {
  const backend = fake();
  const settings = new SettingsState(backend, ['en']);
  const asked: string[] = [];
  const { call } = backend;
  backend.call = (command) => {
    asked.push(command.name);
    if (command.name === 'settings')
      return Promise.reject(new Failure({ code: 'settings/unreadable', message: '', hint: null }));
    return call.call(backend, command);
  };
  await expect(settings.change({ theme: 'dark' })).rejects.toThrow();
  expect([asked, settings.value.theme]).toEqual([['settings'], 'system']);
  backend.call = call.bind(backend);
  backend.world.settings = { ...backend.world.settings, spend: { session: 50_000, day: null } };
  await settings.change({ theme: 'dark' });
  expect(settings.value).toMatchObject({ theme: 'dark', spend: { session: 50_000 } });
});

test('parts of the window are columns where there is room and drawers where there is not', () => {
  const narrow = $state({ current: false });
  const mid = $state({ current: false });
  const layout = new Layout(narrow, mid);
  expect([layout.sidebarShown, layout.inspectorShown]).toEqual([true, true]);
  layout.toggleSidebar();
  expect(layout.sidebarShown).toBe(false);
  layout.toggleSidebar();
  mid.current = true;
  expect([layout.sidebarShown, layout.inspectorShown]).toEqual([true, false]);
  layout.showTab('changes');
  expect(layout.inspectorDrawer).toBe(true);
  narrow.current = true;
  layout.toggleSidebar();
  expect([layout.sidebarDrawer, layout.inspectorDrawer]).toEqual([true, false]);
  expect(layout.closeDrawers()).toBe(true);
  expect(layout.closeDrawers()).toBe(false);
});
