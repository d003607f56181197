// The window's backend: which commands it sends, that it acknowledges what was drawn, and that errors keep their code.
import { beforeEach, expect, test, vi } from 'vitest';
import type { Notification } from './generated/Notification';

const ipc = vi.hoisted(() => ({
  invoke: vi.fn<(name: string, args: Record<string, unknown>) => Promise<unknown>>(),
  channels: [] as { onmessage: (batch: Notification[]) => void }[],
}));

vi.mock('@tauri-apps/api/core', () => ({
  invoke: ipc.invoke,
  Channel: class {
    onmessage: (batch: Notification[]) => void = () => {};
    constructor() {
      ipc.channels.push(this);
    }
  },
}));

const { insideWindow, TauriBackend } = await import('./tauri');
const settled = () => new Promise((resolve) => setTimeout(resolve, 40));

beforeEach(() => {
  ipc.invoke.mockReset();
  ipc.invoke.mockImplementation((name) => Promise.resolve(name === 'subscribe' ? 7 : null));
  ipc.channels.length = 0;
});

test('a command travels as one typed argument', async () => {
  ipc.invoke.mockResolvedValue({ kind: 'done' });
  const reply = await new TauriBackend().call({ name: 'interrupt', args: { session: 'ses_1' } });
  expect(reply).toEqual({ kind: 'done' });
  expect(ipc.invoke).toHaveBeenCalledWith('call', {
    command: { name: 'interrupt', args: { session: 'ses_1' } },
  });
});

test('a refusal keeps its code', async () => {
  ipc.invoke.mockRejectedValue({ code: 'folder/busy', message: 'busy', hint: null });
  await expect(new TauriBackend().call({ name: 'app' })).rejects.toMatchObject({ code: 'folder/busy' });
});

test('each batch is acknowledged once, after it was handed on', async () => {
  const heard: Notification[][] = [];
  new TauriBackend().subscribe({ kind: 'store' }, (batch) => heard.push(batch));
  const channel = ipc.channels[0];
  channel?.onmessage([{ kind: 'resync', session: 's' }]);
  channel?.onmessage([]);
  await settled();
  expect(heard).toHaveLength(2);
  const acks = ipc.invoke.mock.calls.filter(([name]) => name === 'ack');
  expect(acks).toEqual([
    ['ack', { subscription: 7, batches: 1 }],
    ['ack', { subscription: 7, batches: 1 }],
  ]);
});

test('a listener that breaks still lets the next batch come', async () => {
  new TauriBackend().subscribe({ kind: 'store' }, () => {
    throw new Error('broken view');
  });
  expect(() => ipc.channels[0]?.onmessage([])).toThrow('broken view');
  await settled();
  expect(ipc.invoke).toHaveBeenCalledWith('ack', { subscription: 7, batches: 1 });
});

test('after stopping nothing is heard and the subscription is ended', async () => {
  const heard: Notification[][] = [];
  const stop = new TauriBackend().subscribe({ kind: 'store' }, (batch) => heard.push(batch));
  stop();
  ipc.channels[0]?.onmessage([]);
  await settled();
  expect(heard).toEqual([]);
  expect(ipc.invoke).toHaveBeenCalledWith('unsubscribe', { subscription: 7 });
});

test('outside the window it is known to be outside', () => {
  expect(insideWindow()).toBe(false);
});
