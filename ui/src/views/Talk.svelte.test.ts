// The conversation over the stand-in: going to what waits, which may be told before its entry is there.
import { render, waitFor } from '@testing-library/svelte';
import { tick } from 'svelte';
import { MediaQuery } from 'svelte/reactivity';
import { expect, test } from 'vitest';
import { FakeBackend } from '../protocol/fake/fake';
import { approval, entry } from '../protocol/fake/make';
import { sampleWorld } from '../protocol/fake/sample';
import { App, provideApp } from '../state/app.svelte';
import { Layout } from '../state/layout.svelte';
import Talk from './Talk.svelte';

function begin() {
  const fake = new FakeBackend({
    ...sampleWorld('en', 1e12),
    script: () => undefined,
    pause: () => Promise.resolve(),
    now: () => 1e12,
  });
  return { fake, app: new App(fake, ['en'], null) };
}

const wanted = { session: 'ses_done', entry: 'apr_new' };

test('what waits is gone to once its entry is there', async () => {
  const { fake, app } = begin();
  app.review(wanted);
  await waitFor(() => expect(app.live?.fold).toBeTruthy());
  const { live, changes, undoing } = app;
  if (!live || !changes || !undoing) throw new Error('it is open');
  const Host: typeof Talk = (internals, props) => {
    provideApp(app);
    return Talk(internals, props);
  };
  const never = () => new MediaQuery('max-width: 1px');
  const layout = new Layout(never(), never());
  render(Host, {
    live,
    layout,
    now: 1e12,
    changes,
    undoing,
    hindered: '',
    onrecord: () => undefined,
    onchanges: () => undefined,
  });
  await tick();
  expect(app.queue.review).toEqual(wanted);
  const body = { kind: 'approval', approval: approval('apr_new') } as const;
  fake.push('ses_done', { kind: 'entry', entry: entry('apr_new', 1e12, body) });
  await waitFor(() => expect(app.queue.review).toBeNull());
});

test('what waits is not gone to after the person went elsewhere', () => {
  const ways: ((app: App) => void)[] = [
    (app) => app.openSession('ses_work'),
    (app) => app.openSession(wanted.session),
    (app) => app.goWelcome(),
    (app) => app.goSettings('look'),
  ];
  for (const away of ways) {
    const { app } = begin();
    app.openSession('ses_work');
    app.review(wanted);
    expect(app.queue.review).toEqual(wanted);
    away(app);
    expect(app.queue.review).toBeNull();
    app.stop();
  }
});
