// A failed request: what to do first, quotes only of whoever answered, the technical part folded, names people know.
import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import NoticeEntry from './conversation/NoticeEntry.svelte';
import TurnEnd from './conversation/TurnEnd.svelte';
import ProviderLine from './models/ProviderLine.svelte';
import { FakeBackend } from '../protocol/fake/fake';
import { service } from '../protocol/fake/make';
import { sampleWorld } from '../protocol/fake/sample';
import { Providers } from '../state/providers.svelte';
import { en } from '../texts/en';
import { zh } from '../texts/zh';

const REFUSED =
  'couldn’t connect to http://127.0.0.1:11434/: tcp connect error: Connection refused (os error 111)';
const OWN = service('my-model', { check: { ok: false, facts: { class: 'network', message: REFUSED } } });

function backend() {
  return new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
}

test('nobody is quoted who didn’t answer, and the technical part is folded', async () => {
  const facts = { class: 'network', provider: 'Ollama', message: REFUSED };
  const rest = { ms: 1, last: true, ongoon: vi.fn() };
  const { unmount } = render(TurnEnd, { t: en, end: 'failed', facts, local: true, ...rest });
  const alert = screen.getByRole('alert');
  expect(alert).toHaveTextContent('Ollama can’t be reached. Is Ollama running? Start it, then try again.');
  expect(alert).not.toHaveTextContent(/said|os error/);
  await userEvent.click(screen.getByText('Details'));
  expect(alert).toHaveTextContent(/os error 111/);
  unmount();
  const answered = { class: 'overloaded', provider: 'Acme', said: '<b>full</b> (HTTP 200)', status: '529' };
  const { container } = render(TurnEnd, { t: zh, end: 'failed', facts: answered, ...rest });
  expect(screen.getByRole('alert')).toHaveTextContent('对方的说明：<b>full</b> (HTTP 200)');
  expect(screen.getByRole('alert')).not.toHaveTextContent(/529/);
  await userEvent.click(screen.getByText('详情'));
  expect(screen.getByText('HTTP 529')).toBeVisible();
  expect(container.querySelector('b')).toBeNull();
});

test('a service that was removed is said, with what to do', () => {
  const facts = {
    class: 'provider/unknown',
    message: 'there is no connection named local',
    provider: 'local',
  };
  render(TurnEnd, { t: en, end: 'failed', facts, ms: 1, last: true, ongoon: vi.fn() });
  expect(screen.getByRole('alert')).toHaveTextContent(
    'The service of this model was removed. Choose another model below.',
  );
  expect(screen.queryByText(/local/)).toBeNull();
});

test('a test that failed says what to do in the line of its service', async () => {
  const fake = backend();
  fake.world.providers = [OWN];
  const providers = new Providers(fake);
  await providers.load();
  render(ProviderLine, { t: en, provider: OWN, providers, model: null, onmodel: vi.fn() });
  const line = screen.getByRole('listitem');
  expect(line).toHaveTextContent(/Workshop can’t be reached\. Is Workshop running\?/);
  expect(line).not.toHaveTextContent(/os error/);
  await userEvent.click(within(line).getByText('Details'));
  expect(line).toHaveTextContent(/os error 111/);
});

test('in the conversation a service has the name a person gave it, not its id', async () => {
  const fake = backend();
  fake.world.providers = [OWN];
  const providers = new Providers(fake);
  await providers.load();
  const facts = { class: 'network', message: REFUSED, provider: 'my-model' };
  render(NoticeEntry, { t: en, code: 'attempt/failed', bad: true, ...providers.named(facts) });
  expect(screen.getByText('Workshop can’t be reached.')).toBeVisible();
  expect(screen.getByText('Is Workshop running? Start it, then try again.')).toBeVisible();
  expect(providers.named({})).toEqual({ facts: {}, local: false });
});
