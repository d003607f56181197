// Money on the screen: what was spent, a limit that was reached and going on past it, and setting limits and prices.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { FakeBackend } from '../protocol/fake/fake';
import { sampleWorld } from '../protocol/fake/sample';
import { Providers } from '../state/providers.svelte';
import { en } from '../texts/en';
import { dollars, money, spentWords } from '../texts/spend';
import { noticeWords } from '../texts/words';
import { zh } from '../texts/zh';
import TurnEnd from './conversation/TurnEnd.svelte';
import Spending from './models/Spending.svelte';
import Cost from './plan/Cost.svelte';

const exact = { sure: 'exact', raised: 0 } as const;

test('amounts_are_rounded_for_people', () => {
  expect([0, 1, 9_999, 10_000, 839_999, 1_234_567_890].map((micros) => money(micros, en))).toEqual([
    '$0.00',
    'less than $0.01',
    'less than $0.01',
    '$0.01',
    '$0.84',
    '$1,234.57',
  ]);
  // A limit and a price are told as they are.
  expect([3_000_000, 6_000, 435_000, 1_005_000, 1_234_567_890_001].map(dollars)).toEqual([
    '$3.00',
    '$0.006',
    '$0.435',
    '$1.005',
    '$1,234,567.890001',
  ]);
});

test('a_sum_says_how_sure_it_is_and_a_dash_stands_for_what_nobody_knows', () => {
  const of = (micros: number | null, sure: 'exact' | 'about' | 'at_least') =>
    spentWords({ micros, sure }, en);
  expect(of(836_400, 'exact')).toBe('$0.84');
  expect(of(836_400, 'about')).toBe('about $0.84');
  expect(of(836_400, 'at_least')).toBe('at least $0.84');
  expect(of(null, 'at_least')).toBe('—');
  expect(spentWords({ micros: 836_400, sure: 'at_least' }, zh)).toBe('至少 $0.84');
});

test('the_meter_shows_how_much_of_the_limit_is_spent', async () => {
  const { rerender } = render(Cost, { t: en, spent: { micros: 840_000, ...exact }, limit: 3_000_000 });
  const meter = screen.getByRole('meter', { name: 'Spent of this session’s limit' });
  expect(meter).toHaveAttribute('aria-valuenow', '0.84');
  expect(meter).toHaveAttribute('aria-valuemax', '3');
  expect(screen.getByText('$0.84 of $3.00')).toBeVisible();
  // Past the limit by an answer, it is full.
  await rerender({ t: en, spent: { micros: 3_100_000, ...exact }, limit: 3_000_000 });
  expect(screen.getByRole('meter')).toHaveAttribute('aria-valuenow', '3');
  await rerender({ t: en, spent: { micros: 840_000, ...exact }, limit: null });
  expect(screen.queryByRole('meter')).toBeNull();
  await rerender({ t: en, spent: { micros: 0, ...exact }, limit: null });
  expect(screen.getByText('Costs nothing')).toBeVisible();
  await rerender({ t: en, spent: { micros: null, sure: 'at_least', raised: 0 }, limit: 3_000_000 });
  expect(screen.getByText('What this model costs isn’t known')).toBeVisible();
  expect(screen.queryByRole('meter')).toBeNull();
});

const facts = {
  limit: 'spend_session',
  value: '3000000',
  spent: '2900000',
  sure: 'exact',
  next: '200000',
  portion: '3000000',
  model: 'claude-sonnet-5-5',
};

