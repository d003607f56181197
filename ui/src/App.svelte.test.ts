// The page as a whole over the stand-in: start, open, say, answer, look at settings, and hold what breaks.
import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import App from './App.svelte';
import type { Folder } from './protocol/generated/Folder';
import { FakeBackend, type World } from './protocol/fake/fake';
import { sampleWorld } from './protocol/fake/sample';
import { story } from './protocol/fake/story';
import { en, zh } from './protocol/fake/words';
import { NEWS_MS } from './state/undoing.svelte';

const NOW = Date.UTC(2026, 10, 29, 9, 41);

function backend(part: Partial<World> = {}, language: 'en' | 'zh-CN' = 'en'): FakeBackend {
  const now = () => NOW;
  const words = language === 'en' ? en : zh;
  const world = sampleWorld(language, NOW);
  return new FakeBackend({
    ...world,
    script: story(words, now),
    pause: () => Promise.resolve(),
    now,
    ...part,
  });
}

test('the start page has one top heading and needs no session', async () => {
  render(App, { backend: backend({ summaries: [] }) });
  await screen.findByText('Lantern Bakery site');
  expect(screen.getAllByRole('heading', { level: 1 }).map((h) => h.textContent)).toEqual([
    'Drop a project folder here.',
  ]);
  expect(screen.queryByRole('navigation')).toBeNull();
});

test('coming back shows the last session, and the start page stays one click away', async () => {
  const fake = backend();
  render(App, { backend: fake });
  await screen.findByRole('textbox', { name: 'Message' });
  const opened = fake.asked.filter((command) => command.name === 'open_session');
  expect(opened).toEqual([{ name: 'open_session', args: { session: 'ses_work' } }]);
  await userEvent.click(screen.getByRole('button', { name: 'Open another folder' }));
  expect(screen.getByRole('heading', { level: 1, name: 'Drop a project folder here.' })).toBeVisible();
});

test('d11_starting_does_not_wait_for_the_last_session_and_tries_it_only_once', async () => {
  const fake = backend();
  const call = fake.call.bind(fake);
  vi.spyOn(fake, 'call').mockImplementation((command) =>
    command.name === 'open_session' ? new Promise(() => {}) : call(command),
  );
  const { unmount } = render(App, { backend: fake });
  await screen.findByRole('navigation', { name: 'Projects and sessions' });
  await userEvent.click(screen.getByRole('button', { name: 'Open another folder' }));
  expect(screen.getByRole('button', { name: 'Choose a folder…' })).toBeVisible();
  unmount();
  const again = backend();
  render(App, { backend: again });
  expect(await screen.findByRole('button', { name: 'Choose a folder…' })).toBeVisible();
  expect(again.asked.map((command) => command.name)).not.toContain('open_session');
});

test('choosing a folder begins a session in it with the chosen mode and model', async () => {
  const fake = backend({ summaries: [] });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
  await screen.findByText('What would you like done?');
  expect(fake.asked.find((command) => command.name === 'create_session')).toEqual({
    name: 'create_session',
    args: {
      folder: 'fol_0',
      mode: 'ask',
      model: { provider: 'anthropic', model: 'claude-sonnet' },
      wide: false,
    },
  });
});

test('where a session begins the composer has the focus, and an empty one is stayed in', async () => {
  const fake = backend({ summaries: [] });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
  const field = () => screen.getByRole('textbox', { name: 'Message' });
  const created = () => fake.asked.filter((command) => command.name === 'create_session').length;
  await waitFor(() => expect(field()).toHaveFocus());
  await userEvent.click(screen.getByRole('button', { name: 'New session' }));
  await waitFor(() => expect(field()).toHaveFocus());
  field().blur();
  await userEvent.keyboard('{Control>}n{/Control}');
  await waitFor(() => expect(field()).toHaveFocus());
  expect(created()).toBe(1);
  // From the settings it leads back, and out of what fills the window.
  await userEvent.keyboard('{Control>}{Shift>}[KeyM]{/Shift}{/Control}');
  expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Settings' }));
  await userEvent.keyboard('{Control>}n{/Control}');
  await waitFor(() => expect(field()).toHaveFocus());
  expect(created()).toBe(1);
  // Once something was said a new one is made.
  await userEvent.type(field(), 'Tidy up{Enter}');
  await screen.findByPlaceholderText(/^Say what to do instead/);
  await userEvent.keyboard('{Control>}n{/Control}');
  await screen.findByText('What would you like done?');
  await waitFor(() => expect(field()).toHaveFocus());
  expect(created()).toBe(2);
});

