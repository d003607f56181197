// The one line that says what is going on.
import { render, screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import type { Activity } from '../../protocol/generated/Activity';
import { en } from '../../texts/en';
import GoingOn from './GoingOn.svelte';

test('what work waits for outside the session is said', () => {
  const table: [Activity, string][] = [
    [{ kind: 'held', by: 'folder' }, 'Waiting until other work in this folder is done.'],
    [{ kind: 'held', by: 'store' }, en.session.held.store],
    [{ kind: 'summarising', since: 0 }, 'Summarising earlier work, so that it fits…'],
    [{ kind: 'working', since: 0 }, 'Working'],
  ];
  for (const [activity, words] of table) {
    const shown = render(GoingOn, { t: en, activity, now: 0, visiblyBusy: activity.kind !== 'working' });
    expect(screen.getByText(words)).toBeVisible();
    shown.unmount();
  }
});
