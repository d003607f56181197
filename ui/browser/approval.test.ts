// A request in a real browser: its buttons are in view as soon as its head is, in any window, and what is opened is too.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const SIZES = [
  [1280, 720],
  [700, 700],
  [480, 560],
] as const;

/** Which parts of the first request are wholly in the conversation's view, and does the foot leave the head alone? */
function inView(parts: string[]): boolean[] {
  const view = document.querySelector('[role=log]')?.getBoundingClientRect();
  const card = document.querySelector('article');
  const foot = card?.querySelector('footer')?.getBoundingClientRect();
  const head = card?.querySelector('h2')?.getBoundingClientRect();
  const apart = foot !== undefined && head !== undefined && head.bottom <= foot.top;
  return [
    apart,
    ...parts.map((part) => {
      const box = card?.querySelector(part)?.getBoundingClientRect();
      return view !== undefined && box !== undefined && box.top >= view.top && box.bottom <= view.bottom + 1;
    }),
  ];
}

async function request(page: Page, exact: string, act: 'run' | 'edit', lines = 9): Promise<void> {
  await page.getByRole('textbox').last().waitFor();
  await page.evaluate(
    ([text, kind, count]) => {
      const patch = globalThis.fakeApproval(text);
      const hunk = {
        ...{ old_start: 1, new_start: 1 },
        lines: Array.from({ length: count }, (_, n) => ({
          kind: n % 2 ? ('added' as const) : ('removed' as const),
          spans: [{ text: `line ${n}`, changed: false }],
        })),
      };
      if (patch.kind === 'entry' && patch.entry.body.kind === 'approval' && kind === 'edit')
        Object.assign(patch.entry.body.approval, {
          ...{ act: kind, tool: 'edit_file', facts: { path: text, added: '5', removed: '4' } },
          diff: { path: text, created: false, no_hunks: null, hunks: [hunk] },
        });
      globalThis.fake.push('ses_failed', patch, {
        kind: 'activity',
        activity: { kind: 'needs_you', count: 1 },
      });
    },
    [exact, act, lines] as const,
  );
  await page.getByRole('article').waitFor();
  await settle(page);
}

/** Lets all of a difference be drawn and goes to its end. */
async function showRest(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: /^Show \d+ more lines$/ });
  if (await more.count()) await more.click();
  await page
    .getByRole('article')
    .locator('.diff.scroll')
    .evaluate((box) => {
      box.scrollIntoView({ block: 'center' });
      box.scrollTop = box.scrollHeight;
    });
}

/** Goes to its end until Allow works: what is drawn meanwhile may move it out of view again, as it does for a reader. */
async function readToEnd(page: Page): Promise<void> {
  const allow = page.getByRole('button', { name: 'Allow once' });
  const read = async () => {
    await showRest(page);
    return allow.isEnabled();
  };
  await expect.poll(read, { interval: 250 }).toBe(true);
}

test('a21_a_difference_longer_than_the_view_is_allowed_only_after_its_end_was_on_the_screen', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_failed', 900, 700);
  await request(page, 'menu.md', 'edit', 120);
  const allow = page.getByRole('button', { name: 'Allow once' });
  const still = () =>
    page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running'));
  await page.getByText('There is more of it. Show the rest, then you can allow it.').waitFor();
  await still();
  expect(await allow.isEnabled()).toBe(false);
  await page.getByRole('button', { name: /^Show \d+ more lines$/ }).click();
  await settle(page);
  await still();
  expect(await allow.isEnabled()).toBe(false);
  await readToEnd(page);
  checkQuiet();
  await page.close();
});

