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
  const { folders } = backend.world;
  render(PermissionsPage, { t, permissions, sessions, folders, now: NOW });
  await screen.findByRole('heading', { name: t.permissions.rules });
  return { backend, permissions };
}

/** Lines of what was allowed. */
function given(t: Texts = en): HTMLElement[] {
  return within(screen.getByRole('list', { name: t.permissions.given })).getAllByRole('listitem');
}

const menu = (name: string) => screen.getByRole('button', { name });

test('r_pol_what_was_allowed_is_listed_with_its_scope_its_place_and_its_last_use', async () => {
  await page();
  const lines = given().map((line) => line.textContent?.replace(/\s+/g, ' '));
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain(
    'Commands that begin with “node checks/form.mjs”, without internet, in this folder only',
  );
  expect(lines[0]).toContain('This session only: Order form on phones, in Lantern Bakery site');
  expect(lines[0]).toContain('last used 3 min ago');
  expect(lines[1]).toContain('Whatever a command can read could be sent there');
  expect(lines[1]).toContain('not used yet');
  // Not all sessions were looked at, which isn't the same as never.
  expect(lines[2]).toContain('Always in Invoices 2025');
  expect(lines[2]).toContain('last use isn’t known');
  expect(lines[3]).toContain('Asks again when plant.sh changes');
  expect(lines[3]).toContain('The folder isn’t there. Should it come back, this holds again.');
  expect(screen.getByRole('button', { name: /Revoke: Exactly the command “sh plant.sh”/ })).toBeEnabled();
});

