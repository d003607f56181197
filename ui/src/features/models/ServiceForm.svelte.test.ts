// A service of one's own: what is missing is said beside its field, and an address is mended where it can be.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { ProviderDraft } from '../../protocol/generated/ProviderDraft';
import { en } from '../../texts/en';
import ServiceForm from './ServiceForm.svelte';

function show() {
  Element.prototype.scrollIntoView = vi.fn();
  const onsave = vi.fn((_draft: ProviderDraft) => Promise.resolve(true));
  render(ServiceForm, { t: en, provider: null, onsave, oncancel: () => {} });
  const field = (name: string) => screen.getByRole('textbox', { name });
  return { onsave, field, save: () => userEvent.click(screen.getByRole('button', { name: 'Save' })) };
}

test('what is missing is said once a field was left, and for all when it is to be saved', async () => {
  const { onsave, field, save } = show();
  expect(field('Name')).toHaveFocus();
  expect(screen.queryByText('Give it a name.')).toBeNull();
  await userEvent.tab();
  expect(screen.getByText('Give it a name.')).toBeVisible();
  expect(screen.queryByText('Name at least one model.')).toBeNull();
  await save();
  expect(screen.getByText('Name at least one model.')).toBeVisible();
  expect(field('Name')).toHaveFocus();
  expect(field('Models')).toHaveAccessibleDescription('Name at least one model.');
  expect(onsave).not.toHaveBeenCalled();
});

test('an address without its beginning is offered with it: this computer plainly, others safely', async () => {
  const table = [
    ['localhost:9999/v1', 'http://localhost:9999/v1'],
    ['api.example.com/v1', 'https://api.example.com/v1'],
  ] as const;
  const { onsave, field, save } = show();
  await userEvent.type(field('Name'), 'Plain');
  await userEvent.type(field('Models'), 'one, two');
  for (const [typed, meant] of table) {
    await userEvent.clear(field('Address'));
    await userEvent.type(field('Address'), typed);
    await save();
    await userEvent.click(screen.getByRole('button', { name: `Use ${meant}` }));
    await save();
    expect(onsave.mock.lastCall?.[0]).toMatchObject({ base_url: meant, models: ['one', 'two'] });
  }
});

test('every format can be chosen, and the one that most servers speak is on', async () => {
  const { onsave, field, save } = show();
  await userEvent.type(field('Name'), 'Plain');
  await userEvent.type(field('Address'), 'http://localhost:9999/v1');
  await userEvent.type(field('Models'), 'one');
  const format = (name: string) => screen.getByRole('button', { name, pressed: name === 'OpenAI Chat' });
  expect(format('OpenAI Chat')).toBeVisible();
  await userEvent.click(format('OpenAI Responses'));
  await save();
  expect(onsave.mock.lastCall?.[0]).toMatchObject({ dialect: 'openai-responses' });
});

test('a context size is optional, and digits may be grouped', async () => {
  const { onsave, field, save } = show();
  await userEvent.type(field('Name'), 'Plain');
  await userEvent.type(field('Address'), 'http://localhost:9999/v1');
  await userEvent.type(field('Models'), 'one');
  await save();
  expect(onsave.mock.lastCall?.[0]).toMatchObject({ context_tokens: null });
  const size = field('Context size in tokens');
  for (const wrong of ['many', '12', '4095', '1e9', '-5000']) {
    await userEvent.clear(size);
    await userEvent.type(size, wrong);
    await save();
    expect(size).toHaveAccessibleDescription('A whole number of at least 4,096, or nothing.');
  }
  expect(onsave).toHaveBeenCalledTimes(1);
  await userEvent.clear(size);
  await userEvent.type(size, '32 768');
  await save();
  expect(onsave.mock.lastCall?.[0]).toMatchObject({ context_tokens: 32_768 });
});
