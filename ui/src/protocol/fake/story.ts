// A short story the stand-in plays when something is said: a plan, reading, streaming, a request, its answer, an end.
import type { Command } from '../generated/Command';
import type { Entry } from '../generated/Entry';
import type { Intent } from '../generated/Intent';
import type { JobPhase } from '../generated/JobPhase';
import type { Patch } from '../generated/Patch';
import type { PlanStatus } from '../generated/PlanStatus';
import { answer, approval, call, calls, diff, end, entry, said, written } from './make';
import type { Script, Stage } from './fake';
import { inFull, summarised } from './history';
import type { Words } from './sample';

export function story(w: Words, now: () => number): Script {
  return async (stage, command) => {
    switch (command.name) {
      case 'send':
        return hear(stage, command.args, w, now);
      case 'interrupt':
        return stopped(stage, now);
      case 'approve':
        return decided(stage, command.args.approval, null, w, now);
      case 'refuse':
        return decided(stage, command.args.approval, { why: command.args.why }, w, now);
      case 'answer':
        return answered(stage, command.args.question, command.args.text, now);
      case 'resolve':
        return resolved(stage, command, now);
      case 'stop_job':
        return endJob(stage, command.args.job, { kind: 'cancelled', by: 'user', ms: 272_000 });
      case 'settle_job':
        return endJob(stage, command.args.job, { kind: 'interrupted', ms: 9_000 });
      case 'remove_message':
        takeOut(stage, command.args.message);
        return undefined;
      case 'send_waiting': {
        const text = takeOut(stage, command.args.message);
        return text === undefined ? undefined : hear(stage, { text, intent: 'steer' }, w, now);
      }
      case 'set_mode':
        return put(stage, { ...meta(stage), mode: command.args.mode });
      case 'set_model':
        return put(stage, { ...meta(stage), model: command.args.model });
      case 'set_effort':
        return put(stage, { ...meta(stage), effort: command.args.effort });
      case 'summarise':
        return summarised(stage, now());
      case 'use_full_history':
        return inFull(stage, now());
      default:
        return undefined;
    }
  };
}

function put(stage: Stage, ...patches: Patch[]): void {
  stage.push(...patches);
}

function meta(stage: Stage): Extract<Patch, { kind: 'meta' }> {
  const { title, mode, model, effort, changed_files, tokens, spent } = stage.view;
  return { kind: 'meta', title, mode, model, effort, changed_files, tokens, spent };
}

function add(stage: Stage, item: Entry): void {
  stage.push({ kind: 'entry', entry: item });
}

function key(stage: Stage, name: string): string {
  return `${stage.view.seq}-${name}`;
}

/** Takes a message out of those that wait; its words, where it waited. */
function takeOut(stage: Stage, id: string): string | undefined {
  const { waiting } = stage.view;
  const text = waiting.find((message) => message.id === id)?.text;
  put(stage, { kind: 'waiting', waiting: waiting.filter((message) => message.id !== id) });
  return text;
}

async function hear(
  stage: Stage,
  sent: { text: string; intent: Intent },
  w: Words,
  now: () => number,
): Promise<void> {
  const { text, intent } = sent;
  if (stage.view.activity.kind !== 'idle') {
    const message = { id: `msg_${stage.view.seq}`, text, intent, held: false, time: now() };
    put(stage, { kind: 'waiting', waiting: [...stage.view.waiting, message] });
    return;
  }
  const turn = key(stage, 'turn');
  if (!stage.files.has('styles.css'))
    stage.files.put('styles.css', '.order-form {\n  grid-template-columns: 1fr 1fr;\n}\n');
  stage.files.begin(turn, text, now());
  stage.push(
    { kind: 'entry', entry: said(key(stage, 'said'), now(), text) },
    { kind: 'activity', activity: { kind: 'working', since: now() } },
    { ...meta(stage), title: stage.view.title || text.slice(0, 60) },
  );
  await stream(stage, w.look, now);
  plan(stage, w, 0);
  await read(stage, now);
  plan(stage, w, 2);
  await stream(stage, w.helper, now);
  const request = approval(`apr_${stage.view.seq}`, {
    tool: 'edit_file',
    act: 'edit',
    facts: { path: 'styles.css' },
    can_touch: ['styles.css'],
    risk: 1,
    undo: 'yes',
    model_says: w.why,
    ...written(
      diff(
        'styles.css',
        12,
        ' .order-form {\n-  grid-template-columns: ⟦1fr 1fr⟧;\n+  grid-template-columns: ⟦1fr⟧;\n }',
      ),
    ),
  });
  stage.push(
    { kind: 'entry', entry: entry(key(stage, 'apr'), now(), { kind: 'approval', approval: request }) },
    { kind: 'activity', activity: { kind: 'needs_you', count: 1 } },
  );
}

