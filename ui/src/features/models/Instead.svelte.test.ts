// The list of models that go on: added, moved, taken out; each once, and the focus stays in the list.
import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { FakeBackend } from '../../protocol/fake/fake';
import { service } from '../../protocol/fake/make';
import { sampleWorld } from '../../protocol/fake/sample';
import type { ModelChoice } from '../../protocol/generated/ModelChoice';
import { Providers } from '../../state/providers.svelte';
import { en } from '../../texts/en';
import Instead from './Instead.svelte';

async function shown(instead: ModelChoice[]) {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  fake.world.providers = [
    service('own', { models: ['big', 'small'], key: 'stored' }),
    service('ollama', { models: ['local'], key: 'not_needed', check: { ok: true, facts: {} } }),
  ];
  const providers = new Providers(fake);
  await providers.load();
  const onchange = vi.fn();
  const page = render(Instead, { t: en, providers, instead, onchange });
  onchange.mockImplementation((next: ModelChoice[]) => page.rerender({ instead: next }));
  return onchange;
}

const lines = () =>
  within(screen.getByRole('list', { name: 'When a model doesn’t answer' }))
    .getAllByRole('listitem')
    .map((line) => line.querySelector('b')?.textContent);

test('r_mod_17_a_model_is_added_once_and_moved', async () => {
  const onchange = await shown([]);
  const add = async (name: string) => {
    await userEvent.click(screen.getByRole('button', { name: 'Add a model…' }));
    await userEvent.click(screen.getByRole('menuitem', { name: new RegExp(`^${name}`) }));
  };
  await add('small');
  await add('local');
  expect(lines()).toEqual(['small', 'local']);
  await userEvent.click(screen.getByRole('button', { name: 'Add a model…' }));
  expect(screen.queryByRole('menuitem', { name: /^small/ })).toBeNull();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(screen.getByRole('button', { name: 'Ask local earlier' }));
  expect(lines()).toEqual(['local', 'small']);
  // There is no way further up: the line itself has the focus.
  expect(screen.getAllByRole('listitem')[0]).toHaveFocus();
  expect(onchange).toHaveBeenLastCalledWith([
    { provider: 'ollama', model: 'local' },
    { provider: 'own', model: 'small' },
  ]);
});

test('taking one out leaves the focus in the list', async () => {
  await shown([
    { provider: 'own', model: 'big' },
    { provider: 'own', model: 'small' },
  ]);
  await userEvent.click(screen.getByRole('button', { name: 'Take big out' }));
  expect(lines()).toEqual(['small']);
  expect(screen.getByRole('button', { name: 'Take small out' })).toHaveFocus();
  await userEvent.click(screen.getByRole('button', { name: 'Take small out' }));
  expect(screen.getByRole('button', { name: 'Add a model…' })).toHaveFocus();
});
