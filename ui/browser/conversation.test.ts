// The conversation in a real browser: hostile words do nothing, long ones cost little, and the story can be lived.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { hugeAnswer } from '../src/corpus/markdown';
import type { FakeBackend } from '../src/protocol/fake/fake';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

declare global {
  var fake: FakeBackend;
}

/** Seconds the page computed, laid out and styled since it was opened. */
async function cost(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  await client.detach();
  return value('ScriptDuration') + value('LayoutDuration') + value('RecalcStyleDuration');
}

test('a47_a48_hostile_words_load_run_and_open_nothing', async () => {
  const { page, checkQuiet, evidence } = await stage.show('heavy=1');
  await openSession(page, /script/);
  await page.locator('.markdown').waitFor();
  await page.locator('details.step > summary').click();
  const links = page.locator('.md-link');
  const count = await links.count();
  expect(count).toBeGreaterThan(8);
  for (let n = 0; n < count; n += 1) {
    const target = (await links.nth(n).getAttribute('data-target')) ?? '';
    await links.nth(n).click();
    const sheet = page.getByRole('dialog');
    const shown = (await sheet.textContent()) ?? '';
    expect(shown, target).toContain(target.slice(0, 24));
    const copy = sheet.getByRole('button', { name: 'Copy address' });
    expect(await copy.isEnabled(), target).toBe(/^(https?|mailto):/.test(target));
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
  }
  expect(page.url().startsWith(stage.address)).toBe(true);
  const foreign =
    'img, svg image, iframe, object, embed, video, audio, form, link[rel=prefetch], base, style, a[href]';
  expect(await page.locator(`.markdown :is(${foreign})`).count()).toBe(0);
  expect(await page.locator('h1').textContent()).toContain('⟨U+202E⟩');
  checkQuiet();
  expect(evidence).toEqual([]);
  await page.close();
});

test('a_session_of_five_thousand_entries_is_light', async () => {
  const { page, checkQuiet } = await stage.show('heavy=1');
  await openSession(page, /Five thousand/);
  await page
    .getByText('Answer number 4999')
    .waitFor({ timeout: 5_000 })
    .catch(() => undefined);
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  expect(await nodes()).toBeLessThan(1_500);
  await page.locator('[role=log]').evaluate((log) => (log.scrollTop = log.scrollHeight / 2));
  await settle(page);
  await settle(page);
  expect(await nodes()).toBeLessThan(1_500);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await settle(page);
  const gap = await page
    .locator('[role=log]')
    .evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
  expect(gap).toBeLessThan(60);
  checkQuiet();
  await page.close();
});

/** Streams the same words into a session and says what that cost. */
async function streamCost(title: RegExp, id: string): Promise<number> {
  const { page, checkQuiet } = await stage.show('heavy=1');
  await openSession(page, title);
  await page.evaluate((session) => {
    const body = { kind: 'answer', text: '', reasoning: '', streaming: true } as const;
    globalThis.fake.push(session, { kind: 'entry', entry: { key: 'stream', time: Date.now(), body } });
  }, id);
  await settle(page);
  const before = await cost(page);
  await page.evaluate(async (session) => {
    for (let n = 0; n < 300; n += 1) {
      globalThis.fake.push(session, {
        kind: 'text',
        key: 'stream',
        text: n % 20 === 19 ? 'end.\n\n' : `word${n} `,
      });
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, id);
  const spent = (await cost(page)) - before;
  checkQuiet();
  await page.close();
  return spent;
}

test('d21_a_word_costs_the_same_in_a_long_conversation', async () => {
  // The least of three runs each: what else the machine does only adds.
  const empty = Math.min(
    ...[
      await streamCost(/citation/, 'ses_failed'),
      await streamCost(/citation/, 'ses_failed'),
      await streamCost(/citation/, 'ses_failed'),
    ],
  );
  const long = Math.min(
    ...[
      await streamCost(/Five/, 'ses_long'),
      await streamCost(/Five/, 'ses_long'),
      await streamCost(/Five/, 'ses_long'),
    ],
  );
  expect(long).toBeLessThan(empty * 1.6 + 0.05);
});

test('d22_five_thousand_lines_arrive_while_the_person_types', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_failed');
  await openSession(page, /citation/);
  const text = hugeAnswer(5_000);
  await page.evaluate((whole) => {
    const body = { kind: 'answer', text: '', reasoning: '', streaming: true } as const;
    globalThis.fake.push('ses_failed', { kind: 'entry', entry: { key: 'big', time: 0, body } });
    let at = 0;
    const next = () => {
      globalThis.fake.push('ses_failed', { kind: 'text', key: 'big', text: whole.slice(at, at + 1_200) });
      at += 1_200;
      if (at < whole.length) requestAnimationFrame(next);
      else document.body.dataset['done'] = 'yes';
    };
    requestAnimationFrame(next);
  }, text);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.focus();
  const waits: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const before = Date.now();
    await page.keyboard.type('x');
    waits.push(Date.now() - before);
  }
  await page.waitForSelector('body[data-done]', { timeout: 60_000 });
  expect(waits.sort((a, b) => a - b)[10]).toBeLessThan(100);
  expect(await field.inputValue()).toBe('x'.repeat(20));
  const shown = await page.locator('.markdown').last().textContent();
  expect(shown).toContain('Paragraph 1000 says');
  expect(shown).toContain('println!("{}", 1009)');
  checkQuiet();
  await page.close();
});

