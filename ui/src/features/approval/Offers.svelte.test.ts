// More than this once: only what was offered, with its exact scope beneath it, armed like the yes; and what undo leaves out.
import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { approval } from '../../protocol/fake/make';
import type { Offer } from '../../protocol/generated/Offer';
import type { ApprovalView } from '../../protocol/generated/ApprovalView';
import { ARMING_MS } from '../../state/arming.svelte';
import { handClock } from '../../state/hand-clock';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import { isWide, offerWords } from '../../texts/permission';
import ApprovalCard from './ApprovalCard.svelte';

function show(part: Partial<ApprovalView>, t = en) {
  const clock = handClock();
  const onallow = vi.fn<(more: { offer: number; lasting: boolean } | null) => Promise<boolean>>(() =>
    Promise.resolve(true),
  );
  render(ApprovalCard, {
    t,
    approval: approval('apr_1', part),
    folder: 'Site',
    place: 1,
    of: 1,
    platform: 'linux',
    timing: clock,
    onallow,
    onrefuse: () => Promise.resolve(true),
  });
  const arm = () => clock.pass(ARMING_MS);
  return { onallow, arm };
}

test('r_pol_nothing_offered_is_no_button', () => {
  show({ offers: [] });
  expect(screen.queryByRole('button', { name: 'Allow for this session' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Always in this folder' })).toBeNull();
});

test('r_pol_each_offer_names_its_exact_scope_and_is_answered_by_its_place', async () => {
  const { onallow, arm } = show({
    offers: [{ kind: 'command', words: ['npm', 'test'], exact: false, files: [] }, { kind: 'commands' }],
  });
  const session = () => screen.getAllByRole('button', { name: 'Allow for this session' });
  const always = () => screen.getAllByRole('button', { name: 'Always in this folder' });
  const scope = 'Commands that begin with “npm test”, without internet, in this folder only.';
  expect(session()[0]).toHaveAccessibleDescription(scope);
  expect(always()[0]).toHaveAccessibleDescription(scope);
  // A wider way is only seen by who asks for it.
  expect(session()).toHaveLength(1);
  expect(session()[0]).toBeDisabled();
  arm();
  await userEvent.click(session()[0] as HTMLElement);
  expect(onallow).toHaveBeenLastCalledWith({ offer: 0, lasting: false });
  await userEvent.click(screen.getByText('Other ways to allow it'));
  const wider = screen.getByRole('button', { name: 'Allow all commands for this session' });
  expect(wider).toHaveAccessibleDescription('All commands, without internet, in this folder only.');
  await userEvent.click(always()[0] as HTMLElement);
  expect(onallow).toHaveBeenLastCalledWith({ offer: 0, lasting: true });
});

test('everything of a kind for good is asked about once more, in place', async () => {
  const { onallow, arm } = show({ offers: [{ kind: 'write', under: '.' }, { kind: 'commands' }] });
  arm();
  // Even where it comes first it has its own words, and no single click gives it.
  const always = () => screen.getByRole('button', { name: 'Always allow all changes of files here' });
  await userEvent.dblClick(always());
  expect(onallow).not.toHaveBeenCalled();
  expect(screen.getByText('Allow everything of this kind, always, in this folder?')).toBeVisible();
  const yes = screen.getByRole('button', { name: 'Yes, always allow all changes of files' });
  expect(yes).toHaveAccessibleDescription(/Creating and changing files anywhere in this folder/);
  expect(screen.getByRole('button', { name: 'Cancel' })).toHaveFocus();
  await userEvent.keyboard('{Enter}');
  expect(always()).toBeVisible();
  await userEvent.click(always());
  await userEvent.click(screen.getByRole('button', { name: 'Yes, always allow all changes of files' }));
  expect(onallow).toHaveBeenCalledExactlyOnceWith({ offer: 0, lasting: true });
});

test('every way to allow more has words of its own, in both languages', () => {
  const offers: Offer[] = [
    { kind: 'write', under: 'src' },
    { kind: 'write', under: '.' },
    { kind: 'delete', under: 'old' },
    { kind: 'delete', under: '.' },
    { kind: 'command', words: ['npm', 'test'], exact: true, files: [] },
    { kind: 'command', words: ['npm'], exact: false, files: [] },
    { kind: 'commands' },
    { kind: 'site', site: 'a.example:443' },
  ];
  for (const t of [en, zh])
    expect(new Set(offers.map((offer) => t.offers.alwaysFor(offerWords(offer, t)))).size).toBe(offers.length);
  expect(offers.filter(isWide)).toHaveLength(3);
  expect(zh.offers.sessionFor(offerWords({ kind: 'write', under: 'src' }, zh))).toBe(
    '本次会话都允许改动 src 里的文件',
  );
});

test('allowing once stays allowing once, by click and by key', async () => {
  const { onallow, arm } = show({ offers: [{ kind: 'write', under: '.' }] });
  arm();
  await userEvent.click(screen.getByRole('button', { name: /Allow once/ }));
  expect(onallow).toHaveBeenLastCalledWith(null);
  screen.getByRole('button', { name: 'Allow all changes of files for this session' }).focus();
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  expect(onallow.mock.calls.every(([more]) => more === null)).toBe(true);
});

test('what undo leaves out is named: five paths, then a number', () => {
  const undo = () => within(screen.getByText(/^(Undo|能否撤销)$/).nextElementSibling as HTMLElement);
  const paths = ['node_modules', 'big.iso', 'c', 'd', 'e'].join('\n');
  const table: [Record<string, string>, typeof en, string][] = [
    [
      { not_covered: 'node_modules\nbig.iso', not_covered_count: '2' },
      en,
      'Not covered: node_modules and big.iso',
    ],
    [
      { not_covered: paths, not_covered_count: '8' },
      en,
      'Not covered: node_modules, big.iso, c, d, e and 3 more',
    ],
    [{ not_covered: paths, not_covered_count: '8' }, zh, '不包括：node_modules、big.iso、c、d、e 等 8 个'],
    [{ not_covered: '.' }, en, 'Nothing in the folder is covered.'],
  ];
  for (const [facts, t, words] of table) {
    const { unmount } = render(ApprovalCard, {
      t,
      approval: approval('apr_1', { facts: { command: 'x', ...facts } }),
      folder: 'Site',
      place: 1,
      of: 1,
      platform: 'linux',
      onallow: () => Promise.resolve(true),
      onrefuse: () => Promise.resolve(true),
    });
    expect(undo().getByText(words)).toBeVisible();
    unmount();
  }
});

test('sites it may reach are named where it happens, and warnings in words', () => {
  show({ reach: ['a.example:443'], suspicious: true, warnings: ['direction', 'gap', 'from_the_future'] });
  expect(screen.getByText(/It goes online to a\.example and nowhere else\./)).toBeVisible();
  expect(screen.getByText('What is sent can’t be taken back.')).toBeVisible();
  expect(screen.getByText(/it goes online/)).toBeVisible();
  expect(screen.getByText(/turn the direction of writing/)).toBeVisible();
  expect(screen.getByText('It holds long gaps. Read it to its end.')).toBeVisible();
});