test('r_pol_a_permission_is_revoked_by_its_own_button', async () => {
  const { backend } = await page();
  await userEvent.click(
    screen.getByRole('button', { name: 'Revoke: Creating and changing files in scans/2025' }),
  );
  await waitFor(() => expect(given()).toHaveLength(3));
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
      .map((cell) => cell.textContent?.trim());
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
    [
      'curl https://x.example/a',
      [
        /You would be asked first/,
        /because it goes online/,
        /It goes online to x\.example/,
        /It can touch: everything in the folder/,
        /Your rules keep it away from accounts/,
      ],
    ],
    ['git push', [/It would be refused, by your rule: Commands like “git push”.*\(Every folder\)/]],
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

test('r_pol_a_file_is_tried_too_and_the_rule_that_wins_says_where_it_was_set', async () => {
  const { backend } = await page((of) => {
    of.world.own = [
      { about: { kind: 'delete' }, folder: of.world.folders[0] ?? null, word: 'never', given: NOW },
    ];
  });
  await userEvent.click(menu('What: Run a command'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Delete' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Path in the folder' }), 'old/a.txt{Enter}');
  const status = screen.getByRole('status');
  await waitFor(() => expect(status).toHaveTextContent('It would be refused, by your rule: Delete files'));
  expect(status).toHaveTextContent('(Only in Lantern Bakery site)');
  expect(status).toHaveTextContent('It can touch: old/a.txt');
  expect(backend.asked.at(-1)).toMatchObject({ args: { what: { kind: 'delete', path: 'old/a.txt' } } });
});

test('r_pol_12_each_kind_of_act_has_a_rule_and_what_can_not_be_allowed_for_good_has_no_allow', async () => {
  const { backend } = await page();
  const choices: [string, string, string[]][] = [
    ['Read files in the folder', 'Allow', ['Allow', 'Ask me', 'Never']],
    ['Delete files', 'As the mode says', ['As the mode says', 'Ask me', 'Never']],
    ['Go online', 'Ask me', ['Ask me', 'Always ask me', 'Never']],
    ['Send, publish or upload', 'Ask me', ['Ask me', 'Never']],
    ['Read files that hold secrets', 'Ask me', ['Ask me', 'Never']],
  ];
  for (const [what, now, all] of choices) {
    await userEvent.click(menu(`Rule for: ${what}: ${now}`));
    expect(screen.getAllByRole('menuitemradio').map((item) => item.textContent?.trim())).toEqual(all);
    await userEvent.keyboard('{Escape}');
  }
  await userEvent.click(menu('Rule for: Delete files: As the mode says'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Never' }));
  await waitFor(() => expect(menu('Rule for: Delete files: Never')).toBeEnabled());
  const args = { about: { kind: 'delete' }, folder: null, word: 'never' };
  expect(backend.asked.at(-1)).toEqual({ name: 'set_rule', args });
  expect(
    screen.getByText(/Your rule wins: it is refused. Commands that do more than look ask/),
  ).toBeVisible();
  const row = screen.getByRole('row', { name: /Delete files/ });
  expect(within(row).getAllByText('your rule')).toHaveLength(4);
  await userEvent.click(menu('Rule for: Delete files: Never'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'As the mode says' }));
  await waitFor(() => expect(menu('Rule for: Delete files: As the mode says')).toBeEnabled());
  expect(backend.asked.at(-1)).toMatchObject({ args: { word: null } });
});

test('r_pol_12_a_rule_for_a_path_of_one_folder_is_added_changed_and_removed', async () => {
  const { backend } = await page((of) => (of.world.own = []));
  await userEvent.click(menu('Add a rule…'));
  expect(menu('What: Commands of a kind')).toHaveFocus();
  expect(menu('Add rule')).toBeDisabled();
  await userEvent.click(menu('What: Commands of a kind'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'A file or folder' }));
  await userEvent.click(menu('Where: Every folder'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Invoices 2025' }));
  const form = within(screen.getByRole('group', { name: 'Add a rule…' }));
  const field = form.getByRole('textbox', { name: 'Path in the folder' });
  await userEvent.type(field, '../elsewhere{Enter}');
  expect(await screen.findByRole('alert')).toHaveTextContent('That can’t be a rule.');
  await userEvent.clear(field);
  await userEvent.type(field, 'accounts{Enter}');
  const line = await screen.findByText('accounts and everything in it');
  expect(line.closest('li')).toHaveTextContent('Only in Invoices 2025');
  await waitFor(() => expect(menu('Add a rule…')).toHaveFocus());
  const about = { kind: 'path', under: 'accounts' };
  expect(backend.asked.at(-1)).toEqual({ name: 'set_rule', args: { about, folder: 'fol_1', word: 'never' } });
  expect(screen.queryByRole('alert')).toBeNull();
  await userEvent.click(menu('Rule for: accounts and everything in it: Never'));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Ask me' }));
  await waitFor(() => expect(backend.world.own.map(({ word }) => word)).toEqual(['ask']));
  await userEvent.click(menu('Remove the rule: accounts and everything in it'));
  await waitFor(() => expect(screen.queryByText('accounts and everything in it')).toBeNull());
  expect(backend.world.own).toEqual([]);
  await waitFor(() => expect(menu('Add a rule…')).toHaveFocus());
  for (const cancel of [() => userEvent.keyboard('{Escape}'), () => userEvent.click(menu('Cancel'))]) {
    await userEvent.click(menu('Add a rule…'));
    await cancel();
    await waitFor(() => expect(menu('Add a rule…')).toHaveFocus());
  }
});

test('r_pol_12_rules_that_can_not_be_read_are_said_keep_nothing_from_being_revoked_and_can_be_started_over', async () => {
  for (const t of [en, zh]) {
    const { backend } = await page((of) => (of.world.ownUnreadable = true), t);
    expect(screen.getByText(t.rules.unreadable.title)).toBeVisible();
    // Nothing is claimed about what holds.
    expect(screen.getByText(t.rules.unreadable.modes)).toBeVisible();
    expect(screen.queryByRole('table')).toBeNull();
    expect(screen.queryByRole('list', { name: t.rules.title })).toBeNull();
    expect(screen.queryByRole('button', { name: t.rules.add })).toBeNull();
    const lines = given(t);
    const [first] = within(lines[0] as HTMLElement).getAllByRole('button');
    await userEvent.click(first as HTMLElement);
    await waitFor(() => expect(given(t)).toHaveLength(lines.length - 1));
    expect(screen.getByText(t.rules.unreadable.title)).toBeVisible();

    await userEvent.click(menu(t.rules.unreadable.start));
    expect(menu(t.rules.unreadable.yes)).toHaveAccessibleDescription(t.rules.unreadable.sure);
    expect(menu(t.app.cancel)).toHaveFocus();
    await userEvent.click(menu(t.app.cancel));
    expect(screen.queryByText(t.rules.unreadable.sure)).toBeNull();
    expect(menu(t.rules.unreadable.start)).toHaveFocus();
    expect(backend.asked.map(({ name }) => name)).not.toContain('reset_rules');
    await userEvent.click(menu(t.rules.unreadable.start));
    await userEvent.click(menu(t.rules.unreadable.yes));
    expect(await screen.findByRole('list', { name: t.rules.title })).toBeVisible();
    expect(backend.asked.at(-1)).toEqual({ name: 'reset_rules' });
    expect(screen.getByRole('table')).toBeVisible();
    expect(screen.queryByText(t.rules.unreadable.title)).toBeNull();
    cleanup();
  }
});

test('r_pol_permissions_that_can_not_be_read_are_said_hide_nothing_and_can_be_let_go', async () => {
  for (const t of [en, zh]) {
    const { backend } = await page((of) => (of.world.grantsUnreadable = true), t);
    const words = t.permissions.unreadable;
    expect(screen.getByText(words.title)).toBeVisible();
    const lines = given(t).length;
    expect(lines).toBeGreaterThan(0);
    expect(screen.getByRole('list', { name: t.rules.title })).toBeVisible();
    expect(screen.getByRole('table')).toBeVisible();
    await userEvent.click(menu(words.start));
    expect(menu(words.yes)).toHaveAccessibleDescription(words.sure);
    await userEvent.click(menu(words.yes));
    await waitFor(() => expect(screen.queryByText(words.title)).toBeNull());
    expect(backend.asked.at(-1)).toEqual({ name: 'reset_permissions' });
    expect(given(t)).toHaveLength(lines);
    cleanup();
  }
  await page((of) => {
    of.world.grants = [];
    of.world.grantsUnreadable = true;
  });
  expect(screen.getByText(en.permissions.unreadable.title)).toBeVisible();
  expect(screen.queryByText(en.permissions.none)).toBeNull();
});

test('rules that can be read meanwhile are not started over', async () => {
  const { backend, permissions } = await page((of) => (of.world.ownUnreadable = true));
  const kept = backend.world.own;
  backend.world.ownUnreadable = false;
  await permissions.resetRules();
  expect(await screen.findByRole('alert')).toHaveTextContent('Your rules can be read again.');
  expect(backend.world.own).toBe(kept);
});

test('r_pol_12_a_never_about_secrets_or_publishing_says_what_is_only_asked_about', async () => {
  for (const [t, secrets, publish] of [
    [en, /^Files that hold secrets aren’t read\..*is asked about\.$/, /^Nothing is sent, .*could send\.$/],
    [zh, /^含有密钥的文件不会被读取。.*先问你。$/, /^什么都不会被发送、.*先问你。$/],
  ] as const) {
    await page((of) => {
      const never = { folder: null, word: 'never', given: NOW } as const;
      of.world.own = [
        { about: { kind: 'secrets' }, ...never },
        { about: { kind: 'publish' }, ...never },
      ];
    }, t);
    expect(screen.getByText(secrets)).toBeVisible();
    expect(screen.getByText(publish)).toBeVisible();
    cleanup();
  }
});

test('a rule of a folder that is gone is listed and says so', async () => {
  await page((of) => {
    const folder = of.world.folders[3] ?? null;
    of.world.own = [{ about: { kind: 'run' }, folder, word: 'ask', given: NOW }];
  });
  expect(screen.getByText(/The folder isn’t there$/)).toBeVisible();
  expect(menu('Remove the rule: Run commands')).toBeEnabled();
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
    expect(backend.asked.at(-1)).toMatchObject({
      args: { session: 'ses_done', what: { kind: 'run', command: 'npm start' } },
    });
    cleanup();
  }
});

test('sentences in a row have no gap in chinese', async () => {
  await page(undefined, zh);
  expect(screen.getByText(/不能联网。可以逐个允许网站。/)).toBeVisible();
});

test('an answer is gone once what it was said under is', async () => {
  const { permissions } = await page();
  const field = screen.getByRole('textbox', { name: 'Command' });
  const status = () => screen.getByRole('status');
  const changes: (() => Promise<unknown>)[] = [
    () => userEvent.click(screen.getByRole('button', { name: /Revoke: Commands that begin/ })),
    () => permissions.setRule({ kind: 'delete' }, null, 'never'),
    () => permissions.load(),
  ];
  for (const change of changes) {
    await userEvent.clear(field);
    await userEvent.type(field, 'ls{Enter}');
    await waitFor(() => expect(status()).toHaveTextContent(/It would run/));
    await change();
    await waitFor(() => expect(status()).toBeEmptyDOMElement());
  }
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
  expect(scopeWords({ kind: 'command', words: ['npm', 'test'], exact: true, files: [] }, en)).toContain(
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
    ['builtin/publish', 'because it can’t be taken back once sent'],
    ['user/delete', 'by your rule: Delete files'],
    ['user/command:git push', 'by your rule: Commands like “git push”, however they are written'],
    ['user/path:accounts', 'by your rule: accounts and everything in it'],
    [
      'user/names:accounts',
      'by your rule: accounts and everything in it. A file there also has other names, and not all of them can be told',
    ],
    ['user/unreadable', 'by your rule: unreadable'],
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
  const lines = within(screen.getByRole('list', { name: en.added.group })).getAllByRole('listitem');
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
