// Earlier work summarised, and the way back to all of it, as the engine would show both.
import type { HistoryView } from '../generated/HistoryView';
import type { Patch } from '../generated/Patch';
import type { Stage } from './fake';

const TEXT = `<checkpoint from="Daybook" stands-for="events 0 to 212, 41 steps">
## What the person said, word for word (first the beginning, then the newest)
- (event 3) Please make the order form remember what was chosen.

## Files changed so far
- changed menu.json

## Summary (written by a model from what is left out)
The order form keeps its state now; the filter is open.
</checkpoint>`;

export function summarised(stage: Stage, now: number): void {
  const history: HistoryView = {
    steps: 41,
    results: 0,
    before: 96_000,
    after: 12_000,
    why: 'asked',
    text: TEXT,
    by_model: true,
    in_force: true,
  };
  const key = `history_${stage.view.seq}`;
  stage.push({ kind: 'entry', entry: { key, time: now, body: { kind: 'history', history } } });
}

export function inFull(stage: Stage, now: number): void {
  const patches: Patch[] = [];
  for (const entry of stage.view.entries) {
    if (entry.body.kind !== 'history' || !entry.body.history.in_force) continue;
    const history = { ...entry.body.history, in_force: false };
    patches.push({ kind: 'entry', entry: { ...entry, body: { kind: 'history', history } } });
  }
  const notice = { kind: 'notice', code: 'history/restored', facts: {}, level: 'info' } as const;
  stage.push(...patches, {
    kind: 'entry',
    entry: { key: `restored_${stage.view.seq}`, time: now, body: notice },
  });
}
