// The line that says that the model reads less of earlier work.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { HistoryView } from '../../protocol/generated/HistoryView';
import { en } from '../../texts/en';
import { zh } from '../../texts/zh';
import HistoryEntry from './HistoryEntry.svelte';

const made: HistoryView = {
  steps: 41,
  results: 0,
  before: 96_000,
  after: 12_000,
  why: 'budget',
  text: `<checkpoint>\nwhat stands for it${String.fromCharCode(0x202e)}\n</checkpoint>`,
  by_model: true,
  in_force: true,
};

test('r_cmp_16_it_says_how_much_shows_the_text_and_offers_the_way_back', async () => {
  const onfull = vi.fn();
  render(HistoryEntry, { t: en, history: made, onfull });
  expect(screen.getByText(/Earlier work was summarised: 41 steps/)).toHaveTextContent('96K → 12K tokens');
  await userEvent.click(screen.getByText('What the model reads instead'));
  expect(screen.getByLabelText('What the model reads instead')).toHaveTextContent(
    'what stands for it⟨U+202E⟩',
  );
  for (const words of [/The model had little room left/, /Nothing is lost/])
    expect(screen.getByText(words)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Use the full history again' }));
  expect(onfull).toHaveBeenCalledOnce();
});

test('without a summary it says so, and what is not in force has no button', async () => {
  render(HistoryEntry, { t: zh, history: { ...made, by_model: false, in_force: false }, onfull: vi.fn() });
  expect(screen.queryByRole('button')).toBeNull();
  await userEvent.click(screen.getByText('模型读到的内容'));
  expect(screen.getByText(/没能写出总结/)).toBeVisible();
});

test('shortened results are one line with the way back', () => {
  const history = { ...made, steps: 0, results: 3, text: '', by_model: false };
  render(HistoryEntry, { t: en, history, onfull: vi.fn() });
  expect(screen.getByText(/3 older results were shortened for the model/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Use the full history again' })).toBeVisible();
  expect(screen.getByText(/The model had little room left/)).toBeVisible();
  expect(screen.queryByText('What the model reads instead')).toBeNull();
});

test('a session that can only be read offers no way back', () => {
  render(HistoryEntry, { t: en, history: made, onfull: null });
  expect(screen.queryByRole('button')).toBeNull();
});
