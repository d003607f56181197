// Taking changes back as a person does it: by the keyboard, from the end of a turn, and not while typing is brought again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, settle, Stage } from './page';

const stage = new Stage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

test('r_undo_a_turn_is_undone_where_it_ended_and_redone_from_the_news', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_done');
  await openSession(page, /Faster photo/);
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
  const news = page.getByRole('status').filter({ hasText: 'Undid changes to 7 files' });
  await news.waitFor();
  await page.getByText('Undid turn 2').waitFor();
  // Two of the turn before, and what the person changed in a third.
  await page.getByRole('tab', { name: /Changes 3/ }).waitFor();
  await page.getByRole('button', { name: 'Redo' }).last().click();
  await page.getByText('Redid what was undone').waitFor();
  await page.getByText('redone', { exact: true }).waitFor();
  await page.getByRole('tab', { name: /Changes 9/ }).waitFor();
  checkQuiet();
  await page.close();
});

test('the shortcut takes the last turn back, but never while a text has something to bring again', async () => {
  const { page, checkQuiet } = await stage.show('only=ses_done');
  await openSession(page, /Faster photo/);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.focus();
  await page.keyboard.type('half a thought');
  await page.keyboard.press('Control+Shift+KeyZ');
  await page.keyboard.press('Control+KeyZ');
  await page.keyboard.press('Control+Shift+KeyZ');
  await settle(page);
  const undos = () => page.evaluate(() => globalThis.fake.asked.filter(({ name }) => name === 'undo').length);
  expect(await undos()).toBe(0);
  await field.fill('');
  await page.keyboard.press('Control+Shift+KeyZ');
  await page.getByText('Undid turn 2').waitFor();
  expect(await undos()).toBe(1);
  checkQuiet();
  await page.close();
});