test('the buttons of a request are in view as soon as its head is, and never over it', async () => {
  for (const [width, height] of SIZES) {
    const { page, checkQuiet } = await stage.show('only=ses_failed', width, height);
    await request(page, 'menu.md', 'edit');
    const at = `${width}x${height}`;
    const parts = ['h2', 'footer'];
    await expect.poll(() => page.evaluate(inView, parts), { message: at }).toEqual([true, true, true]);
    await readToEnd(page);
    // Over what comes before it the foot has an edge, also after the view got smaller.
    await page.getByRole('textbox').last().fill('one\ntwo\nthree');
    const edge = () =>
      page.evaluate(() => {
        const foot = document.querySelector('article footer');
        const end = foot?.nextElementSibling?.getBoundingClientRect().top ?? 0;
        const view = document.querySelector('[role=log]')?.getBoundingClientRect().bottom ?? 0;
        return foot?.classList.contains('stuck') === end > view;
      });
    await expect.poll(edge, { message: at }).toBe(true);
    await page.getByRole('textbox').last().fill('');
    // What is opened comes into view, above the foot.
    await page.getByText('Show exactly what will be done').click();
    const clear = () =>
      page.evaluate(() => {
        const foot = document.querySelector('article footer')?.getBoundingClientRect();
        const box = document.querySelector('article details')?.getBoundingClientRect();
        return foot !== undefined && box !== undefined && box.bottom <= foot.top;
      });
    await expect.poll(clear, { message: at }).toBe(true);
    await page.getByRole('button', { name: 'Don’t allow…' }).click();
    const lower = () =>
      page.evaluate(() => {
        const view = document.querySelector('[role=log]')?.getBoundingClientRect();
        const card = document.querySelector('article')?.getBoundingClientRect();
        return view !== undefined && card !== undefined && card.bottom <= view.bottom + 1;
      });
    await expect.poll(lower, { message: at }).toBe(true);
    checkQuiet();
    await page.close();
  }
});

test('the way to the newest lies on no button, scrolled up beside a request', async () => {
  for (const [width, height] of SIZES) {
    const { page, checkQuiet } = await stage.show('only=ses_failed', width, height);
    await request(page, 'menu.md', 'edit');
    await page.getByRole('log').hover();
    const jump = page.getByRole('button', { name: 'Jump to latest' });
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -40);
        await settle(page);
        return jump.count();
      })
      .toBe(1);
    const below = await page.evaluate(() => {
      const view = document.querySelector('[role=log]')?.getBoundingClientRect();
      const way = document.querySelector('.latest')?.getBoundingClientRect();
      return view !== undefined && way !== undefined && way.top >= view.bottom;
    });
    expect(below, `${width}x${height}`).toBe(true);
    checkQuiet();
    await page.close();
  }
});

test('only the head of a request in view shows no buttons over it', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_failed', 480, 560);
  await request(page, 'menu.md', 'edit');
  await page.getByRole('log').evaluate((log) => {
    const card = log.querySelector('article');
    const below = (card?.getBoundingClientRect().top ?? 0) - log.getBoundingClientRect().bottom + 60;
    log.scrollTop += below;
  });
  await settle(page);
  const apart = await page.evaluate(inView, []);
  expect(apart).toEqual([true]);
  checkQuiet();
  await page.close();
});

test('a21_a_command_cut_in_its_title_is_allowed_only_after_all_of_it_was_on_the_screen', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_failed', 480, 560);
  await request(page, `echo ${'word '.repeat(14)}; rm -rf x; echo ${'word '.repeat(14)}`.trim(), 'run');
  const allow = page.getByRole('button', { name: 'Allow once' });
  await page.getByText('Look at all of it above, then you can allow it.').waitFor();
  // Longer than it takes to be ready otherwise.
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running'));
  expect(await allow.isEnabled()).toBe(false);
  await page
    .getByRole('article')
    .locator('pre')
    .evaluate((box) => {
      box.scrollIntoView({ block: 'center' });
      box.scrollTop = box.scrollHeight;
    });
  await expect.poll(() => allow.isEnabled()).toBe(true);
  expect(await page.getByText('Look at all of it above, then you can allow it.').count()).toBe(0);
  checkQuiet();
  await page.close();
});

test('one key leads from the composer to each request, the newest first, and takes nothing that was typed', async () => {
  const { page, checkQuiet } = await stage.show('');
  await openSession(page, /Christmas/);
  const field = page.getByRole('textbox').last();
  await field.fill('half a thought');
  const cards = page.getByRole('article');
  await cards.first().waitFor();
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
  const at = () =>
    page.evaluate(() => document.activeElement?.closest('[data-entry]')?.getAttribute('data-entry'));
  const keys = await page.evaluate(() => {
    const view = globalThis.fake.world.views.get('ses_approval');
    return view?.entries.filter(({ body }) => body.kind === 'approval').map(({ key }) => key) ?? [];
  });
  expect(keys.length).toBeGreaterThan(1);
  for (const key of [...keys.toReversed(), keys.at(-1)]) {
    await page.keyboard.press('Control+j');
    await expect.poll(at).toBe(key);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('ARTICLE');
  }
  // From there the key of the card allows it, as its foot says.
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.closest('article') !== null)).toBe(true);
  expect(await field.inputValue()).toBe('half a thought');
  checkQuiet();
  await page.close();
});
