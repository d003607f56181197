// What a request about a file would do, as a sentence: act, path, what. From the engine's facts; empty where there are none.
import type { ApprovalView } from '../protocol/generated/ApprovalView';
import { visible } from '../shared/visible';
import type { Texts } from './en';

type About = Pick<ApprovalView, 'act' | 'facts' | 'tool'>;

/** The whole sentence; the path in it is never cut. */
export function doesWhat({ act, facts, tool }: About, t: Texts): string {
  const path = facts['path'];
  if (!path) return '';
  const name = visible(path, path.length);
  const { does } = t.approval;
  switch (act) {
    case 'read':
      // A search is more than its place: all of it stands in the box.
      return tool === 'read_file' ? readsOf(name, facts, t) + does.end : '';
    case 'write':
      return (facts['new'] === 'true' ? does.make(name) : does.replace(name)) + linesOf(facts, t) + does.end;
    case 'edit':
      return does.edit(name) + linesOf(facts, t) + does.end;
    case 'delete':
      return does.delete(facts['kind'] ?? 'file', name) + insideOf(facts, t) + whereTo(facts, t) + does.end;
    default:
      return '';
  }
}

function readsOf(name: string, { from_line: from, lines }: About['facts'], t: Texts): string {
  const { does } = t.approval;
  if (from === undefined && lines === undefined) return does.read(name);
  return does.readPart(name, number(from ?? '1'), lines === undefined ? '' : number(lines));
}

function linesOf(facts: About['facts'], t: Texts): string {
  const { added, removed } = facts;
  return added === undefined || removed === undefined
    ? ''
    : t.approval.does.lines(number(added), number(removed));
}

function insideOf(facts: About['facts'], t: Texts): string {
  if (facts['kind'] !== 'folder' || facts['files'] === undefined) return '';
  return t.approval.does.files(number(facts['files']), facts['more'] === 'true');
}

function whereTo(facts: About['facts'], t: Texts): string {
  const to = facts['to'];
  return to === 'trash' || to === 'kept' ? t.approval.does.to[to] : '';
}

/** Facts are words of the engine; what isn't a number there is shown as nothing counted. */
function number(fact: string): string {
  return /^\d+$/.test(fact) ? fact : '0';
}
