// The backend inside the window: four IPC commands (`call`, `subscribe`, `ack`, `unsubscribe`) and one channel a
// subscription.
//
// A batch is acknowledged once it was drawn, so a page that can't keep up is sent less instead of freezing. The channel
// is made only here: outside the window making one throws.
import { Channel, invoke } from '@tauri-apps/api/core';
import type { Backend } from './backend';
import { failureOf } from './backend';
import type { Command } from './generated/Command';
import type { Notification } from './generated/Notification';
import type { Reply } from './generated/Reply';
import type { Topic } from './generated/Topic';

/** Is the page inside Daybook's own window? */
export function insideWindow(): boolean {
  return '__TAURI_INTERNALS__' in globalThis;
}

export class TauriBackend implements Backend {
  async call(command: Command): Promise<Reply> {
    try {
      return await invoke<Reply>('call', { command });
    } catch (thrown) {
      throw failureOf(thrown);
    }
  }

  subscribe(topic: Topic, on: (batch: Notification[]) => void): () => void {
    const channel = new Channel<Notification[]>();
    let listening = true;
    const subscription = invoke<number>('subscribe', { topic, channel });
    channel.onmessage = (batch) => {
      if (!listening) return;
      try {
        on(batch);
      } finally {
        void whenDrawn().then(() => acknowledge(subscription));
      }
    };
    // A subscription that can't be made is seen by the commands around it; there is nothing to deliver here.
    subscription.catch(() => undefined);
    return () => {
      listening = false;
      subscription.then((id) => invoke('unsubscribe', { subscription: id })).catch(() => undefined);
    };
  }
}

async function acknowledge(subscription: Promise<number>): Promise<void> {
  try {
    await invoke('ack', { subscription: await subscription, batches: 1 });
  } catch {
    // The subscription is gone; so is what waited for the answer.
  }
}

/** Resolves with the next frame, or at once while nothing is drawn. */
function whenDrawn(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}