test('d11_one_entry_that_cannot_be_drawn_hides_no_other', async () => {
  const { page } = await stage.show('');
  await page.evaluate(() => {
    const view = globalThis.fake.world.views.get('ses_done');
    const call = { id: 'bad', tool: 'read_file', facts: null, state: 'done' };
    view?.entries.push({ key: 'bad', time: 0, body: { kind: 'calls', calls: [call] } } as never);
  });
  await page.getByRole('button', { name: /Faster photo/ }).click();
  await page.getByText('This entry can’t be shown here.').waitFor();
  await page.getByText('Two things you may want next:').waitFor();
  await page.close();
});

test('d11_a_view_that_breaks_leaves_a_way_out', async () => {
  const { page } = await stage.show('');
  await page.evaluate(() => {
    const view = globalThis.fake.world.views.get('ses_done');
    if (view) view.plan = { version: 1, items: [null] } as never;
  });
  await page.getByRole('button', { name: /Faster photo/ }).click();
  await page.getByRole('heading', { name: 'This part of the window stopped working' }).waitFor();
  await page.getByRole('button', { name: 'Go to the start page' }).click();
  await page.getByRole('heading', { name: 'Drop a project folder here.' }).waitFor();
  await page.getByRole('button', { name: /Order form on phones/ }).click();
  await page.getByText('Will be read before the next step').waitFor();
  await page.close();
});

test('d04_nothing_moves_while_nothing_runs', async () => {
  for (const theme of ['light', 'dark']) {
    const { page, checkQuiet } = await stage.show(`only=ses_done&theme=${theme}`);
    await openSession(page, /Faster photo/);
    await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running'));
    checkQuiet();
    await page.close();
  }
});

test('d04_reduced_motion_stops_what_moves', async () => {
  const { page, checkQuiet } = await stage.show('');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openSession(page, /Order form on phones/);
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running'));
  checkQuiet();
  await page.close();
});

test('a request is lived through: said, streamed, asked, allowed, finished, changed', async () => {
  const { page, checkQuiet } = await stage.show('empty=1');
  await page.getByRole('button', { name: 'Choose a folder…' }).click();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Make the order form work on phones');
  await field.press('Enter');
  const allow = page.getByRole('button', { name: /Allow once/ });
  await allow.waitFor();
  expect(await page.locator('[role=alert]').allTextContents()).toContain(
    'Daybook needs your OK: Change styles.css',
  );
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  await allow.click({ timeout: 5_000 });
  await page.getByText('You allowed this once').waitFor();
  await page.getByText(/^Done, after/).waitFor();
  await page.getByRole('tab', { name: /Changes 1/ }).waitFor();
  checkQuiet();
  await page.close();
});

test('x21_unsent_words_outlive_a_reload', async () => {
  const { page, checkQuiet } = await stage.show('');
  await openSession(page, /Faster photo/);
  await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
  await page.reload();
  await openSession(page, /Faster photo/);
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a thought');
  checkQuiet();
  await page.close();
});