test('a whole home folder is asked about, and one click goes on or leads to another folder', async () => {
  const home: Folder = { id: 'home', name: 'ada', place: '~', exists: true, wide: 'home' };
  const fake = backend({ folders: [home], summaries: [] });
  render(App, { backend: fake });
  const made = () => fake.asked.filter((command) => command.name === 'create_session');
  const choose = await screen.findByRole('button', { name: 'Choose a folder…' });
  await userEvent.click(choose);
  const sheet = await screen.findByRole('dialog', { name: 'This is your whole home folder' });
  expect(sheet).toHaveTextContent('To work in “~” would mean');
  expect(made()).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  // Dropped and opened before it is asked about, too, and another one can be chosen instead.
  fake.announce({ kind: 'folder_dropped', folder: home });
  fake.world.folders = [{ ...home, id: 'site', name: 'site', place: '~/site', wide: null }];
  await userEvent.click(await screen.findByRole('button', { name: 'Choose another folder' }));
  await screen.findByText('What would you like done?');
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(made()).toMatchObject([{ args: { folder: 'site', wide: false } }]);
  fake.announce({ kind: 'folder_dropped', folder: home });
  await userEvent.click(await screen.findByRole('button', { name: 'Work in it anyway' }));
  await waitFor(() => expect(made()).toMatchObject([{}, { args: { folder: 'home', wide: true } }]));
});

