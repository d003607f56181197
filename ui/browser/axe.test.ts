// Every screen in both themes, as axe judges it, under the policy of the window.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settle, Stage } from './page';
import { SCREENS } from './screens';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** What axe finds: by every rule, or by the one that depends on colours. */
async function violations(page: Page, rules: 'all' | 'contrast'): Promise<string[]> {
  return page.evaluate(async (which) => {
    const run = (window as unknown as { axe: typeof axe }).axe.run;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const runOnly = which === 'all' ? tags : { type: 'rule' as const, values: ['color-contrast'] };
    const { violations: found } = await run(document, { runOnly, resultTypes: ['violations'] });
    return found.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`));
  }, rules);
}

for (const screen of SCREENS) {
  test(`accessible and quiet, in both themes: ${screen.name}`, async () => {
    const { page, evidence } = await stage.show(`theme=light&${screen.query}`);
    // Colours must not be judged half way.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await screen.go(page);
    // Requests arm after a moment; colours of disabled buttons aren't judged.
    if (screen.name === 'approval')
      await expect
        .poll(() =>
          page
            .getByRole('button', { name: /Allow once/ })
            .first()
            .isEnabled(),
        )
        .toBe(true);
    await page.evaluate(axe.source);
    expect(await violations(page, 'all'), screen.name).toEqual([]);
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await settle(page);
    expect(await violations(page, 'contrast'), `${screen.name}, dark`).toEqual([]);
    expect(evidence, screen.name).toEqual([]);
    await page.close();
  });
}
