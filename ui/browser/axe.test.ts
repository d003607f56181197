// Every screen in both themes, as axe judges it, under the policy of the window.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findings } from './axe';
import { settle, Stage } from './page';
import { SCREENS } from './screens';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

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
    expect(await findings(page, 'all'), screen.name).toEqual([]);
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await settle(page);
    expect(await findings(page, 'contrast'), `${screen.name}, dark`).toEqual([]);
    expect(evidence, screen.name).toEqual([]);
    await page.close();
  });
}
