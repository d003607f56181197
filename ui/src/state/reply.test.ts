// What words are for: an answer, the reason of a no, or a message.
import { expect, test } from 'vitest';
import { approval, call } from '../protocol/fake/make';
import type { EntryBody } from '../protocol/generated/EntryBody';
import type { QuestionView } from '../protocol/generated/QuestionView';
import { replyTo } from './reply';

function asked(part: Partial<QuestionView> = {}): EntryBody {
  const question = { id: 'q', text: '?', options: [], free_text: true, sensitive: false, answer: null };
  return { kind: 'question', question: { ...question, ...part } };
}

test('r_inb_10_words_go_to_what_waits_longest_and_keep_to_its_rules', () => {
  const waits = { kind: 'message', waits: true };
  const check = (body: EntryBody | undefined, reply: object) =>
    expect(replyTo(body && { body })).toEqual(reply);
  check(undefined, { kind: 'message', waits: false });
  check(asked(), { kind: 'answer', id: 'q' });
  check(asked({ options: ['A'] }), { kind: 'answer', id: 'q' });
  check(asked({ free_text: false }), { kind: 'answer', id: 'q' });
  check(asked({ options: ['A'], free_text: false }), waits);
  check(asked({ sensitive: true }), waits);
  check({ kind: 'approval', approval: approval('apr') }, { kind: 'refuse', id: 'apr' });
  check({ kind: 'unknown', call: call('c', 'run_command', {}), evidence: {}, resolution: null }, waits);
});