test('a_limit_that_was_reached_says_what_was_spent_and_one_click_goes_on', async () => {
  const [onpast, onsettings, ongoon] = [vi.fn(), vi.fn(), vi.fn()];
  render(TurnEnd, { t: en, end: 'limit', facts, ms: 1, last: true, ongoon, onpast, onsettings });
  const alert = screen.getByRole('alert');
  expect(alert).toHaveTextContent('The limit of $3.00 for this session is reached');
  expect(alert).toHaveTextContent('This session has cost $2.90.');
  expect(alert).toHaveTextContent('The next request would cost about $0.20');
  expect(screen.queryByRole('button', { name: en.ends.goOn })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Allow $3.00 more' }));
  expect(onpast).toHaveBeenCalledExactlyOnceWith(en.ends.goOnText);
  await userEvent.click(screen.getByRole('button', { name: 'Open settings' }));
  expect(onsettings).toHaveBeenCalledOnce();
  expect(ongoon).not.toHaveBeenCalled();
});

test('a_price_that_nobody_knows_is_asked_about', () => {
  const price = { limit: 'price', value: '0', portion: '3000000', model: 'kimi-k2.6' };
  const [onpast, ongoon] = [vi.fn(), vi.fn()];
  render(TurnEnd, { t: en, end: 'limit', facts: price, ms: 1, last: true, ongoon, onpast });
  expect(screen.getByRole('alert')).toHaveTextContent('What kimi-k2.6 costs isn’t known');
  expect(screen.getByRole('button', { name: 'Go on without counting it' })).toBeVisible();
});

test('what_was_allowed_stands_in_the_conversation', () => {
  expect(noticeWords('spend/raised', { limit: 'day', by: '3000000' }, en)).toBe(
    'You allowed $3.00 more for this day',
  );
  expect(noticeWords('spend/uncounted', { model: 'kimi-k2.6' }, zh)).toBe('本会话不计 kimi-k2.6 的费用');
});

async function settings(part: Partial<Parameters<typeof Spending>[1]> = {}) {
  const world = sampleWorld('en', 0);
  const backend = new FakeBackend({ ...world, now: () => 0, pause: async () => {}, script: async () => {} });
  const providers = new Providers(backend);
  await providers.load();
  const props = { spend: { session: 3_000_000, day: null }, onspend: vi.fn(), prices: [], onprices: vi.fn() };
  const all = { t: en, providers, ...props, ...part };
  render(Spending, all);
  return all;
}

test('a_limit_is_kept_when_the_field_is_left_and_a_wrong_one_is_not', async () => {
  const { onspend } = await settings();
  const session = screen.getByRole('textbox', { name: 'Limit for one session' });
  const day = screen.getByRole('textbox', { name: 'Limit for one day' });
  expect([session, day].map((field) => (field as HTMLInputElement).value)).toEqual(['$3.00', '']);
  await userEvent.type(day, '10{Tab}');
  expect(onspend).toHaveBeenLastCalledWith({ session: 3_000_000, day: 10_000_000 });
  await userEvent.clear(session);
  await userEvent.type(session, 'a lot{Tab}');
  expect(session).toHaveAttribute('aria-invalid', 'true');
  expect(session).toHaveAccessibleDescription(en.spend.wrong);
  await userEvent.clear(session);
  await userEvent.tab();
  expect(onspend).toHaveBeenLastCalledWith({ session: null, day: null });
  expect(onspend).toHaveBeenCalledTimes(2);
});

test('a_price_is_given_for_a_model_and_removed_again', async () => {
  const { onprices, providers } = await settings();
  const first = providers.choices[0];
  await userEvent.click(screen.getByRole('button', { name: en.spend.add }));
  await userEvent.click(screen.getAllByRole('menuitem')[0] as HTMLElement);
  await userEvent.type(screen.getByRole('textbox', { name: 'Read' }), '0.30');
  await userEvent.click(screen.getByRole('button', { name: en.spend.save }));
  expect(onprices).not.toHaveBeenCalled();
  expect(screen.getByText(en.spend.wrongPrice)).toBeVisible();
  await userEvent.type(screen.getByRole('textbox', { name: 'Read from cache' }), '0.03');
  await userEvent.type(screen.getByRole('textbox', { name: 'Written' }), '$1.20');
  await userEvent.click(screen.getByRole('button', { name: en.spend.save }));
  const price = { ...first, input: 300_000, cached: 30_000, output: 1_200_000 };
  expect(onprices).toHaveBeenLastCalledWith([price]);
  // Whoever uses the keyboard goes on where the form was opened.
  expect(screen.getByRole('button', { name: en.spend.add })).toHaveFocus();
  await userEvent.keyboard('{Enter}{Enter}');
  await userEvent.click(await screen.findByRole('button', { name: en.app.cancel }));
  expect(screen.getByRole('button', { name: en.spend.add })).toHaveFocus();
});

test('a_price_of_the_persons_can_be_removed', async () => {
  const price = { provider: 'anthropic', model: 'own', input: 1, cached: 1, output: 1_000_000 };
  const { onprices } = await settings({ prices: [price] });
  await userEvent.click(screen.getByRole('button', { name: 'Remove the price of own' }));
  expect(onprices).toHaveBeenLastCalledWith([]);
});
