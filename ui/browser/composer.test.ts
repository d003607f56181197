// The composer in a real browser: what it offers while work runs never moves what ends it or sends.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

test('stop_and_send_stay_at_the_lower_right_end_while_typing', async () => {
  for (const lang of ['en', 'zh']) {
    const { page, checkQuiet } = await stage.show(`lang=${lang}`, 1280, 800);
    await openSession(page, /Order form on phones|手机上的订购表单/);
    const field = page.getByRole('textbox').last();
    const places = () =>
      page.evaluate(() => {
        const box = document.querySelector('.composer')?.getBoundingClientRect();
        const ends = [...document.querySelectorAll('.composer .tools > button')];
        return ends.map((end) => {
          const { right, bottom, height } = end.getBoundingClientRect();
          return { right: (box?.right ?? 0) - right, bottom: (box?.bottom ?? 0) - bottom, height };
        });
      });
    for (const width of [1280, 900, 700, 480]) {
      await page.setViewportSize({ width, height: 800 });
      await field.fill('');
      await settle(page);
      const before = await places();
      expect(before, `${lang} ${width}`).toHaveLength(2);
      expect(before.at(-1)?.right, `${lang} ${width}`).toBeLessThan(16);
      await field.fill('Also the footer');
      await settle(page);
      expect(await page.locator('.composer .seg').count()).toBe(1);
      expect(await places(), `${lang} ${width}`).toEqual(before);
      expect(
        await page.locator('.composer').evaluate((box) => box.scrollWidth <= box.clientWidth),
        `${lang} ${width}`,
      ).toBe(true);
    }
    checkQuiet();
    await page.close();
  }
});
