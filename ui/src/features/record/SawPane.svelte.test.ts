// What a request was is read once when it is wanted, and again only where the person asks for it.
import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Failure } from '../../protocol/backend';
import type { Saw } from '../../protocol/generated/Saw';
import { en } from '../../texts/en';
import SawPane from './SawPane.svelte';

const saw: Saw = {
  ...{ seq: 7, time: 1e12, step: 1, attempts: 1, model: { provider: 'anthropic', model: 'm' } },
  ...{ dialect: 'anthropic-messages', parts: [], more: 0, opened: null, bytes: 12, digest: 'ab' },
  ...{ rebuilt: 'exactly', counted: null },
};

test('a request that can’t be read is asked for once, said to have failed, and asked for again on a press', async () => {
  const failure = new Failure({ code: 'store/read', message: 'the disk is gone', hint: null });
  const onbody = vi.fn<(from: number) => Promise<{ text: string; next: number | null }>>();
  onbody.mockRejectedValueOnce(failure);
  onbody.mockResolvedValueOnce({ text: '{"a":', next: 5 });
  onbody.mockRejectedValueOnce(failure);
  onbody.mockResolvedValueOnce({ text: '1}', next: null });
  render(SawPane, { t: en, saw, onbody });
  await userEvent.click(screen.getByText(en.record.saw.body));
  expect(await screen.findByRole('alert')).toBeVisible();
  expect(onbody).toHaveBeenCalledTimes(1);
  const press = () => userEvent.click(screen.getByRole('button', { name: en.record.saw.bodyMore }));
  await press();
  expect(screen.queryByRole('alert')).toBeNull();
  // What was read already stays, and is gone on from.
  await press();
  expect(await screen.findByRole('alert')).toBeVisible();
  await press();
  expect(onbody.mock.calls.map(([from]) => from)).toEqual([0, 0, 5, 5]);
  expect(screen.getByLabelText(en.record.saw.body)).toHaveTextContent('{"a":1}');
  expect(screen.queryByRole('button', { name: en.record.saw.bodyMore })).toBeNull();
});
