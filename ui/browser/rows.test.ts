// Rows of steps keep to one line at any width, and the newest stays in view when work is stopped.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Patch } from '../src/protocol/generated/Patch';
import { settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

const COMMAND = 'echo made > made.txt; rm old.txt; sed -i s,5.20,9.99, menu.md; and on and on and on';

function step(key: string, state: 'done' | 'waiting' | 'cancelled'): Patch {
  const done = state === 'done';
  const one = {
    ...{
      id: `cal_${key}`,
      tool: 'run_command',
      facts: { command: COMMAND },
      output: '',
      error: null,
      halt: null,
    },
    ...{ state, started: done, ms: done ? 500 : null, added: done ? 2 : null, removed: done ? 2 : null },
  };
  return { kind: 'entry', entry: { key, time: 0, body: { kind: 'calls', calls: [one] } } };
}

async function session(width: number) {
  const shown = await stage.show('only=ses_failed', width, 800);
  await shown.page.getByRole('textbox').last().waitFor();
  const push = (...patches: Patch[]) =>
    shown.page.evaluate((list) => globalThis.fake.push('ses_failed', ...list), patches);
  return { ...shown, push };
}

test('a long command gives way to its time and its arrow', async () => {
  const { page, push, checkQuiet } = await session(1280);
  await push(step('one', 'done'), step('two', 'waiting'));
  for (const width of [1280, 900, 520]) {
    await page.setViewportSize({ width, height: 800 });
    await settle(page);
    const rows = await page.evaluate(() => {
      const edge = document.querySelector('.steps')?.parentElement?.getBoundingClientRect().right ?? 0;
      return [...document.querySelectorAll('details.step > summary')].map((row) => ({
        inside: [...row.children].every((part) => part.getBoundingClientRect().right <= edge + 1),
        line: row.getBoundingClientRect().height < 40,
        cut: (row.querySelector('.clip')?.scrollWidth ?? 0) > (row.querySelector('.clip')?.clientWidth ?? 0),
      }));
    });
    expect(rows, String(width)).toEqual(Array(2).fill({ inside: true, line: true, cut: true }));
  }
  checkQuiet();
  await page.close();
});

test('what was waited for and stopped is followed to its end', async () => {
  const { page, push, checkQuiet } = await session(1280);
  const words = { kind: 'answer', reasoning: '', streaming: false } as const;
  for (let n = 0; n < 12; n += 1) {
    await push(step(`s${n}`, 'done'), {
      kind: 'entry',
      entry: { key: `a${n}`, time: 0, body: { ...words, text: `Part ${n} is done.` } },
    });
  }
  const request = (state: object) =>
    page.evaluate(
      ([command, becomes]) => {
        const patch = globalThis.fakeApproval(command);
        if (patch.kind === 'entry' && patch.entry.body.kind === 'approval')
          Object.assign(patch.entry.body.approval, { call: 'cal_last', state: becomes });
        globalThis.fake.push('ses_failed', patch);
      },
      [COMMAND, state] as const,
    );
  await push(step('last', 'waiting'));
  await request({ kind: 'open' });
  await page.getByRole('article').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).isEnabled()).toBe(true);
  await request({ kind: 'expired', why: 'user' });
  await push(step('last', 'cancelled'), {
    kind: 'entry',
    entry: {
      key: 'end',
      time: 0,
      body: { kind: 'turn_end', end: 'cancelled', facts: { by: 'user' }, ms: 4 },
    },
  });
  await page.getByText(/^Stopped by you/).waitFor();
  await expect
    .poll(() =>
      page.evaluate(() => {
        const log = document.querySelector('[role=log]');
        return log ? log.scrollHeight - log.clientHeight - log.scrollTop : -1;
      }),
    )
    .toBeLessThan(2);
  expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0);
  // One row tells the command and what became of it.
  expect(await page.getByText('Not done: you stopped the work').count()).toBe(1);
  checkQuiet();
  await page.close();
});
