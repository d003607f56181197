// Money in words: amounts, what a session cost, limits that were reached. Amounts come in micro-dollars and are rounded for people.
import type { Spent } from '../protocol/generated/Spent';
import { oneLine } from '../shared/visible';
import type { Facts, Texts } from './en';

const DOLLAR = 1_000_000;
const CENT = 10_000;

/** An amount: $0.84, $1,234.50, less than $0.01. */
export function money(micros: number, t: Texts): string {
  if (micros > 0 && micros < CENT) return t.spend.little(dollars(CENT));
  return dollars(Math.round(micros / CENT) * CENT);
}

/** The same for a limit or a price, which is exact, however small a part of a cent it has: $3.00, $0.006. */
export function dollars(micros: number): string {
  const shown = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
  return `$${shown.format(micros / DOLLAR)}`;
}

/** What a session cost; a dash where nobody knows. */
export function spentWords({ micros, sure }: Pick<Spent, 'micros' | 'sure'>, t: Texts): string {
  if (micros === null) return t.spend.unknown;
  const sum = money(micros, t);
  if (sure === 'about') return t.spend.about(sum);
  return sure === 'at_least' ? t.spend.atLeast(sum) : sum;
}

/** The limit of money that a turn ended at, as its title; nothing for another limit. */
export function reachedWords(facts: Facts, t: Texts): string | null {
  const limit = dollars(Number(facts['value'] ?? 0));
  switch (facts['limit']) {
    case 'spend_session':
      return t.spend.reached.session(limit);
    case 'spend_day':
      return t.spend.reached.day(limit);
    case 'price':
      return t.spend.reached.price(oneLine(facts['model'] ?? '', 80));
    default:
      return null;
  }
}

/** What was known then, in sentences. */
export function reachedNotes(facts: Facts, t: Texts): string[] {
  if (facts['limit'] === 'price') return [t.spend.uncountable];
  const spent = facts['spent'] === undefined ? null : Number(facts['spent']);
  const sure = facts['sure'] === 'about' || facts['sure'] === 'at_least' ? facts['sure'] : 'exact';
  const sum = spentWords({ micros: spent, sure }, t);
  const next = facts['next'] === undefined ? [] : [t.spend.next(money(Number(facts['next']), t))];
  const soFar = facts['limit'] === 'spend_day' ? t.spend.soFar.day : t.spend.soFar.session;
  return [soFar(sum), ...next];
}

/** What the button says that goes on past it. */
export function pastWords(facts: Facts, t: Texts): string {
  if (facts['limit'] === 'price') return t.spend.uncounted;
  return t.spend.more(dollars(Number(facts['portion'] ?? 0)));
}
