// What words from the composer are for, while something waits for the person.
//
// A **reply** goes to what waits longest. A question that takes own words is answered with them. A request isn't allowed
// and gets them as the reason, for words never mean yes. Everything else keeps them as a message that waits: an unknown
// outcome and a question with fixed answers are chosen from, and what must stay hidden isn't typed in the open.
import type { Cell } from './session.svelte';

export type Reply =
  | { kind: 'answer'; id: string }
  | { kind: 'refuse'; id: string }
  /** `waits`: not read before what is asked above is answered. */
  | { kind: 'message'; waits: boolean };

export const MESSAGE: Reply = { kind: 'message', waits: false };

/** What words are for, by the entry that waits for the person longest; without one they are a message. */
export function replyTo(oldest: Pick<Cell, 'body'> | undefined): Reply {
  const body = oldest?.body;
  if (!body) return MESSAGE;
  if (body.kind === 'approval') return { kind: 'refuse', id: body.approval.id };
  if (body.kind !== 'question') return { kind: 'message', waits: true };
  const { id, options, free_text, sensitive } = body.question;
  const open = (free_text || options.length === 0) && !sensitive;
  return open ? { kind: 'answer', id } : { kind: 'message', waits: true };
}
