// A walk through every kind of request, in both languages and themes: accessible, nothing clipped, nothing pushed out.
// With `DAYBOOK_SHOTS` naming a folder, a picture of each is put there.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findings } from './axe';
import { KINDS, type Kind } from './kinds';
import { settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const SHOTS = process.env['DAYBOOK_SHOTS'] ?? '';
const WIDTHS = [1280, 700, 480];
const SESSION = 'ses_failed';

/** Puts one kind in the place of the one before. */
async function put(page: Page, kind: Kind, before: Kind | undefined): Promise<void> {
  await page.evaluate(
    ([session, { name, body, activity }, gone]) => {
      const time = Date.UTC(2026, 0, 5, 9, 46);
      if (gone) globalThis.fake.push(session, { kind: 'removed', key: gone });
      globalThis.fake.push(
        session,
        { kind: 'entry', entry: { key: name, time, body } },
        { kind: 'activity', activity },
      );
    },
    [SESSION, kind, before?.name ?? ''] as const,
  );
  await page.locator(partOf(kind)).first().waitFor({ timeout: 20_000 });
  await settle(page);
}

/** What is there once it is drawn. */
function partOf({ body }: Kind): string {
  if (body.kind === 'approval')
    return body.approval.state.kind === 'open' ? `#what-${body.approval.id}` : 'p.done';
  if (body.kind === 'question') return `#question-${body.question.id}`;
  return body.kind === 'unknown' ? `#unknown-${body.call.id}` : 'article';
}

/** What is wider than the window, and buttons whose words are cut or that stand outside. */
function misfits(page: Page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > window.innerWidth;
    const cut = [...document.querySelectorAll<HTMLElement>('main button')]
      .filter((button) => button.getClientRects().length > 0 && !button.classList.contains('clip'))
      .filter((button) => {
        const { left, right } = button.getBoundingClientRect();
        return button.scrollWidth > button.clientWidth + 1 || left < 0 || right > window.innerWidth;
      })
      .map((button) => button.textContent?.trim());
    const log = document.querySelector('[role=log]');
    return { wide: wide || (log !== null && log.scrollWidth > log.clientWidth), cut };
  });
}

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === '') return;
  mkdirSync(SHOTS, { recursive: true });
  // What ends comes to its end, such as the moment until it can be answered.
  const still = () =>
    document
      .getAnimations()
      .every((one) => one.playState !== 'running' || one.effect?.getComputedTiming().endTime === Infinity);
  await page.waitForFunction(still, undefined, { timeout: 5_000 });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

for (const lang of ['en', 'zh'] as const) {
  test(`every kind of request is whole at any width, ${lang}`, async () => {
    const { page, checkQuiet } = await stage.show(`lang=${lang}&theme=light&only=${SESSION}`, 1280, 860);
    await page.getByRole('textbox').last().waitFor();
    let before: Kind | undefined;
    for (const kind of KINDS) {
      await put(page, kind, before);
      before = kind;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 860 });
        await settle(page);
        expect(await misfits(page), `${kind.name} ${width}`).toEqual({ wide: false, cut: [] });
        if (width !== 700) await shoot(page, `${kind.name}-${lang}-light-${width}`);
      }
    }
    checkQuiet();
    await page.close();
  });
}

test('every kind of request is accessible in both themes', async () => {
  const { page, checkQuiet } = await stage.show(`theme=light&only=${SESSION}`, 1280, 860);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.getByRole('textbox').last().waitFor();
  let before: Kind | undefined;
  for (const kind of KINDS) {
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'light'));
    await put(page, kind, before);
    before = kind;
    expect(await findings(page, 'all'), kind.name).toEqual([]);
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await settle(page);
    expect(await findings(page, 'contrast'), `${kind.name}, dark`).toEqual([]);
    await shoot(page, `${kind.name}-en-dark-1280`);
  }
  checkQuiet();
  await page.close();
});
