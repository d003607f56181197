// The page of permissions over the stand-in: what was allowed, taking it back, the table of modes, and trying a command.
import { cleanup, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { FakeBackend } from '../../protocol/fake/fake';
import { sampleWorld } from '../../protocol/fake/sample';
import { Permissions } from '../../state/permissions.svelte';
import type { Texts } from '../../texts';
import { en } from '../../texts/en';
import { doubtWords, ruleWords, scopeWords } from '../../texts/permission';
import { zh } from '../../texts/zh';
import PermissionsPage from './PermissionsPage.svelte';

const NOW = 1e12;

async function page(change: (backend: FakeBackend) => void = () => {}, t: Texts = en) {
  const backend = new FakeBackend({
    ...sampleWorld('en', NOW),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => NOW,
  });
  // Folders to look at have tests of their own.
  for (const view of backend.world.views.values()) view.added = [];
  change(backend);
  const permissions = new Permissions(backend);
  const sessions = backend.world.summaries;
  render(PermissionsPage, { t, permissions, sessions, now: NOW });
  await screen.findByRole('heading', { name: t.permissions.rules });
  return { backend, permissions };
}

test('r_pol_what_was_allowed_is_listed_with_its_scope_its_place_and_its_last_use', async () => {
  await page();
  const lines = screen.getAllByRole('listitem').map((line) => line.textContent?.replace(/\s+/g, ' '));
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain(
    'Commands that begin with “node checks/form.mjs”, without internet, in this folder only',
  );
  expect(lines[0]).toContain('This session only: Order form on phones, in Lantern Bakery site');
  expect(lines[0]).toContain('last used 3 min ago');
  expect(lines[1]).toContain('Whatever a command can read could be sent there');
  expect(lines[1]).toContain('not used yet');
  // Of what holds for good no use is recorded, which isn't the same as never.
  expect(lines[2]).toContain('Always in Invoices 2025');
  expect(lines[2]).toContain('last use isn’t kept');
});

test('r_pol_a_permission_is_revoked_by_its_own_button', async () => {
  const { backend } = await page();
  await userEvent.click(
    screen.getByRole('button', { name: 'Revoke: Creating and changing files in scans/2025' }),
  );
  await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(2));
  expect(backend.asked.at(-1)).toEqual({ name: 'revoke', args: { grant: 'gra_3', session: null } });
  await userEvent.click(screen.getByRole('button', { name: /Revoke: Commands that begin/ }));
  expect(backend.asked.at(-1)).toEqual({ name: 'revoke', args: { grant: 'gra_1', session: 'ses_work' } });
});

test('a permission that is gone already is said, and nothing else is lost', async () => {
  const { backend } = await page();
  backend.world.grants = [];
  await userEvent.click(screen.getByRole('button', { name: /Revoke: Commands that begin/ }));
  expect(await screen.findByRole('alert')).toHaveTextContent('This permission was revoked already.');
  expect(screen.getByRole('table')).toBeVisible();
});

test('r_pol_the_table_says_what_each_mode_does_and_how_strong_the_cage_is', async () => {
  await page();
  const row = (name: string) =>
    within(screen.getByRole('row', { name: new RegExp(name) }))
      .getAllByRole('cell')
      .map((cell) => cell.textContent);
  expect(screen.getAllByRole('columnheader').map((head) => head.textContent)).toEqual([
    'What',
    'Ask first',
    'Edit freely',
    'Plan only',
    'Auto',
  ]);
  expect(row('Create and change files')).toEqual(['Asks you', 'Allowed', 'Never', 'Allowed']);
  expect(row('Run commands that go online')).toEqual(['Asks you', 'Asks you', 'Never', 'Asks you']);
  expect(row('Run commands without internet')).toEqual(['Asks you', 'Asks you', 'Read-only', 'Allowed']);
  expect(screen.getByText(/^Read-only: commands run, but can’t change anything/)).toBeVisible();
  expect(screen.queryByText(/strictest/)).toBeNull();
  expect(screen.getByText(/Commands run in a cage here: .*Sites can be allowed one by one/)).toBeVisible();
});

test('without a cage the page says so and promises no limits', async () => {
  await page((backend) => (backend.world.app.cage = 'none'));
  expect(screen.getByText(/Commands can’t be caged on this computer/)).toBeVisible();
  expect(screen.queryByText(/one by one/)).toBeNull();
  expect(screen.getByRole('row', { name: /Run commands without internet/ })).toHaveTextContent(/Never/);
});

test('nothing allowed is a sentence, not an empty box', async () => {
  await page((backend) => (backend.world.grants = []), zh);
  expect(screen.getByText('还没有。你为某个会话或长期允许的事会列在这里。')).toBeVisible();
});

test('r_pol_a_command_is_tried_without_running', async () => {
  const { backend } = await page();
  const field = screen.getByRole('textbox', { name: 'Command' });
  const answers: [string, RegExp[]][] = [
    [
      'ls -la',
      [/It would run without asking/, /because it only looks/, /can’t change anything/, /It starts: ls/],
    ],
    ['curl https://x', [/You would be asked first/, /because it goes online/]],
    ['node checks/form.mjs', [/It would run without asking/, /because you allowed it/]],
    ['echo $(cat .env)', [/doesn’t fully understand/, /filled in only when it runs/]],
  ];
  for (const [command, expected] of answers) {
    await userEvent.clear(field);
    await userEvent.type(field, `${command.replaceAll('{', '{{').replaceAll('[', '[[')}{Enter}`);
    for (const words of expected)
      await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(words));
  }
  expect(backend.asked.filter((one) => one.name === 'what_if')).toHaveLength(answers.length);
  expect(backend.asked.map((one) => one.name)).not.toContain('send');
});

