// What waits over all sessions: its order, and that one answer is one answer.
import { expect, test } from 'vitest';
import { Failure, type Backend } from '../protocol/backend';
import type { Command } from '../protocol/generated/Command';
import type { Need } from '../protocol/generated/Need';
import type { Reply } from '../protocol/generated/Reply';
import { Queue } from './queue.svelte';

function need(id: string, since: number, whole = true): Need {
  const facts = { command: id };
  const what = { kind: 'approval', digest: `d-${id}`, tool: 'run_command', act: 'run', facts } as const;
  return { id, entry: id, since, what: { ...what, undo: 'partly', whole } };
}

/** A backend that answers when it is told to. */
function slow() {
  const asked: Command[] = [];
  const open: ((reply: Reply | Failure) => void)[] = [];
  const backend: Backend = {
    call: (command) => {
      asked.push(command);
      return new Promise((resolve, reject) =>
        open.push((reply) => (reply instanceof Failure ? reject(reply) : resolve(reply))),
      );
    },
    subscribe: () => () => undefined,
  };
  return { backend, asked, answer: (reply: Reply | Failure = { kind: 'done' }) => open.shift()?.(reply) };
}

const ids = (queue: Queue, session: string | null = null) => queue.order(session).map(({ need }) => need.id);

test('what waits in the shown session comes first, the rest oldest first', () => {
  const queue = new Queue(slow().backend);
  queue.put('a', [need('a1', 30), need('a2', 40)]);
  queue.put('b', [need('b1', 10)]);
  queue.put('c', [need('c1', 35)]);
  expect(ids(queue)).toEqual(['b1', 'a1', 'c1', 'a2']);
  expect(ids(queue, 'a')).toEqual(['a1', 'a2', 'b1', 'c1']);
  expect(queue.count).toBe(4);
  queue.put('a', [need('a2', 40)]);
  queue.put('b', []);
  expect(ids(queue)).toEqual(['c1', 'a2']);
});

test('a24_one_answer_at_a_time_by_the_digest_of_its_own_line', async () => {
  const { backend, asked, answer } = slow();
  const queue = new Queue(backend);
  queue.put('a', [need('a1', 1), need('a2', 2)]);
  const [first, second] = queue.order(null);
  if (!first || !second) throw new Error('two things wait');
  const yes = queue.approve(first);
  // While that is on its way nothing else is answered, neither this nor the next.
  expect(await queue.approve(first)).toBe(false);
  expect(await queue.approve(second)).toBe(false);
  expect(await queue.refuse(second)).toBe(false);
  answer();
  expect(await yes).toBe(true);
  const args = { session: 'a', approval: 'a1', digest: 'd-a1', offer: null, lasting: false };
  expect(asked).toEqual([{ name: 'approve', args }]);
  // It is gone at once, and answered once, also before that is told.
  expect(ids(queue)).toEqual(['a2']);
  expect(await queue.approve(first)).toBe(false);
  queue.put('a', [need('a2', 2)]);
  expect(ids(queue)).toEqual(['a2']);
});

test('a24_what_a_line_cannot_say_wholly_is_never_allowed_from_it', async () => {
  const { backend, asked, answer } = slow();
  const queue = new Queue(backend);
  const question: Need = { id: 'q', entry: 'q', since: 2, what: { kind: 'question', text: 'Which?' } };
  queue.put('a', [need('a1', 1, false), question]);
  const [partly, asks] = queue.order(null);
  if (!partly || !asks) throw new Error('two things wait');
  expect(await queue.approve(partly)).toBe(false);
  expect(await queue.approve(asks)).toBe(false);
  expect(await queue.refuse(asks)).toBe(false);
  expect(asked).toEqual([]);
  // A no needs no looking.
  const no = queue.refuse(partly);
  answer();
  expect(await no).toBe(true);
  expect(asked).toEqual([{ name: 'refuse', args: { session: 'a', approval: 'a1', why: null } }]);
});

test('an answer that is not taken stays in the list with the reason', async () => {
  const { backend, answer } = slow();
  const queue = new Queue(backend);
  queue.put('a', [need('a1', 1)]);
  const [one] = queue.order(null);
  if (!one) throw new Error('it waits');
  const yes = queue.approve(one);
  answer(new Failure({ code: 'approval/changed', message: 'changed', hint: null }));
  expect(await yes).toBe(false);
  expect([queue.problem?.code, queue.answering, ids(queue)]).toEqual(['approval/changed', null, ['a1']]);
  queue.hide();
  expect(queue.problem).toBeNull();
});
