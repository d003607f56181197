// What waits over all sessions, in a real browser: what slides under the pointer answers nothing, a hundred at once stay
// small, and the list keeps out of the way.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, settle, Stage, type Shown } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

/** Answers that were sent so far, by what they answer. */
const answered = ({ page }: Shown) =>
  page.evaluate(() =>
    globalThis.fake.asked.flatMap((command) =>
      command.name === 'approve' || command.name === 'refuse' ? [command.args.approval] : [],
    ),
  );

/** Requests that arrive in a session at one moment. */
async function arrive({ page }: Shown, session: string, count: number): Promise<void> {
  await page.evaluate(
    ([id, many]) => {
      const patches = Array.from({ length: many }, (_, n) =>
        globalThis.fakeApproval(`echo ${id} ${n}`, `${id}_${n}`),
      );
      globalThis.fake.push(id, ...patches, {
        kind: 'activity',
        activity: { kind: 'needs_you', count: many },
      });
    },
    [session, count] as const,
  );
  await settle(page);
}

test('a24_a_hundred_requests_at_once_are_one_line_in_the_rail_and_a_short_list', async () => {
  const shown = await stage.show('only=ses_failed');
  const { page, checkQuiet } = shown;
  await openSession(page, /citation/);
  await page.getByRole('textbox').last().fill('half a thought');
  const before = await page.evaluate(() => performance.now());
  await arrive(shown, 'ses_failed', 100);
  const rail = page.getByRole('button', { name: /^Needs you \d+$/ });
  await rail.waitFor();
  const took = (await page.evaluate(() => performance.now())) - before;
  expect(took, 'a hundred at once').toBeLessThan(3_000);
  // Nothing opened by itself, and the focus stayed where it was.
  expect(await page.getByRole('region', { name: 'Waiting for you' }).count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  await rail.click();
  const sheet = page.getByRole('region', { name: 'Waiting for you' });
  await sheet.getByText('100 things need you').waitFor();
  expect(await sheet.getByRole('listitem').count()).toBe(20);
  expect(await page.getByRole('article').count(), 'cards that are drawn').toBeLessThan(12);
  await page.keyboard.press('Escape');
  expect(await sheet.count()).toBe(0);
  expect(await rail.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(await answered(shown)).toEqual([]);
  checkQuiet();
  await page.close();
});

test('a24_hasty_clicks_at_one_place_answer_one_request', async () => {
  const shown = await stage.show('only=ses_failed');
  const { page, checkQuiet } = shown;
  await openSession(page, /citation/);
  await arrive(shown, 'ses_failed', 5);
  await page.getByRole('button', { name: /^Needs you \d+$/ }).click();
  const sheet = page.getByRole('region', { name: 'Waiting for you' });
  const first = sheet.getByRole('button', { name: /^Allow once/ }).first();
  // Clicks before it stood still, then as fast as a hand can, all at the same place.
  const box = await first.boundingBox();
  if (!box) throw new Error('it is drawn');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  expect(await answered(shown)).toEqual([]);
  await expect.poll(() => first.isEnabled()).toBe(true);
  for (let n = 0; n < 5; n += 1) await page.mouse.click(x, y, { delay: 20 });
  await sheet.getByText('4 things need you').waitFor();
  expect(await answered(shown)).toEqual(['apr_ses_failed_0']);
  // And the keyboard stays in the list.
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.closest('section') !== null))
    .toBe(true);
  checkQuiet();
  await page.close();
});

test('a request is looked at in its own session, at its card', async () => {
  const shown = await stage.show('');
  const { page, checkQuiet } = shown;
  await openSession(page, /Faster photo/);
  await page.getByRole('button', { name: /^Needs you \d+$/ }).click();
  const sheet = page.getByRole('region', { name: 'Waiting for you' });
  await sheet.getByText('4 things need you').waitFor();
  await sheet.getByRole('button', { name: 'Review: Change menu.json' }).click();
  const card = page.getByRole('article').filter({ hasText: 'Change menu.json' });
  await card.waitFor();
  expect(await sheet.count()).toBe(0);
  const inView = () =>
    card.evaluate((element) => {
      const view = element.closest('[role=log]')?.getBoundingClientRect();
      const head = element.querySelector('h2')?.getBoundingClientRect();
      return view !== undefined && head !== undefined && head.top >= view.top && head.bottom <= view.bottom;
    });
  await expect.poll(inView).toBe(true);
  expect(await answered(shown)).toEqual([]);
  checkQuiet();
  await page.close();
});