test('an answer is one sentence, in both languages, and its session is chosen from a list', async () => {
  for (const [t, words, field] of [
    [en, 'You would be asked first, because of the mode “Ask first”.', 'Command'],
    [zh, '会先问你，因为模式是“先问我”。', '命令'],
  ] as const) {
    const { backend } = await page((of) => {
      for (const view of of.world.views.values()) view.mode = 'ask';
    }, t);
    await userEvent.click(screen.getByRole('button', { name: new RegExp(`^${t.permissions.test.session}`) }));
    await userEvent.click(screen.getByRole('menuitemradio', { name: 'Faster photo pages' }));
    await userEvent.type(screen.getByRole('textbox', { name: field }), 'npm start{Enter}');
    await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(words));
    expect(backend.asked.at(-1)).toMatchObject({ args: { session: 'ses_done', command: 'npm start' } });
    cleanup();
  }
});

test('sentences in a row have no gap in chinese', async () => {
  await page(undefined, zh);
  expect(screen.getByText(/不能联网。可以逐个允许网站。/)).toBeVisible();
});

test('without a session nothing can be tried, and the page says why', async () => {
  await page((backend) => (backend.world.summaries = []));
  expect(screen.getByText(/Open a session first/)).toBeVisible();
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('every scope, rule and doubt has words, and unknown ones say their name', () => {
  expect(scopeWords({ kind: 'write', under: '.' }, en)).toBe(
    'Creating and changing files anywhere in this folder',
  );
  expect(scopeWords({ kind: 'delete', under: 'old/x' }, zh)).toBe('在 old/x 里删除');
  expect(scopeWords({ kind: 'command', words: ['npm', 'test'], exact: true }, en)).toContain(
    'Exactly the command “npm test”',
  );
  expect(scopeWords({ kind: 'site', site: 'a.b\u202e:443' }, en)).toContain('⟨U+202E⟩');
  const rules: [string, string][] = [
    ['builtin/looks', 'because it only looks'],
    ['builtin/protected:AGENTS.md', 'because AGENTS.md steers Daybook or tools'],
    ['builtin/secret:.env', 'because .env holds secrets'],
    ['builtin/outside', 'because the file also has a name outside this folder'],
    ['cage/none', 'because commands can’t be caged here'],
    ['grant/gra_1', 'because you allowed it'],
    ['mode/auto', 'because of the mode “Auto”'],
    ['mode/plan-read-only', 'because of the mode “Plan only”'],
    ['company/no-docker', 'by the rule company/no-docker'],
  ];
  for (const [rule, words] of rules) expect(ruleWords(rule, en)).toBe(words);
  expect(doubtWords(['glob', 'tilde', 'constructor', 'compound'], en)).toEqual([
    'some of it is filled in only when it runs',
    'a part of it isn’t known',
    'it does more than start programs one after another',
  ]);
});

test('a folder that a session may look at is listed with its session and taken back by its own button', async () => {
  const { backend } = await page((backend) => {
    const view = backend.world.views.get('ses_work');
    if (view) {
      view.added = [
        { id: 'fol_a', name: 'Invoices 2025', place: '~/Dropbox/Accounts', state: 'here' },
        { id: 'fol_b', name: 'Stick', place: '/media/me/Stick', state: 'gone' },
      ];
    }
  });
  const lines = within(screen.getByRole('list', { name: en.added.title })).getAllByRole('listitem');
  const [here, gone] = lines.map((line) => line.textContent?.replace(/\s+/g, ' '));
  expect(here).toContain('Invoices 2025 ~/Dropbox/Accounts This session only: Order form on phones');
  expect(here).not.toContain(en.added.goneNote);
  expect(gone).toContain(en.added.goneNote);
  await userEvent.click(screen.getByRole('button', { name: 'Revoke: Invoices 2025' }));
  expect(backend.asked).toContainEqual({
    name: 'remove_folder',
    args: { session: 'ses_work', folder: 'fol_a' },
  });
  await waitFor(() => expect(screen.queryByText('Invoices 2025')).toBeNull());
  await userEvent.click(screen.getByRole('button', { name: 'Revoke: Stick' }));
  expect(await screen.findByText(en.added.none)).toBeTruthy();
});

test('a folder that was taken back elsewhere is said, and nothing else is lost', async () => {
  const { backend } = await page((backend) => {
    const view = backend.world.views.get('ses_work');
    if (view) view.added = [{ id: 'fol_a', name: 'Invoices 2025', place: '~', state: 'here' }];
  });
  const view = backend.world.views.get('ses_work');
  if (view) view.added = [];
  await userEvent.click(screen.getByRole('button', { name: 'Revoke: Invoices 2025' }));
  expect((await screen.findByRole('alert')).textContent).toContain(en.failures['folder/removed']);
});
