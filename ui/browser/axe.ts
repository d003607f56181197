// What axe finds in a page.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** By every rule, or by the one that depends on colours. */
export async function findings(page: Page, rules: 'all' | 'contrast'): Promise<string[]> {
  const there = await page.evaluate(() => 'axe' in window);
  if (!there) await page.evaluate(axe.source);
  return page.evaluate(
    async ([which, tags]) => {
      const run = (window as unknown as { axe: typeof axe }).axe.run;
      const runOnly = which === 'all' ? [...tags] : { type: 'rule' as const, values: ['color-contrast'] };
      const { violations } = await run(document, { runOnly, resultTypes: ['violations'] });
      return violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`));
    },
    [rules, TAGS] as const,
  );
}
