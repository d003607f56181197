// Spaces between Han and Latin.

/** What stands between words of the window and what they are about: nothing between Han and Han. */
export function between(lang: string, before: string, after: string): string {
  const han = /[\p{Script=Han}，。、：“”]/u;
  return lang === 'zh-CN' && han.test(before.at(-1) ?? '') && han.test(after.at(0) ?? '') ? '' : ' ';
}

/** A name with the space that Chinese keeps between Han and Latin. */
export function spaced(name: string, side: 'before' | 'after' | 'both'): string {
  if (side === 'both') return spaced(spaced(name, 'before'), 'after');
  if (side === 'before') return /^[./~_A-Za-z0-9]/.test(name) ? ` ${name}` : name;
  return /[A-Za-z0-9]$/.test(name) ? `${name} ` : name;
}
