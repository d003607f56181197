// Numbers, times and lists as people read them. Pure: the moment and the language come in as arguments.
import type { Texts } from './en';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time of day, such as 9:41. */
export function clock(ms: number): string {
  const time = new Date(ms);
  return `${time.getHours()}:${String(time.getMinutes()).padStart(2, '0')}`;
}

/** A time of day with seconds, such as 14:32:06. */
export function clockSeconds(ms: number): string {
  return `${clock(ms)}:${String(new Date(ms).getSeconds()).padStart(2, '0')}`;
}

/** A day, such as 29 Nov. */
export function day(ms: number, t: Texts): string {
  const date = new Date(ms);
  if (t.lang === 'zh-CN') return `${date.getMonth() + 1}月${date.getDate()}日`;
  const month = new Intl.DateTimeFormat('en', { month: 'short' }).format(date);
  return `${date.getDate()} ${month}`;
}

/** A day with its year, such as 29 Nov 2026. */
export function wholeDay(ms: number, t: Texts): string {
  const year = new Date(ms).getFullYear();
  return t.lang === 'zh-CN' ? `${year}年${day(ms, t)}` : `${day(ms, t)} ${year}`;
}

/** How long ago, short: now, 12 min, 3 h, Tue, 21 Nov. */
export function ago(ms: number, now: number, t: Texts): string {
  const passed = Math.max(0, now - ms);
  if (passed < MINUTE) return t.time.now;
  if (passed < HOUR) return t.time.minutes(Math.floor(passed / MINUTE));
  if (passed < 12 * HOUR) return t.time.hours(Math.floor(passed / HOUR));
  if (passed < 6 * DAY) return new Intl.DateTimeFormat(t.lang, { weekday: 'short' }).format(new Date(ms));
  return day(ms, t);
}

/** A length of time, rounded for people: 0.4 s, 8 s, 2 min 5 s. */
export function duration(ms: number, t: Texts): string {
  if (ms < 950) return t.time.seconds((Math.max(ms, 0) / 1000).toFixed(1));
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t.time.seconds(String(seconds));
  return t.time.minutesSeconds(Math.floor(seconds / 60), seconds % 60);
}

/** How long something took, where that is worth a word: nothing under a tenth of a second. */
export function took(ms: number | null, t: Texts): string {
  return ms === null || ms < 100 ? '' : duration(ms, t);
}

/** A few names of many: the first ones in full, the rest as a number. */
export function names(all: readonly string[], shown: number, t: Texts): string {
  if (all.length <= shown) {
    const last = all.at(-1);
    if (all.length < 2 || last === undefined) return all.join('');
    return t.list.and(all.slice(0, -1).join(t.list.comma), last);
  }
  return t.list.some(all.slice(0, shown).join(t.list.comma), all.length - shown, all.length);
}

/** A count, with separators; from ten thousand on rounded: 9,412, 12k. */
export function count(n: number, t: Texts): string {
  if (n < 10_000) return new Intl.NumberFormat(t.lang).format(n);
  return new Intl.NumberFormat(t.lang, { notation: 'compact', maximumFractionDigits: 1 }).format(n);
}

/** A count in full: 31,480. */
export function whole(n: number, t: Texts): string {
  return new Intl.NumberFormat(t.lang).format(n);
}

/** An amount of data, rounded: 4 KB, 12 MB, 3.2 GB. */
export function bytes(n: number, t: Texts): string {
  const units = [t.storage.bytes, 'KB', 'MB', 'GB', 'TB'];
  const at = n < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(n) / Math.log(1024)));
  const value = n / 1024 ** at;
  const shown = new Intl.NumberFormat(t.lang, { maximumFractionDigits: value < 10 && at > 1 ? 1 : 0 });
  return t.storage.size(shown.format(value), units[at] ?? '');
}

/** A share, such as 82%. */
export function share(part: number, whole: number, t: Texts): string {
  return new Intl.NumberFormat(t.lang, { style: 'percent' }).format(whole === 0 ? 0 : part / whole);
}
