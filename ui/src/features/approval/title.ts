// What a request is about, in one line, from the engine's facts.
import type { ApprovalView } from '../../protocol/generated/ApprovalView';
import { oneLine } from '../../shared/visible';
import type { Facts, Texts } from '../../texts';

export function titleOf(approval: Pick<ApprovalView, 'act' | 'facts' | 'tool'>, t: Texts): string {
  const facts: Facts = { tool: approval.tool };
  for (const [name, value] of Object.entries(approval.facts)) facts[name] = oneLine(value ?? '', 160);
  switch (approval.act) {
    case 'write':
    case 'edit':
    case 'delete':
    case 'run':
    case 'outside':
    case 'network':
    case 'read':
      return t.approval.what[approval.act](facts);
    default:
      return t.approval.what.other(facts);
  }
}

/** The act, as far as it has words of its own. */
export function actOf(act: string): keyof Texts['approval']['riskWhy'] {
  switch (act) {
    case 'write':
    case 'edit':
    case 'delete':
    case 'run':
    case 'outside':
    case 'network':
    case 'read':
      return act;
    default:
      return 'other';
  }
}
