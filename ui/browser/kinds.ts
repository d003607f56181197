// Every kind of thing that waits for the person, or that became of it, as the engine would send it.
import type { Activity } from '../src/protocol/generated/Activity';
import type { ApprovalView } from '../src/protocol/generated/ApprovalView';
import type { EntryBody } from '../src/protocol/generated/EntryBody';
import type { QuestionView } from '../src/protocol/generated/QuestionView';
import { approval, call, diff } from '../src/protocol/fake/make';

export interface Kind {
  name: string;
  body: EntryBody;
  activity: Activity;
}

const HELD = ['outside_folder', 'network'];
const NEEDS: Activity = { kind: 'needs_you', count: 1 };
const LONG = 'archive/2025/invoices-from-the-wholesale-market-and-the-flour-mill/january';

const asks = (name: string, part: Partial<ApprovalView>): Kind => ({
  name,
  body: {
    kind: 'approval',
    approval: approval(`apr_${name}`, { model_says: 'The menu is built from it.', ...part }),
  },
  activity: NEEDS,
});

const file = (path: string, facts: ApprovalView['facts'], part: Partial<ApprovalView>) => ({
  ...{ can_touch: [path], cannot_touch: HELD, risk: 1, undo: 'yes', exact: path },
  facts: { path, ...facts },
  ...part,
});

const question = (name: string, part: Partial<QuestionView>): Kind => {
  const rest = { options: [], free_text: true, sensitive: false, answer: null };
  const text = 'Which products should the filter show?';
  return {
    name,
    body: { kind: 'question', question: { id: `que_${name}`, text, ...rest, ...part } },
    activity: NEEDS,
  };
};

const DIFF = diff(
  'menu.json',
  44,
  '     "Almond cake",\n-     4.20\n+     4.20,\n+     "gluten-free"\n     "Bun",',
);
const site = 'downloads.example.org:443';

export const KINDS: readonly Kind[] = [
  asks('write', {
    ...{ act: 'write', tool: 'write_file', diff: diff('new/summary.md', 1, '+# Summary\n+\n+All of it.') },
    ...file('new/summary.md', { new: 'true', added: '3', removed: '0', folders: 'new' }, {}),
    offers: [{ kind: 'write', under: 'new' }],
  }),
  asks('edit', {
    ...{ act: 'edit', tool: 'edit_file', diff: DIFF },
    ...file('menu.json', { new: 'false', added: '2', removed: '1' }, {}),
    offers: [{ kind: 'write', under: '.' }],
  }),
  asks('delete', {
    act: 'delete',
    tool: 'delete_path',
    ...file('old.html', { kind: 'file', to: 'trash' }, { risk: 2 }),
  }),
  asks('delete-folder', {
    ...{ act: 'delete', tool: 'delete_path' },
    ...file(LONG, { kind: 'folder', files: '1200', more: 'true', to: 'kept' }, { risk: 2, undo: 'partly' }),
    offers: [{ kind: 'delete', under: 'archive' }],
  }),
  asks('command', {
    facts: { command: 'npm test' },
    offers: [
      { kind: 'command', words: ['npm', 'test'], exact: false, files: ['package.json'] },
      { kind: 'commands' },
    ],
  }),
  asks('command-online', {
    ...{ facts: { command: 'npm install viewport-checks' }, exact: 'npm install viewport-checks' },
    ...{ reach: [site, 'registry.example.org:443'], cannot_touch: ['outside_folder'], risk: 2 },
    offers: [{ kind: 'site', site }],
  }),
  asks('command-without-cage', { facts: { command: 'make' }, exact: 'make', cannot_touch: [], risk: 3 }),
  asks('command-long', {
    ...{
      facts: { command: `sh -c '${'echo a; '.repeat(120)}'` },
      exact: `sh -c '${'echo a; '.repeat(120)}'`,
    },
    warnings: ['long'],
  }),
  asks('command-that-hides', {
    ...{ facts: { command: 'rm x' }, exact: 'rm ⟨U+202E⟩fdp.txt' },
    ...{ suspicious: true, warnings: ['direction', 'invisible'] },
  }),
  asks('secret', {
    act: 'read',
    tool: 'read_file',
    ...file('.env', { secrets: '.env' }, { risk: 2 }),
    cannot_touch: [...HELD, 'writing'],
  }),
  asks('protected', {
    ...{ act: 'write', tool: 'write_file', diff: diff('.git/hooks/pre-commit', 1, '+#!/bin/sh\n+make') },
    ...file(
      '.git/hooks/pre-commit',
      { new: 'true', added: '2', removed: '0', protected: '.git/hooks/pre-commit' },
      { risk: 3 },
    ),
  }),
  asks('outside', {
    ...{ act: 'edit', tool: 'edit_file', diff: DIFF },
    ...file('menu.json', { named_elsewhere: 'menu.json', added: '2', removed: '1' }, {}),
    ...{ cannot_touch: ['network'], risk: 3 },
  }),
  asks('publish', {
    ...{ facts: { command: './publish.sh --all', not_covered: '.' }, exact: './publish.sh --all' },
    ...{ reach: [site], cannot_touch: ['outside_folder'], risk: 3, undo: 'no' },
  }),
  asks('other-tool', {
    act: 'talk',
    tool: 'from_the_future',
    facts: {},
    can_touch: [],
    exact: '{"a":1}',
    risk: 1,
  }),
  question('question', { options: ['Only those without flour', 'All that say so'] }),
  question('question-hidden', { text: 'What is the password of the test account?', sensitive: true }),
  {
    name: 'unknown',
    body: {
      kind: 'unknown',
      call: call('cal_lost', 'run_command', { command: './publish.sh' }, { state: 'unknown', ms: null }),
      evidence: {
        started_at: '1700000000000',
        reason: 'runtime_restarted',
        output_tail: 'sent  9 of 14 files\n',
      },
      resolution: null,
    },
    activity: NEEDS,
  },
  { ...asks('expired', { state: { kind: 'expired', why: 'time' } }), activity: { kind: 'idle' } },
  { ...asks('changed', { state: { kind: 'expired', why: 'changed' } }), activity: { kind: 'idle' } },
  {
    ...asks('refused', {
      state: { kind: 'refused', why: 'Use the other script, this one publishes everything.' },
    }),
    activity: { kind: 'idle' },
  },
  { ...asks('allowed', { state: { kind: 'granted' } }), activity: { kind: 'held', by: 'folder' } },
];