async function stream(stage: Stage, text: string, now: () => number): Promise<void> {
  const id = key(stage, 'answer');
  add(stage, answer(id, now(), '', true));
  for (const piece of text.match(/[\s\S]{1,6}/g) ?? []) {
    await stage.pause(40);
    stage.push({ kind: 'text', key: id, text: piece });
  }
  add(stage, answer(id, now(), text));
}

async function read(stage: Stage, now: () => number): Promise<void> {
  const id = key(stage, 'calls');
  const paths = ['order.html', 'styles.css', 'menu.json'];
  const list = (state: 'running' | 'done') =>
    paths.map((path) =>
      call(`${id}-${path}`, 'read_file', { path }, { state, ms: state === 'done' ? 300 : null }),
    );
  add(stage, calls(id, now(), ...list('running')));
  await stage.pause(900);
  add(stage, calls(id, now(), ...list('done')));
}

function plan(stage: Stage, w: Words, at: number): void {
  const status = (n: number): PlanStatus => (n < at ? 'completed' : n === at ? 'in_progress' : 'pending');
  const items = w.plan.map((text, n) => ({ text, status: status(n) }));
  put(stage, { kind: 'plan', plan: { version: at + 1, items } });
}

async function decided(
  stage: Stage,
  id: string,
  refused: { why: string | null } | null,
  w: Words,
  now: () => number,
): Promise<void> {
  const shown = stage.view.entries.find(({ body }) => body.kind === 'approval' && body.approval.id === id);
  if (shown?.body.kind !== 'approval') return;
  const state = refused ? { kind: 'refused' as const, why: refused.why } : { kind: 'granted' as const };
  const open = stage.view.entries.filter(
    ({ body }) => body.kind === 'approval' && body.approval.state.kind === 'open' && body.approval.id !== id,
  ).length;
  stage.push(
    {
      kind: 'entry',
      entry: { ...shown, body: { kind: 'approval', approval: { ...shown.body.approval, state } } },
    },
    {
      kind: 'activity',
      activity: open > 0 ? { kind: 'needs_you', count: open } : { kind: 'working', since: now() },
    },
  );
  if (open > 0) return;
  if (!refused) {
    const id = key(stage, 'w');
    stage.files.change('styles.css', '.order-form {\n  grid-template-columns: 1fr;\n}\n', id);
    const change = call(id, 'edit_file', { path: 'styles.css' }, { added: 1, removed: 1 });
    add(stage, calls(key(stage, 'calls'), now(), change));
    put(stage, { ...meta(stage), changed_files: stage.files.changes().files.length });
  }
  await stream(stage, refused ? w.refused : w.goOn, now);
  finish(stage, 'completed', {}, now);
}

function finish(stage: Stage, reason: string, facts: Record<string, string>, now: () => number): void {
  stage.push(
    { kind: 'entry', entry: end(stage.files.turn ?? key(stage, 'end'), now(), reason, facts, 42_000) },
    { kind: 'activity', activity: { kind: 'idle' } },
  );
}

function endJob(stage: Stage, id: string, phase: JobPhase): void {
  const job = stage.view.jobs.find((one) => one.id === id);
  if (job) put(stage, { kind: 'job', job: { ...job, phase } });
}

async function stopped(stage: Stage, now: () => number): Promise<void> {
  if (stage.view.activity.kind === 'idle') return;
  put(stage, { kind: 'activity', activity: { kind: 'stopping' } });
  await stage.pause(600);
  const waiting = stage.view.waiting.map((message) => ({ ...message, held: true }));
  put(stage, { kind: 'waiting', waiting });
  finish(stage, 'cancelled', { by: 'user' }, now);
}

function answered(stage: Stage, id: string, text: string, now: () => number): void {
  const shown = stage.view.entries.find(({ body }) => body.kind === 'question' && body.question.id === id);
  if (shown?.body.kind !== 'question') return;
  const question = { ...shown.body.question, answer: text };
  add(stage, { ...shown, body: { kind: 'question', question } });
  finish(stage, 'completed', {}, now);
}

function resolved(stage: Stage, command: Extract<Command, { name: 'resolve' }>, now: () => number): void {
  const { call: id, resolution } = command.args;
  const shown = stage.view.entries.find(({ body }) => body.kind === 'unknown' && body.call.id === id);
  if (shown?.body.kind !== 'unknown') return;
  add(stage, { ...shown, body: { ...shown.body, resolution } });
  finish(stage, 'completed', {}, now);
}
