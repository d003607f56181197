// Money as the person types it and as commands carry it. Pure.
import type { PastLimit } from '../protocol/generated/PastLimit';
import type { Facts } from '../texts';

const DOLLAR = 1_000_000;

/** An amount whose commas part thousands; another comma may be a decimal one, and left out it would be a hundred times as much. */
const IN_THOUSANDS = /^\d{1,3}(,\d{3})+(\.\d*)?$/;

/** Dollars as typed, in micro-dollars: null for nothing, NaN for what is no amount. */
export function amountOf(text: string): number | null {
  const said = text.replace(/[\s$＄]/g, '').replace(/，/g, ',');
  const bare = IN_THOUSANDS.test(said) ? said.replaceAll(',', '') : said;
  if (bare === '') return null;
  return /^\d+(\.\d{0,6})?$|^\.\d{1,6}$/.test(bare) ? Math.round(Number(bare) * DOLLAR) : Number.NaN;
}

/** A limit of the person's as it is typed again. */
export function typed(micros: number | null): string {
  if (micros === null) return '';
  const cents = micros % 10_000 === 0;
  return `$${cents ? (micros / DOLLAR).toFixed(2) : String(micros / DOLLAR)}`;
}

/** Can it be a limit? From a cent to a million dollars, or none. */
export function isLimit(micros: number | null): boolean {
  return micros === null || (micros >= 10_000 && micros <= 1_000_000 * DOLLAR);
}

/** Can it be the price of a million tokens? */
export function isPrice(micros: number | null): micros is number {
  return micros !== null && micros >= 0 && micros <= 100_000 * DOLLAR;
}

/** The limit of money that a turn ended at, as the command that goes on past it names it; null for another limit. */
export function pastOf(facts: Facts): PastLimit | null {
  const limit = Number(facts['value'] ?? 0);
  switch (facts['limit']) {
    case 'spend_session':
      return { kind: 'session', limit };
    case 'spend_day':
      return { kind: 'day', limit };
    case 'price':
      return {
        kind: 'price',
        model: { provider: facts['provider'] ?? '', model: facts['model'] ?? '' },
      };
    default:
      return null;
  }
}
