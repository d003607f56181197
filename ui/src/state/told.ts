// What an entry beside it tells already, so that nothing stands twice in the conversation.
//
// A request that was answered is told by the row of its call, unless the person said something with it; a failed attempt
// by the failed end right after it. Both stay on the record. Pure; looks at near neighbours only, so a long conversation costs nothing, except where an outcome
// isn't known.
import type { ApprovalState } from '../protocol/generated/ApprovalState';
import type { CallView } from '../protocol/generated/CallView';
import type { EntryBody } from '../protocol/generated/EntryBody';
import type { Resolution } from '../protocol/generated/Resolution';
import { groupCalls } from './calls';

interface Told {
  readonly body: EntryBody;
}
export type Decisions = ReadonlyMap<string, ApprovalState>;
/** What the person found about calls whose outcome wasn't known. */
export type Findings = ReadonlyMap<string, Resolution>;

/** What is put beside the work, also after it ended. */
const BESIDE: ReadonlySet<EntryBody['kind']> = new Set<EntryBody['kind']>(['undo', 'notice', 'history']);
/** Entries looked at on either side: more requests than one step can have calls. */
const NEAR = 64;

/** What was decided about calls, from the requests that follow their entry. */
export function decisionsAfter(cells: readonly Told[], index: number): Decisions {
  const found = new Map<string, ApprovalState>();
  for (const { body } of cells.slice(index + 1, index + 1 + NEAR)) {
    if (body.kind !== 'approval') break;
    const { call, state } = body.approval;
    if (settled(state)) found.set(call, state);
  }
  return found;
}

/** What was found about these calls; they may have been asked about long after, so all of the conversation is looked at. */
export function findingsOf(cells: readonly Told[], calls: readonly CallView[]): Findings {
  const found = new Map<string, Resolution>();
  const lost = new Set(calls.filter((call) => call.state === 'unknown').map((call) => call.id));
  if (lost.size === 0) return found;
  for (const { body } of cells)
    if (body.kind === 'unknown' && body.resolution !== null && lost.has(body.call.id))
      found.set(body.call.id, body.resolution);
  return found;
}

/** Is there nothing in this entry that its neighbour doesn't say? */
export function toldBeside(cells: readonly Told[], index: number): boolean {
  const body = cells[index]?.body;
  if (body?.kind === 'notice' && body.code === 'attempt/failed') {
    const next = cells[index + 1]?.body;
    if (next?.kind !== 'turn_end' || next.end !== 'failed') return false;
    return ['class', 'said', 'message', 'status', 'address'].every(
      (name) => (next.facts[name] ?? '') === (body.facts[name] ?? ''),
    );
  }
  if (body?.kind !== 'approval' || !settled(body.approval.state) || saidWith(body.approval.state))
    return false;
  for (let at = index - 1; at >= Math.max(0, index - NEAR); at -= 1) {
    const before = cells[at]?.body;
    if (before?.kind === 'approval') continue;
    if (before?.kind !== 'calls') return false;
    const decisions = decisionsAfter(cells, at);
    const group = groupCalls(before.calls).find(({ calls }) =>
      calls.some(({ id }) => id === body.approval.call),
    );
    return group !== undefined && decisionOf(group.calls, decisions) !== null;
  }
  return false;
}

/** Did the last turn end, whatever was taken back or noted after it? */
export function turnIsOver(cells: readonly Told[]): boolean {
  return lastTold(cells)?.body.kind === 'turn_end';
}

/** Did it end because all was done? */
export function endedWell(cells: readonly Told[]): boolean {
  const body = lastTold(cells)?.body;
  return body?.kind === 'turn_end' && body.end === 'completed';
}

/** The last entry that is neither a return, a note nor about how much of the conversation the model gets. */
export function lastTold<T extends Told>(cells: readonly T[]): T | undefined {
  return cells.findLast(({ body }) => !BESIDE.has(body.kind));
}

/** What was decided about all of these calls alike; null where it wasn't, or not alike. */
export function decisionOf(calls: readonly CallView[], decisions: Decisions): ApprovalState | null {
  const first = decisions.get(calls[0]?.id ?? '');
  if (!first) return null;
  const same = calls.every((call) => {
    const other = decisions.get(call.id);
    return other?.kind === first.kind && lapseOf(other) === lapseOf(first);
  });
  return same ? first : null;
}

/** One that is asked anew has a request of its own to be told by. */
function settled(state: ApprovalState): boolean {
  return state.kind !== 'open' && lapseOf(state) !== 'changed';
}

/** What the person said when they didn't allow it; empty where they said nothing. */
export function saidWith(state: ApprovalState): string {
  return state.kind === 'refused' ? (state.why ?? '') : '';
}

function lapseOf(state: ApprovalState): string {
  return state.kind === 'expired' ? state.why : '';
}
