// Calls of one step as a person reads them: neighbours of one kind become one line ("Read 6 files").
//
// Pure. A group keeps the model's order inside and shows the gravest state of its calls.
import type { CallState } from '../protocol/generated/CallState';
import type { CallView } from '../protocol/generated/CallView';
import { callKind, type CallKind } from '../texts/words';

/** Where a call stands, for the eye: one that was stopped before it started never ran. */
export type ShownState = CallState | 'not_run';

export function shownState(call: CallView): ShownState {
  return call.state === 'cancelled' && !call.started ? 'not_run' : call.state;
}

/** Is it over, whether it ran or not? */
export function hasEnded({ state }: CallView): boolean {
  return state !== 'proposed' && state !== 'waiting' && state !== 'running';
}

/** The code a command ended with, where it says that it failed; empty otherwise. */
export function exitOf(call: CallView): string {
  const code = call.state === 'done' ? (call.facts['exit_code'] ?? '0') : '0';
  return code === '0' ? '' : code;
}

export interface CallGroup {
  /** Id of its first call: stable while the group grows. */
  key: string;
  kind: CallKind;
  calls: CallView[];
  state: ShownState;
  /** Sum of what its calls took, null while none has ended. */
  ms: number | null;
  added: number;
  removed: number;
}

/** Kinds that are shown together; commands and the like stand alone, each with its output. */
const TOGETHER: ReadonlySet<CallKind> = new Set<CallKind>(['read', 'list', 'search', 'change', 'delete']);

/** States from the least to the most worth knowing. */
const GRAVITY: readonly ShownState[] = [
  'done',
  'not_run',
  'cancelled',
  'proposed',
  'running',
  'waiting',
  'denied',
  'failed',
  'unknown',
];

export function groupCalls(calls: readonly CallView[]): CallGroup[] {
  const groups: CallGroup[] = [];
  for (const call of calls) {
    const kind = callKind(call.tool, call.facts);
    const last = groups.at(-1);
    if (last && last.kind === kind && TOGETHER.has(kind) && alike(last, call)) add(last, call);
    else groups.push(begin(kind, call));
  }
  return groups;
}

/** What was stopped, or never ran, isn't told in one breath with what was done. */
function alike(group: CallGroup, call: CallView): boolean {
  const state = shownState(call);
  const apart = (of: ShownState) => of === 'cancelled' || of === 'not_run';
  return group.state === state || (!apart(group.state) && !apart(state));
}

function begin(kind: CallKind, call: CallView): CallGroup {
  const empty = { key: call.id, kind, calls: [], state: shownState(call), ms: null, added: 0, removed: 0 };
  return add(empty, call);
}

function add(group: CallGroup, call: CallView): CallGroup {
  group.calls.push(call);
  const state = shownState(call);
  if (GRAVITY.indexOf(state) > GRAVITY.indexOf(group.state)) group.state = state;
  if (call.ms !== null) group.ms = (group.ms ?? 0) + call.ms;
  group.added += call.added ?? 0;
  group.removed += call.removed ?? 0;
  return group;
}
