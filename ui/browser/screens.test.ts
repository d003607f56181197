// Each screen quiet under the policy and whole at every width; drawers and keys as a person uses them.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settle, Stage } from './page';
import { SCREENS } from './screens';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** What lies outside the window, and what is too small to be hit. */
async function misfits(page: Page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > window.innerWidth;
    const small = [...document.querySelectorAll('button, select, summary, [role=tab]')]
      .filter((element) => !element.closest('.md-link') && element.getClientRects().length > 0)
      .filter((element) => element.getBoundingClientRect().height < 23.5)
      .map((element) => `${element.className}: ${element.textContent?.trim().slice(0, 30)}`);
    return { wide, small };
  });
}

const WIDTHS = [1360, 1000, 760, 480];

for (const screen of SCREENS) {
  test(`works with the frozen prototype of the window, whole at any width: ${screen.name}`, async () => {
    const { page, evidence } = await stage.show(`lang=en&${screen.query}`, 1360, 860, () => {
      Object.freeze(Object.prototype);
    });
    await screen.go(page);
    expect(await page.evaluate(() => Object.isFrozen(Object.prototype))).toBe(true);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 700 });
      await settle(page);
      expect(await misfits(page), `${screen.name} ${width}`).toEqual({ wide: false, small: [] });
    }
    expect(evidence, screen.name).toEqual([]);
    await page.close();
  });
}

test('nothing is cut off or pushed out in Chinese either', async () => {
  for (const query of ['empty=1', 'only=ses_approval', 'only=ses_done']) {
    const { page, checkQuiet } = await stage.show(`lang=zh&${query}`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 700 });
      await settle(page);
      expect(await misfits(page), `${query} ${width}`).toEqual({ wide: false, small: [] });
    }
    checkQuiet();
    await page.close();
  }
});

test('a request shows its title, its facts and its buttons at once in a window of 800 pixels', async () => {
  for (const lang of ['en', 'zh']) {
    const { page, checkQuiet } = await stage.show(`lang=${lang}&only=ses_failed`, 1280, 800);
    await page.getByRole('textbox').last().waitFor();
    const command = Array.from({ length: 60 }, (_, n) => `echo line ${n}`).join('\n');
    await page.evaluate(
      (exact) => globalThis.fake.push('ses_failed', globalThis.fakeApproval(exact)),
      command,
    );
    const card = page.getByRole('article');
    await card.waitFor();
    for (const width of [1280, 900, 520]) {
      await page.setViewportSize({ width, height: 800 });
      await expect
        .poll(() => page.evaluate(partsInView), { message: `${lang} ${width}` })
        .toEqual([true, true, true]);
    }
    expect(await card.locator('pre').evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(true);
    // Saying no grows the card: what is typed into and its button are in view.
    await card.getByRole('button', { name: /Don’t allow…|不允许…/ }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await expect.poll(() => page.evaluate(reasonInView)).toBe(true);
    await card.getByRole('button', { name: /Don’t allow…|不允许…/ }).click();
    const allow = card.getByRole('button', { name: /Allow once|允许这一次/ });
    expect(await allow.isEnabled()).toBe(false);
    await card.locator('pre').evaluate((box) => (box.scrollTop = box.scrollHeight));
    await expect.poll(() => allow.isEnabled()).toBe(true);
    checkQuiet();
    await page.close();
  }
});

function reasonInView(): boolean {
  const view = document.querySelector('[role=log]')?.getBoundingClientRect();
  const row = document.querySelector('article .reason')?.getBoundingClientRect();
  return view !== undefined && row !== undefined && row.top >= view.top && row.bottom <= view.bottom + 1;
}

/** Are title, facts and buttons of the request wholly within the conversation's view? */
function partsInView(): boolean[] {
  const view = document.querySelector('[role=log]')?.getBoundingClientRect();
  return ['article h2', 'article dl', 'article footer']
    .map((part) => document.querySelector(part)?.getBoundingClientRect())
    .map(
      (box) => view !== undefined && box !== undefined && box.top >= view.top && box.bottom <= view.bottom,
    );
}

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
