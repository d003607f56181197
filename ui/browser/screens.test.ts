// Each screen in both themes: accessible, quiet under the policy, whole at every width.
import axe from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settle, Stage } from './page';
import { SCREENS } from './screens';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

async function violations(page: import('playwright-core').Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const run = (window as unknown as { axe: typeof axe }).axe.run;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations: found } = await run(document, { runOnly: tags });
    return found.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}`));
  });
}

for (const theme of ['light', 'dark'] as const) {
  test(`every screen is accessible and quiet, ${theme}`, async () => {
    for (const screen of SCREENS) {
      const { page, evidence } = await stage.show(`theme=${theme}&${screen.query}`);
      await screen.go(page);
      // Requests arm after a moment; colours of disabled buttons aren't judged.
      if (screen.name === 'approval')
        await page
          .getByRole('button', { name: /Allow once/ })
          .first()
          .isEnabled();
      expect(evidence, screen.name).toEqual([]);
      expect(await violations(page), screen.name).toEqual([]);
      await page.close();
    }
  });
}

test('every screen works with the frozen prototype of the window', async () => {
  for (const screen of SCREENS) {
    const { page, evidence } = await stage.show(`lang=en&${screen.query}`, 1360, 860, () => {
      Object.freeze(Object.prototype);
    });
    await screen.go(page);
    expect(await page.evaluate(() => Object.isFrozen(Object.prototype))).toBe(true);
    expect(evidence, screen.name).toEqual([]);
    await page.close();
  }
});

test('nothing is cut off or pushed out at any width, in either language', async () => {
  for (const width of [1360, 1000, 760, 480]) {
    for (const lang of ['en', 'zh']) {
      for (const query of ['empty=1', 'only=ses_approval', 'only=ses_done']) {
        const { page, checkQuiet } = await stage.show(`lang=${lang}&${query}`, width, 700);
        if (query !== 'empty=1') {
          const show = page.getByRole('button', { name: /Show sidebar|显示侧栏/ });
          if (width <= 860) await show.click();
          await page.getByRole('navigation').getByRole('listitem').first().getByRole('button').click();
          await page.getByRole('textbox').last().waitFor();
        }
        await settle(page);
        const out = await page.evaluate(() => {
          const wide = document.documentElement.scrollWidth > window.innerWidth;
          const small = [...document.querySelectorAll('button, select, summary, [role=tab]')]
            .filter((element) => !element.closest('.md-link') && element.getClientRects().length > 0)
            .filter((element) => element.getBoundingClientRect().height < 23.5)
            .map((element) => `${element.className}: ${element.textContent?.trim().slice(0, 30)}`);
          return { wide, small };
        });
        expect(out, `${width} ${lang} ${query}`).toEqual({ wide: false, small: [] });
        checkQuiet();
        await page.close();
      }
    }
  }
});

test('a drawer holds the focus, Escape closes it and gives it back', async () => {
  const { page, checkQuiet } = await stage.show('', 760, 700);
  const show = page.getByRole('button', { name: 'Show sidebar' });
  await show.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('navigation').waitFor();
  const inside = () => page.evaluate(() => document.activeElement?.closest('.drawer') !== null);
  expect(await inside()).toBe(true);
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press('Tab');
    const held = await page.evaluate(
      () => document.activeElement === document.body || document.activeElement?.closest('.middle') === null,
    );
    expect(held).toBe(true);
  }
  await page.keyboard.press('Escape');
  expect(await page.getByRole('navigation').count()).toBe(0);
  await settle(page);
  expect(await show.evaluate((button) => button === document.activeElement)).toBe(true);
  checkQuiet();
  await page.close();
});

test('the keyboard reaches sidebar, details, tabs, and the whole window', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_done');
  await page.getByRole('button', { name: /Faster photo/ }).click();
  await page.getByRole('complementary').waitFor();
  await page.keyboard.press('Control+Backslash');
  expect(await page.getByRole('navigation').count()).toBe(0);
  await page.keyboard.press('Control+Alt+Backslash');
  expect(await page.getByRole('complementary').count()).toBe(0);
  await page.keyboard.press('Control+2');
  expect(await page.getByRole('tab', { name: /Changes/ }).getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Control+Shift+KeyM');
  await page.getByRole('table').waitFor();
  await page.locator('.file').first().focus();
  await page.keyboard.press('j');
  await settle(page);
  expect(await page.locator('.file[aria-current]').textContent()).toContain('menu.js');
  await page.keyboard.press('Control+k');
  await settle(page);
  expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search');
  checkQuiet();
  await page.close();
});
