// The conversation in a real browser: hostile words do nothing, long ones cost little, and the story can be lived.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hugeAnswer } from '../src/corpus/markdown';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

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
  // The newest are drawn first.
  await page.getByText('Answer number 4999').waitFor();
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
  expect(await nodes()).toBeLessThan(1_500);
  // As a person does: again, while the list still finds out how long it is.
  await expect
    .poll(async () => {
      await page.locator('[role=log]').evaluate((log) => (log.scrollTop = log.scrollHeight / 2));
      await settle(page);
      return page.getByRole('button', { name: 'Jump to latest' }).count();
    })
    .toBe(1);
  expect(await nodes()).toBeLessThan(1_500);
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await settle(page);
  await expect
    .poll(() =>
      page.locator('[role=log]').evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop),
    )
    .toBeLessThan(60);
  checkQuiet();
  await page.close();
});

/** Streams the same words into a session and says how many functions ran for them: work as a count, not as time. */
async function streamWork(title: RegExp, id: string): Promise<number> {
  const { page, checkQuiet } = await stage.show('heavy=1');
  await openSession(page, title);
  await page.evaluate((session) => {
    const body = { kind: 'answer', text: '', reasoning: '', streaming: true } as const;
    globalThis.fake.push(session, { kind: 'entry', entry: { key: 'stream', time: Date.now(), body } });
  }, id);
  for (let n = 0; n < 6; n += 1) await settle(page);
  const client = await page.context().newCDPSession(page);
  await client.send('Profiler.enable');
  await client.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // Now and then something of the page's own falls into it, such as the end of a scroll, more often where the machine is
  // busy; the quietest span has none, and what has none costs the same each time.
  const spans: number[] = [];
  const quiet = (): number[] => spans.filter((span) => span <= Math.min(...spans) * 1.01);
  while (spans.length < 3 || (quiet().length < 2 && spans.length < 15)) {
    await page.evaluate(async (session) => {
      for (let n = 0; n < 60; n += 1) {
        const text = n % 20 === 19 ? 'end.\n\n' : `word${n} `;
        globalThis.fake.push(session, { kind: 'text', key: 'stream', text });
        await new Promise((done) => requestAnimationFrame(done));
      }
    }, id);
    const { result } = await client.send('Profiler.takePreciseCoverage');
    spans.push(
      result
        // The stand-in is a script of its own; what it does isn't the page's work.
        .filter((script) => script.url.startsWith(stage.address) && !script.url.includes('/demo-'))
        .flatMap((script) => script.functions.map((one) => one.ranges[0]?.count ?? 0))
        .reduce((sum, n) => sum + n, 0),
    );
  }
  await client.detach();
  checkQuiet();
  await page.close();
  return Math.min(...spans);
}

test('d21_a_word_costs_the_same_in_a_long_conversation', async () => {
  // Both fill the window, so that as many entries are drawn in one as in the other.
  const some = await streamWork(/Sixty entries/, 'ses_some');
  const long = await streamWork(/Five thousand/, 'ses_long');
  expect(some).toBeGreaterThan(1_000);
  expect(long).toBeLessThan(some * 1.2);
});

test('d22_five_thousand_lines_arrive_while_the_person_types', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_failed');
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.focus();
  const text = hugeAnswer(5_000);
  const body = { kind: 'answer', text: '', reasoning: '', streaming: true } as const;
  await page.evaluate(
    (start) =>
      globalThis.fake.push('ses_failed', { kind: 'entry', entry: { key: 'big', time: 0, body: start } }),
    body,
  );
  const KEYS = 20;
  const part = Math.ceil(text.length / KEYS);
  for (let n = 0; n < KEYS; n += 1) {
    await page.evaluate(
      (piece) => {
        for (let at = 0; at < piece.length; at += 1_200)
          globalThis.fake.push('ses_failed', { kind: 'text', key: 'big', text: piece.slice(at, at + 1_200) });
      },
      text.slice(n * part, (n + 1) * part),
    );
    await page.keyboard.type('x');
    // Two frames later the key is in the field, however much arrived.
    await settle(page);
    expect(await field.inputValue()).toBe('x'.repeat(n + 1));
  }
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
    'Daybook needs your OK: Change styles.css. Ctrl J goes there.',
  );
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  await allow.click();
  await page.getByText('You allowed this', { exact: true }).waitFor();
  await page.getByText(/^Done, after/).waitFor();
  await page.getByRole('tab', { name: /Changes 1/ }).waitFor();
  checkQuiet();
  await page.close();
});

test('a press counts also while the conversation moves', async () => {
  const { page, checkQuiet } = await stage.show('', 1360, 560);
  await openSession(page, /Order form on phones/);
  const hit = await page.getByRole('log').evaluate(async (view) => {
    const before = view.scrollTop;
    view.scrollTop = before > 60 ? before - 60 : before + 60;
    await new Promise((done) => view.addEventListener('scroll', done, { once: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { left, top, width, height } = view.getBoundingClientRect();
    const under = document.elementFromPoint(left + width / 2, top + height / 2);
    return { moved: view.scrollTop !== before, row: under?.closest('.entry') !== null && under !== null };
  });
  expect(hit).toEqual({ moved: true, row: true });
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
