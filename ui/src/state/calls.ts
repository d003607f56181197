// Calls of one step as a person reads them: neighbours of one kind become one line ("Read 6 files").
//
// Pure. A group keeps the model's order inside and shows the gravest state of its calls.
import type { CallState } from '../protocol/generated/CallState';
import type { CallView } from '../protocol/generated/CallView';
import { callKind, type CallKind } from '../texts/words';

export interface CallGroup {
  /** Id of its first call: stable while the group grows. */
  key: string;
  kind: CallKind;
  calls: CallView[];
  state: CallState;
  /** Sum of what its calls took, null while none has ended. */
  ms: number | null;
  added: number;
  removed: number;
}

/** Kinds that are shown together; commands and the like stand alone, each with its output. */
const TOGETHER: ReadonlySet<CallKind> = new Set<CallKind>(['read', 'list', 'search', 'change', 'delete']);

/** States from the least to the most worth knowing. */
const GRAVITY: readonly CallState[] = [
  'done',
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
    const kind = callKind(call.tool);
    const last = groups.at(-1);
    if (last && last.kind === kind && TOGETHER.has(kind)) add(last, call);
    else groups.push(begin(kind, call));
  }
  return groups;
}

function begin(kind: CallKind, call: CallView): CallGroup {
  const empty = { key: call.id, kind, calls: [], state: call.state, ms: null, added: 0, removed: 0 };
  return add(empty, call);
}

function add(group: CallGroup, call: CallView): CallGroup {
  group.calls.push(call);
  if (GRAVITY.indexOf(call.state) > GRAVITY.indexOf(group.state)) group.state = call.state;
  if (call.ms !== null) group.ms = (group.ms ?? 0) + call.ms;
  group.added += call.added ?? 0;
  group.removed += call.removed ?? 0;
  return group;
}
