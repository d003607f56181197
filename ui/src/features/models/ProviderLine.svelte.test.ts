// The line of one service: saved is said and brought into view, removing asks first, nothing nobody asked about is said.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Failure } from '../../protocol/backend';
import { FakeBackend } from '../../protocol/fake/fake';
import { service } from '../../protocol/fake/make';
import { sampleWorld } from '../../protocol/fake/sample';
import type { Provider } from '../../protocol/generated/Provider';
import { Providers } from '../../state/providers.svelte';
import { en } from '../../texts/en';
import ModelsSettings from './ModelsSettings.svelte';
import ProviderLine from './ProviderLine.svelte';

const OWN = service('own');

async function made(provider: Provider = OWN) {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  fake.world.providers = [provider];
  const providers = new Providers(fake);
  await providers.load();
  const removed = () => fake.asked.filter(({ name }) => name === 'remove_provider').length;
  return { fake, providers, removed };
}

const CHOICE = { model: null, onmodel: vi.fn() };

/** The line of one service. */
function line(providers: Providers, provider = OWN) {
  render(ProviderLine, { t: en, provider, providers, ...CHOICE });
}

/** The page that it stands in. */
function page(providers: Providers) {
  render(ModelsSettings, {
    t: en,
    info: null,
    providers,
    ...CHOICE,
    instead: [],
    oninstead: vi.fn(),
    ...MONEY,
  });
}

const MONEY = { spend: { session: null, day: null }, onspend: vi.fn(), prices: [], onprices: vi.fn() };

test('removing a service is asked about in place first', async () => {
  const { providers, removed } = await made();
  line(providers);
  await userEvent.click(screen.getByRole('button', { name: 'Remove' }));
  expect(removed()).toBe(0);
  expect(screen.getByText(/^Remove Workshop\?/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(screen.queryByText(/^Remove Workshop\?/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Remove' }));
  await userEvent.click(screen.getByRole('button', { name: 'Yes, remove it' }));
  expect(removed()).toBe(1);
});

test('a key in the keychain goes with its service, and one that stays there is said', async () => {
  const stored = service('own', { key: 'stored' });
  const { fake, providers } = await made(stored);
  page(providers);
  await userEvent.click(screen.getByRole('button', { name: 'Remove' }));
  expect(screen.getByText(/Its key is deleted from the keychain, too\.$/)).toBeVisible();
  // The engine removes it and says what is left.
  fake.world.providers = [];
  vi.spyOn(fake, 'call').mockRejectedValueOnce(new Failure({ code: 'key/left', message: '', hint: null }));
  await userEvent.click(screen.getByRole('button', { name: 'Yes, remove it' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('the keychain kept its key');
  expect(screen.queryByText('Workshop')).toBeNull();
});

test('of a service of one’s own nothing is said about a key nobody asked for', async () => {
  const { providers } = await made();
  line(providers);
  const notes = [...screen.getByRole('listitem').querySelectorAll('small')].map((note) => note.textContent);
  expect(notes).toEqual(['http://localhost:9000/v1', '1 model']);
});

test('a service that was added is said to be saved, and comes into view', async () => {
  const { providers } = await made();
  const into = vi.spyOn(Element.prototype, 'scrollIntoView');
  page(providers);
  expect(screen.queryByText('Saved')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Add a service…' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'Second');
  await userEvent.type(screen.getByRole('textbox', { name: 'Address' }), 'http://localhost:9/v1');
  await userEvent.type(screen.getByRole('textbox', { name: 'Models' }), 'one');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  const line = (await screen.findByText('Saved')).closest('li');
  expect(line).toHaveTextContent('Second');
  expect(into.mock.instances).toContain(line);
});

test('d08_without_a_keychain_the_page_says_how_long_a_key_is_kept_and_takes_it', async () => {
  const { fake, providers } = await made(service('own', { key: 'session_only' }));
  const info = { ...fake.world.app, keychain: 'missing' };
  render(ModelsSettings, { t: en, info, providers, ...CHOICE, ...MONEY, instead: [], oninstead: vi.fn() });
  expect(screen.getByText(/^This computer has no keychain that Daybook can use/)).toBeVisible();
  expect(screen.getByText(/^Key kept until Daybook closes/)).toBeVisible();
  expect(providers.connected.map((provider) => provider.id)).toEqual(['own']);
});

const OFFICE = {
  subject: 'Old authority',
  fingerprint: 'ab'.repeat(32),
  until: Date.UTC(2001, 8, 9, 12),
  expired: true,
};

test('a service’s own certificate is chosen, shown, tested and removed, and a refused file says why in place', async () => {
  const own = service('own', { base_url: 'https://models.example/v1' });
  const { fake, providers } = await made(own);
  page(providers);
  await userEvent.click(screen.getByRole('button', { name: 'Certificate…' }));
  const part = screen.getByRole('region', { name: 'This service uses its own certificate' });
  expect(screen.getByRole('button', { name: 'Choose the file…' })).toHaveFocus();
  const refused = new Failure({ code: 'certificate/private_key', message: '', hint: null });
  vi.spyOn(fake, 'call').mockRejectedValueOnce(refused);
  await userEvent.click(screen.getByRole('button', { name: 'Choose the file…' }));
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  expect(part).toHaveTextContent('There is a private key in this file.');
  await userEvent.click(screen.getByRole('button', { name: 'Choose the file…' }));
  expect(screen.queryByRole('alert')).toBeNull();
  expect(part).toHaveTextContent('Office authority, Example Ltd Valid until 6 Nov 2031');
  expect(part).toHaveTextContent('SHA-256 fingerprint: 9C 1F 9C 1F');
  expect(screen.getByText('It answers')).toBeVisible();
  expect(screen.getByText('1 model, own certificate')).toBeVisible();
  const remove = screen.getByRole('button', { name: 'Stop trusting it' });
  await userEvent.click(remove);
  expect(remove).not.toBeInTheDocument();
  expect(screen.getByRole('button', { name: 'Choose the file…' })).toHaveFocus();
  const asked = fake.asked.map(({ name }) => name);
  expect(asked.filter((name) => name === 'check_provider')).toHaveLength(1);
});

test('where nothing was chosen nothing is tested, and a certificate that ended is said', async () => {
  const own = service('own', { base_url: 'https://models.example/v1', certificates: [OFFICE] });
  const { fake, providers } = await made(own);
  vi.spyOn(fake, 'call').mockResolvedValueOnce({ kind: 'providers', value: [own] });
  expect(await providers.chooseCertificate('own')).toBeNull();
  expect(fake.asked.map(({ name }) => name)).not.toContain('check_provider');
  line(providers, own);
  expect(screen.getByText('1 model, own certificate, expired')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Certificate…' }));
  expect(screen.getByText('Expired on 9 Sep 2001')).toBeVisible();
});

test('a service without encryption has no certificate to speak of', async () => {
  const { providers } = await made();
  line(providers);
  expect(screen.queryByRole('button', { name: 'Certificate…' })).toBeNull();
});
