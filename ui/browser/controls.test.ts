// The page's own controls in a real browser: drawn by the page, so that every engine shows them alike.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** How the boxes to choose from are drawn: by the page or by the engine, and on what ground. */
const drawn = () =>
  [...document.querySelectorAll('input[type=radio], input[type=checkbox]')].map((box) => {
    const style = getComputedStyle(box);
    const { width, height } = box.getBoundingClientRect();
    return { appearance: style.appearance, ground: style.backgroundColor, width, height };
  });

test('what can be chosen is drawn on the ground of the page in light and in dark', async () => {
  const grounds = { light: 'rgb(255, 255, 255)', dark: 'rgb(27, 31, 36)' };
  for (const theme of ['light', 'dark'] as const) {
    const { page, checkQuiet } = await stage.show(`theme=${theme}`);
    await openSession(page, /Rename/);
    const own = { appearance: 'none', ground: grounds[theme], width: 16, height: 16 };
    expect(await page.evaluate(drawn), theme).toEqual([own, own]);
    await page.getByRole('radio').first().check();
    await settle(page);
    expect((await page.evaluate(drawn))[0]?.ground, theme).not.toBe(grounds[theme]);
    await openSession(page, /Faster photo/);
    await page.evaluate(() => globalThis.fake.world.files.get('ses_done')?.put('styles.css', 'mine\n'));
    await page.getByRole('tab', { name: /Changes/ }).click();
    await page.getByRole('button', { name: 'Undo the whole session…' }).click();
    await page.getByRole('checkbox').waitFor();
    expect(await page.evaluate(drawn), theme).toEqual([own]);
    checkQuiet();
    await page.close();
  }
});
