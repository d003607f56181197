// The services on the start page: what is known of each, and no more.
import { render, screen } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import type { Provider } from '../../protocol/generated/Provider';
import { sampleWorld } from '../../protocol/fake/sample';
import { en } from '../../texts/en';
import ConnectModel from './ConnectModel.svelte';

test('a service is called ready only when it answered', () => {
  const [one] = sampleWorld('en', 1e12).providers;
  if (!one) throw new Error('the sample has services');
  const table: [Provider['check'], string][] = [
    [{ ok: true, facts: {} }, 'Ready'],
    [{ ok: false, facts: { class: 'network' } }, 'Doesn’t answer'],
    [null, 'Not tested yet'],
  ];
  for (const [check, words] of table) {
    const providers = [{ ...one, check }];
    const on = { keychain: true, loading: false, onchoose: vi.fn() };
    const shown = render(ConnectModel, { t: en, providers, connected: providers, ...on });
    expect(screen.getByText(words)).toBeVisible();
    shown.unmount();
  }
});
