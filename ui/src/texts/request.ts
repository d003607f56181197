// What a request is about, in one line, from the engine's facts.
import type { ApprovalView } from '../protocol/generated/ApprovalView';
import { atWords, oneLine, visible } from '../shared/visible';
import type { Facts, Texts } from './en';

type About = Pick<ApprovalView, 'act' | 'facts' | 'tool'>;

/** Longest piece of a command that still reads as a title. */
const COMMAND = 60;

/** The line as plain text: for lists and for those who listen. */
export function titleOf(approval: About, t: Texts): string {
  const { words, code } = titleParts(approval, t);
  return code === '' ? words : words + t.approval.colon + code;
}

/** The line in two parts: words, and a command that is set as code; empty where there is none. */
export function titleParts(approval: About, t: Texts): { words: string; code: string } {
  // Cut in its middle and between words only, so that its tail is the command's own.
  const command = approval.act === 'run' ? (approval.facts['command'] ?? '') : '';
  const line = command.replace(/\s+/g, ' ').trim();
  const code = visible(atWords(line, COMMAND), COMMAND * 2);
  return { words: wordsOf(approval, t), code };
}

function wordsOf(approval: About, t: Texts): string {
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