test('a new session where the open one works in a wide folder is asked about, unless nothing was said in it', async () => {
  const home: Folder = { id: 'home', name: 'ada', place: '~', exists: true, wide: 'home' };
  const fake = backend({ folders: [home], summaries: [] });
  render(App, { backend: fake });
  const made = () => fake.asked.filter((command) => command.name === 'create_session').length;
  const anew = () => userEvent.click(screen.getByRole('button', { name: 'New session' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Work in it anyway' }));
  const field = await screen.findByRole('textbox', { name: 'Message' });
  // The empty one is stayed in.
  await anew();
  await waitFor(() => expect(field).toHaveFocus());
  expect(screen.queryByRole('dialog')).toBeNull();
  await userEvent.type(field, 'Tidy up{Enter}');
  await screen.findByPlaceholderText(/^Say what to do instead/);
  await anew();
  expect(await screen.findByRole('dialog', { name: 'This is your whole home folder' })).toBeVisible();
  expect(made()).toBe(1);
  await userEvent.click(screen.getByRole('button', { name: 'Work in it anyway' }));
  await screen.findByText('What would you like done?');
  expect(made()).toBe(2);
});

test('a dropped folder begins a session; anything else is refused in words', async () => {
  const fake = backend({ summaries: [] });
  render(App, { backend: fake });
  await screen.findByText('Lantern Bakery site');
  fake.announce({ kind: 'drop_refused', name: 'notes.txt' });
  const told = await screen.findByRole('alert');
  expect(told).toHaveTextContent('“notes.txt” isn’t a folder.');
  // Dropped again it is told again, which takes another element.
  fake.announce({ kind: 'drop_refused', name: 'notes.txt' });
  await waitFor(() => expect(screen.getByRole('alert')).not.toBe(told));
  const folder = fake.world.folders[1];
  if (!folder) throw new Error('the sample has folders');
  fake.announce({ kind: 'folder_dropped', folder });
  await screen.findByText('What would you like done?');
  expect(fake.asked.at(-2)).toMatchObject({ name: 'create_session', args: { folder: 'fol_1' } });
});

test('what cannot be taken is refused where the person is, and a folder is taken from there', async () => {
  const fake = backend();
  render(App, { backend: fake });
  const field = await screen.findByRole('textbox', { name: 'Message' });
  fake.announce({ kind: 'drop_refused', name: 'notes.txt' });
  expect(await screen.findByText(/“notes.txt” isn’t a folder/)).toBeVisible();
  expect(field).toBeVisible();
  expect(screen.queryByRole('heading', { name: 'Drop a project folder here.' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByText(/isn’t a folder/)).toBeNull();
  // Over a session it shows that it would be taken; text on its way within the page isn't meant.
  const drag = (type: string, types: string[]) =>
    fireEvent(
      window,
      Object.assign(new Event(type, { cancelable: true }), { dataTransfer: { types }, relatedTarget: null }),
    );
  await drag('dragenter', ['text/plain']);
  expect(screen.queryByText('Drop a folder to begin something in it')).toBeNull();
  await drag('dragenter', ['Files']);
  expect(screen.getByText('Drop a folder to begin something in it')).toBeVisible();
  await drag('dragleave', ['Files']);
  expect(screen.queryByText('Drop a folder to begin something in it')).toBeNull();
});

test('a press with the other button brings up no menu that belongs to a browser', async () => {
  render(App, { backend: backend() });
  const field = await screen.findByRole('textbox', { name: 'Message' });
  // False: it was prevented.
  expect(await fireEvent.contextMenu(screen.getByRole('log'))).toBe(false);
  expect(await fireEvent.contextMenu(screen.getByRole('button', { name: 'Settings' }))).toBe(false);
  expect(await fireEvent.contextMenu(field)).toBe(true);
});

test('a session chosen in a notification of the system is opened, wherever the person was', async () => {
  const fake = backend();
  render(App, { backend: fake });
  await screen.findByRole('textbox', { name: 'Message' });
  await userEvent.click(screen.getByRole('button', { name: 'Open another folder' }));
  await screen.findByRole('heading', { level: 1, name: 'Drop a project folder here.' });
  fake.announce({ kind: 'session_chosen', session: 'ses_work' });
  expect(await screen.findByRole('textbox', { name: 'Message' })).toBeVisible();
  const opened = fake.asked.filter((command) => command.name === 'open_session');
  expect(opened.map((command) => command.args.session)).toEqual(['ses_work', 'ses_work']);
});

test('r_inb_10_words_in_the_composer_reach_what_waits_for_the_person', async () => {
  const goes = [
    ['ses_question', 'Send as the answer', { name: 'answer', text: 'Only the marked ones' }],
    ['ses_approval', 'Don’t allow, and say this', { name: 'refuse', why: 'Only the marked ones' }],
  ] as const;
  for (const [id, button, sent] of goes) {
    const fake = backend();
    const { unmount } = render(App, { backend: fake });
    await screen.findByRole('navigation', { name: 'Projects and sessions' });
    fake.announce({ kind: 'session_chosen', session: id });
    await screen.findByPlaceholderText(/^(Answer the question|Say what to do instead)/);
    const field = screen.getByRole('textbox', { name: 'Message' });
    await userEvent.type(field, 'Only the marked ones');
    await screen.findByRole('button', { name: button });
    await userEvent.type(field, '{Enter}');
    const { name, ...args } = sent;
    expect(fake.asked.find((command) => command.name === name)).toMatchObject({ args });
    expect(fake.asked.map((command) => command.name)).not.toContain('send');
    await waitFor(() => expect(field).toHaveValue(''));
    unmount();
  }
});

test('a new request says which key leads to it, takes no focus, and the key lists what waits elsewhere', async () => {
  const fake = backend();
  render(App, { backend: fake });
  await screen.findByRole('navigation', { name: 'Projects and sessions' });
  fake.announce({ kind: 'session_chosen', session: 'ses_approval' });
  await screen.findByPlaceholderText(/^Say what to do instead/);
  const field = screen.getByRole('textbox', { name: 'Message' });
  await userEvent.type(field, 'half a thou');
  const said = screen.getAllByRole('alert').map((alert) => alert.textContent);
  expect(said).toContainEqual(expect.stringMatching(/^Daybook needs your OK: .*\. Ctrl J goes there\.$/));
  expect(field).toHaveFocus();
  expect(field).toHaveValue('half a thou');
  expect(fake.asked.map((command) => command.name)).not.toContain('approve');
  fake.announce({ kind: 'session_chosen', session: 'ses_done' });
  await screen.findByPlaceholderText('Say what you want done…');
  const list = () => screen.queryByRole('region', { name: 'Waiting for you' });
  expect(list()).toBeNull();
  await userEvent.keyboard('{Control>}j{/Control}');
  await waitFor(list);
  expect(list()).toBeVisible();
});

test('d04_nothing_turns_while_everything_waits_for_the_person', async () => {
  const fake = backend();
  const { container } = render(App, { backend: fake });
  await screen.findByRole('navigation', { name: 'Projects and sessions' });
  fake.announce({ kind: 'session_chosen', session: 'ses_approval' });
  await screen.findByPlaceholderText(/^Say what to do instead/);
  const turning = () => [...container.querySelectorAll('main .mark.working, aside .mark.working')];
  const current = container.querySelector('[aria-current=step] [role=img]');
  expect(current).toHaveAttribute('aria-label', 'Needs you');
  expect(turning()).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: 'Hide plan and changes' }));
  expect(screen.getByText('Step 3 of 6')).toBeVisible();
  expect(turning()).toEqual([]);
});

test('the tour says that no AI is involved, and begins with a button', async () => {
  const fake = backend({ summaries: [] });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Take the tour, no account needed' }));
  expect(await screen.findByText('This is a guided tour. No AI is involved.')).toBeVisible();
  expect(screen.queryByRole('button', { name: /Model/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Begin the tour' }));
  await waitFor(() => expect(screen.getByRole('textbox', { name: 'Message' })).toHaveFocus());
  const id = fake.world.summaries[0]?.id ?? '';
  expect(fake.asked.find((command) => command.name === 'send')).toMatchObject({
    args: { session: id, text: 'Show me how this works.' },
  });
});

test('without a model nothing can be sent, and the notice says how to get one', async () => {
  const world = backend().world;
  const fake = backend({
    summaries: [],
    providers: world.providers.map((provider) => ({ ...provider, key: 'missing', models: [], check: null })),
    settings: { ...world.settings, model: null },
  });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
  const field = await screen.findByRole('textbox', { name: 'Message' });
  await userEvent.type(field, 'Tidy up{Enter}');
  expect(field).toHaveValue('Tidy up');
  expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
  expect(fake.asked.map((command) => command.name)).not.toContain('send');
  expect(screen.getByText('Connect a model first, then this can begin.')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Connect a model' }));
  expect(screen.getByText('No service is connected yet.')).toBeVisible();
  // Connected meanwhile: the words are still there, and choosing is enough.
  fake.world.providers = world.providers;
  const line = screen.getByText('Anthropic').closest('li');
  if (!line) throw new Error('a service is a list item');
  await userEvent.click(within(line).getByRole('button', { name: 'Connect…' }));
  await userEvent.type(screen.getByLabelText('Key for Anthropic'), 'k{Enter}');
  await userEvent.click(screen.getByRole('button', { name: 'Back' }));
  expect(await screen.findByRole('textbox', { name: 'Message' })).toHaveValue('Tidy up');
  await userEvent.click(await screen.findByRole('button', { name: /^Use / }));
  await waitFor(() => expect(screen.getByRole('button', { name: 'Send' })).toBeEnabled());
});

test('the only model there is is taken by a session without one, two have to be chosen from', async () => {
  const { providers, settings } = backend().world;
  for (const models of [['one'], ['one', 'two']]) {
    const fake = backend({
      summaries: [],
      providers: providers.slice(0, 1).map((provider) => ({ ...provider, models })),
      settings: { ...settings, model: null },
    });
    const { unmount } = render(App, { backend: fake });
    await userEvent.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
    if (models.length === 1) {
      await waitFor(() => expect(fake.asked.map(({ name }) => name)).toContain('set_model'));
      await waitFor(() => expect(screen.queryByText(/then this can begin/)).toBeNull());
    } else {
      expect(await screen.findByText('Choose a model, then this can begin.')).toBeVisible();
      expect(fake.asked.map(({ name }) => name)).not.toContain('set_model');
      // What is chosen is what the next session begins with.
      await userEvent.click(screen.getByRole('button', { name: 'Use one' }));
      await waitFor(() => expect(fake.world.settings.model?.model).toBe('one'));
    }
    unmount();
  }
});

test('the tabs are Plan, Changes, Jobs and Record and nothing that comes later', async () => {
  render(App, { backend: backend() });
  await userEvent.click(await screen.findByRole('button', { name: /Order form on phones/ }));
  const tabs = within(await screen.findByRole('tablist')).getAllByRole('tab');
  expect(tabs.map((tab) => tab.textContent?.trim().split(' ')[0])).toEqual([
    'Plan',
    'Changes',
    'Jobs',
    'Record',
  ]);
});

test('the whole page is in Chinese when that is chosen, and the document says so', async () => {
  render(App, { backend: backend({ summaries: [] }, 'zh-CN') });
  expect(await screen.findByRole('heading', { level: 1, name: '把项目文件夹拖到这里。' })).toBeVisible();
  expect(document.documentElement.lang).toBe('zh-CN');
  await userEvent.click(screen.getByRole('button', { name: 'English' }));
  expect(await screen.findByRole('heading', { level: 1, name: 'Drop a project folder here.' })).toBeVisible();
  expect(document.documentElement.lang).toBe('en');
});

test('settings keep theme and language, and put them on the document', async () => {
  const fake = backend();
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Settings' }));
  await userEvent.click(screen.getByRole('button', { name: 'Appearance and language' }));
  await userEvent.click(screen.getByRole('radio', { name: 'Dark' }));
  expect(document.documentElement).toHaveAttribute('data-theme', 'dark');
  expect(fake.world.settings.theme).toBe('dark');
});

test('a key goes to the backend once and is nowhere in the page afterwards', async () => {
  const fake = backend();
  const { container } = render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('button', { name: 'Settings' }));
  const line = screen.getByText('OpenAI').closest('li');
  if (!line) throw new Error('a service is a list item');
  await userEvent.click(within(line).getByRole('button', { name: 'Connect…' }));
  const field = screen.getByLabelText('Key for OpenAI');
  expect(field).toHaveAttribute('type', 'password');
  await userEvent.type(field, 'sk-canary{Enter}');
  await waitFor(() => expect(screen.queryByLabelText('Key for OpenAI')).toBeNull());
  const sent = fake.asked.filter((command) => command.name === 'set_key');
  expect(sent).toEqual([{ name: 'set_key', args: { provider: 'openai', key: 'sk-canary' } }]);
  expect(container.innerHTML).not.toContain('sk-canary');
  expect(JSON.stringify({ ...localStorage })).not.toContain('sk-canary');
});

test('each service card opens its own form with the focus in its first field', async () => {
  const goes: [string, () => HTMLElement][] = [
    ['OpenAI', () => screen.getByLabelText('Key for OpenAI')],
    ['DeepSeek', () => screen.getByLabelText('Key for DeepSeek')],
    ['Another service', () => screen.getByRole('textbox', { name: 'Name' })],
    ['Ollama', () => screen.getAllByRole('button', { name: 'Test' })[0] as HTMLElement],
  ];
  for (const [card, field] of goes) {
    const { unmount } = render(App, { backend: backend({ summaries: [] }) });
    await userEvent.click(await screen.findByText(card));
    expect(field(), card).toHaveFocus();
    unmount();
  }
});

test('until the services are known their places are kept, and nothing else is offered as if it were all', async () => {
  const fake = backend({ summaries: [] });
  let arrive = () => {};
  const held = new Promise<void>((resolve) => (arrive = resolve));
  const call = fake.call.bind(fake);
  vi.spyOn(fake, 'call').mockImplementation(async (command) => {
    if (command.name === 'providers') await held;
    return call(command);
  });
  render(App, { backend: fake });
  expect(await screen.findByText('Looking for services…')).toBeInTheDocument();
  expect(screen.queryByText('OpenAI')).toBeNull();
  arrive();
  await screen.findByText('OpenAI');
  expect(screen.queryByText('Looking for services…')).toBeNull();
});

test('what cannot be done is said in words, on the page it was asked from', async () => {
  const fake = backend({
    folders: [{ id: 'gone', name: 'Gone', place: '~', exists: true, wide: null }],
    summaries: [],
  });
  render(App, { backend: fake });
  const folder = await screen.findByRole('button', { name: /Gone/ });
  fake.world.folders = [];
  await userEvent.click(folder);
  expect(await screen.findByRole('alert')).toHaveTextContent('The folder isn’t there any more.');
});

test('r_undo_changes_go_back_and_come_again_from_the_list', async () => {
  const world = sampleWorld('en', NOW);
  const fake = backend({ summaries: world.summaries.filter((line) => line.id === 'ses_done') });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('tab', { name: /Changes/ }));
  await userEvent.click(
    await screen.findByRole('button', { name: /Undo everything in: Make the order form/ }),
  );
  expect(await screen.findByText('Undid changes to 2 files')).toBeVisible();
  expect(await screen.findByText(/^Turn 1, .*, undone$/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Redo' }));
  expect(await screen.findByText('Redid changes to 2 files')).toBeVisible();
  await waitFor(() => expect(screen.getAllByRole('button', { name: /Undo everything in/ })).toHaveLength(2));
  expect(fake.asked.filter((command) => command.name === 'undo')).toHaveLength(2);
});

test('r_undo_a_session_goes_back_only_after_a_look', async () => {
  const world = sampleWorld('en', NOW);
  const fake = backend({ summaries: world.summaries.filter((line) => line.id === 'ses_done') });
  render(App, { backend: fake });
  await userEvent.click(await screen.findByRole('tab', { name: /Changes/ }));
  await userEvent.click(await screen.findByRole('button', { name: 'Undo the whole session…' }));
  const sheet = await screen.findByRole('dialog', { name: 'Undo the whole session?' });
  expect(
    within(sheet).getByText(/^5 files go back.* 3 new files will be removed\. 1 deleted file comes back\.$/),
  ).toBeVisible();
  // The shortcut doesn't decide what is being looked at.
  await userEvent.keyboard('{Control>}{Shift>}[KeyZ]{/Shift}{/Control}');
  expect(fake.asked.map((command) => command.name)).not.toContain('undo');
  await userEvent.click(within(sheet).getByRole('button', { name: 'Undo 9 files' }));
  expect(await screen.findByText('Undid changes to 9 files')).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('news goes when its time is over, also while another page is shown', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const world = sampleWorld('en', NOW);
    const fake = backend({ summaries: world.summaries.filter((line) => line.id === 'ses_done') });
    render(App, { backend: fake });
    await userEvent.click(await screen.findByRole('tab', { name: /Changes/ }));
    await userEvent.click(await screen.findByRole('button', { name: /Undo everything in: Make the order/ }));
    await screen.findByText('Undid changes to 2 files');
    await userEvent.hover(screen.getByText('Undid changes to 2 files'));
    await userEvent.click(screen.getByRole('button', { name: 'Settings' }));
    vi.advanceTimersByTime(NEWS_MS);
    await userEvent.click(screen.getByRole('button', { name: 'Back' }));
    await screen.findByRole('textbox', { name: 'Message' });
    expect(screen.queryByText('Undid changes to 2 files')).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test('a refused drop goes by itself', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const fake = backend();
    render(App, { backend: fake });
    await screen.findByRole('textbox', { name: 'Message' });
    fake.announce({ kind: 'drop_refused', name: 'notes.txt' });
    await screen.findByText(/isn’t a folder/);
    vi.advanceTimersByTime(8_000);
    await waitFor(() => expect(screen.queryByText(/isn’t a folder/)).toBeNull());
  } finally {
    vi.useRealTimers();
  }
});
