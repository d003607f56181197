// Spaces between Han and Latin.

/** A name with the space that Chinese keeps between Han and Latin. */
export function spaced(name: string, side: 'before' | 'after' | 'both'): string {
  if (side === 'both') return spaced(spaced(name, 'before'), 'after');
  if (side === 'before') return /^[A-Za-z0-9]/.test(name) ? ` ${name}` : name;
  return /[A-Za-z0-9]$/.test(name) ? `${name} ` : name;
}
