// How much a model thinks: the levels it knows, the one that is really asked for, and none at all.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { Effort } from '../../protocol/generated/Effort';
import { en } from '../../texts/en';
import EffortPicker from './EffortPicker.svelte';

function show(effort: Effort | null, efforts: Effort[]) {
  const onchoose = vi.fn((_effort: Effort | null) => undefined);
  render(EffortPicker, { t: en, effort, efforts, onchoose });
  return onchoose;
}

test('the levels of the model can be chosen, and be left to its maker again', async () => {
  const onchoose = show('low', ['low', 'high']);
  await userEvent.click(screen.getByRole('button', { name: 'Thinking: Brief' }));
  expect(screen.getAllByRole('menuitemradio').map((item) => item.textContent.trim())).toEqual([
    'Usual thinking',
    'Brief',
    'Thorough',
  ]);
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Thorough' }));
  expect(onchoose).toHaveBeenLastCalledWith('high');
  await userEvent.click(screen.getByRole('button', { name: 'Thinking: Brief' }));
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'Usual thinking' }));
  expect(onchoose).toHaveBeenLastCalledWith(null);
});

test.each([
  ['max', ['low', 'medium', 'high'], 'Thorough'],
  ['low', ['medium', 'high'], 'Medium'],
  [null, ['low'], 'Usual thinking'],
] as const)('%s of %j is %s', (effort, efforts, name) => {
  show(effort, [...efforts]);
  expect(screen.getByRole('button', { name: `Thinking: ${name}` })).toBeVisible();
});
