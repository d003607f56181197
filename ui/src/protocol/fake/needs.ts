// What waits in a session, as the engine would tell it over all sessions.
import type { ApprovalView } from '../generated/ApprovalView';
import type { Need } from '../generated/Need';
import type { NeedWhat } from '../generated/NeedWhat';
import type { SessionView } from '../generated/SessionView';

/** Words of a request that a line shows. */
const SHOWN = ['path', 'command', 'time_ms', 'kind', 'files', 'more', 'size', 'to'];
/** Longest command or path in a line. */
const IN_A_LINE = 60;

export function needsOf(view: SessionView): Need[] {
  return view.entries.flatMap(({ key, time, body }): Need[] => {
    const need = (id: string, what: NeedWhat): Need[] => [{ id, entry: key, since: time, what }];
    if (body.kind === 'approval' && body.approval.state.kind === 'open') {
      const { id, digest, tool, act, facts, undo } = body.approval;
      return need(id, { kind: 'approval', digest, tool, act, facts, undo, whole: isWhole(body.approval) });
    }
    if (body.kind === 'question' && body.question.answer === null)
      return need(body.question.id, { kind: 'question', text: body.question.text });
    if (body.kind === 'unknown' && body.resolution === null)
      return need(body.call.id, { kind: 'outcome', tool: body.call.tool, facts: body.call.facts });
    return [];
  });
}

/** Does a line say all of the request? */
function isWhole(approval: ApprovalView): boolean {
  const { act, facts, exact, cannot_touch, reach, added, warnings, suspicious, undo, risk, diff } = approval;
  const inside = reach.length === 0 && added.length === 0;
  const listed = Object.keys(facts).every((name) => SHOWN.includes(name));
  const quiet = inside && warnings.length === 0 && !suspicious && undo !== 'no' && risk < 3;
  const short = (text = '') => text !== '' && text.length <= IN_A_LINE;
  const held = cannot_touch.includes('outside_folder') && cannot_touch.includes('network');
  const run = act === 'run' && short(facts['command']) && facts['command'] === exact && held;
  return listed && quiet && diff === null && (run || (act === 'delete' && short(facts['path'])));
}
