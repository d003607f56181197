// A made record: as many events as are wanted, each computed from its number, so that a hundred thousand cost nothing.
//
// The stand-in answers from it what the engine answers from the log: letters, lines, single events, moments, requests.
import { Failure } from '../backend';
import type { Command } from '../generated/Command';
import type { Moment } from '../generated/Moment';
import type { RecordLine } from '../generated/RecordLine';
import type { Reply } from '../generated/Reply';
import type { Saw } from '../generated/Saw';
import type { SawPart } from '../generated/SawPart';
import type { SessionView } from '../generated/SessionView';
import type { Verification } from '../generated/Verification';

type About = Extract<
  Command,
  {
    name:
      | 'record_outline'
      | 'record_lines'
      | 'record_event'
      | 'moment'
      | 'saw'
      | 'saw_body'
      | 'verify'
      | 'verification'
      | 'stop_verify';
  }
>;

interface Made {
  kind: string;
  letter: string;
  depth: number;
  facts: { [name in string]: string };
  /** Milliseconds after the event before. */
  after: number;
}

/** What a record is made of. */
export interface RecordShape {
  events: number;
  began: number;
  /** What is found when it is verified. */
  verification: Verification;
}

const read = (path: string) => ({ tool: 'read_file', path });
const made = (kind: string, letter: string, depth: number, facts: Made['facts'] = {}, after = 40): Made => ({
  kind,
  letter,
  depth,
  facts,
  after,
});

const request = (step: string, tokens: string): Made[] => [
  made('step/start', 'p', 0, { n: step, model: 'claude-sonnet' }),
  made('request/prepared', 's', 1, { tokens, bytes: '120400' }),
  made('attempt/start', 's', 1, { n: '1' }),
];
const answered = (text: string, calls: string): Made[] => [
  made('assistant/delta', 'd', 2, {}, 900),
  made('assistant/accepted', 'a', 1, { text, calls }, 2_100),
  made('attempt/end', 's', 1, { end: 'accepted', tokens: '12904' }),
];
const call = (facts: Made['facts'], ends: Made['facts'], letter = 'c'): Made[] => [
  made('tool/call', 'c', 1, facts),
  made('tool/decision', 'c', 2, { ...facts, verdict: 'allow', rule: 'builtin/read' }),
  made('tool/start', 'c', 2, facts),
  made('tool/result', letter, 2, { ...facts, ...ends }, 1_800),
];

/** One turn, again and again. */
const TURN: readonly Made[] = [
  made(
    'inbox/posted',
    'm',
    0,
    { text: 'Make the order form work on phones', origin: 'user', target: 'step' },
    9_000,
  ),
  made('turn/start', 'n', 0, { source: 'message' }),
  made('user/message', 'm', 0, { text: 'Make the order form work on phones' }),
  ...request('1', '12904'),
  ...answered('I’ll look at the form first.', '2'),
  ...call(read('order.html'), { ms: '120' }),
  ...call({ tool: 'search_files', pattern: 'order-form' }, { ms: '340' }),
  made('step/end', 's', 0, { end: 'tools' }),
  ...request('2', '18220'),
  made('attempt/end', 'S', 1, { end: 'failed', class: 'overloaded' }, 3_000),
  made('attempt/start', 's', 1, { n: '2' }, 8_000),
  ...answered('Now the layout.', '2'),
  made('plan/replaced', 'c', 2, { items: '6' }),
  ...call(
    { tool: 'edit_file', path: 'order.html' },
    { ms: '40', changed: '1', added: '18', removed: '9' },
    'f',
  ),
  made('tool/call', 'c', 1, { tool: 'run_command', command: 'npm test' }),
  made('approval/requested', 'y', 0, { tool: 'run_command', command: 'npm test' }),
  made('approval/granted', 'y', 0, {}, 20_000),
  made('tool/start', 'c', 2, { tool: 'run_command', command: 'npm test' }),
  made('tool/output', 'd', 2, { text: 'ok' }, 2_000),
  made(
    'tool/result',
    'C',
    2,
    { tool: 'run_command', command: 'npm test', exit_code: '1', ms: '8200' },
    8_200,
  ),
  made('step/end', 's', 0, { end: 'tools' }),
  ...request('3', '31480'),
  ...answered('The form stacks on phones now.', '0'),
  made('step/end', 's', 0, { end: 'answer' }),
  made('turn/end', 't', 0, { end: 'completed' }),
  made('recovery/adopted', 'r', 0, {}, 60_000),
  made('future/thing', 'o', 0, {}),
];
const BEGIN = made('session/created', 'o', 0, { model: 'claude-sonnet' });
const SPAN = TURN.reduce((sum, one) => sum + one.after, 0);

function madeAt(seq: number): Made {
  return (seq === 0 ? BEGIN : TURN[(seq - 1) % TURN.length]) ?? BEGIN;
}

function timeAt(seq: number, began: number): number {
  if (seq === 0) return began;
  const [turn, at] = [Math.floor((seq - 1) / TURN.length), (seq - 1) % TURN.length];
  return began + turn * SPAN + TURN.slice(0, at + 1).reduce((sum, one) => sum + one.after, 0);
}

export function lineAt(seq: number, began: number): RecordLine {
  const { kind, letter, depth, facts } = madeAt(seq);
  return { seq, time: timeAt(seq, began), kind, letter, depth, facts, erased: false };
}

export function lettersOf(from: number, to: number): string {
  let letters = '';
  for (let seq = from; seq < to; seq += 1) letters += madeAt(seq).letter;
  return letters;
}

/** What was found of a whole record. */
export function holding(events: number): Verification {
  const requests = Math.max(Math.floor(events / TURN.length) * 3, events > 4 ? 1 : 0);
  return {
    ...{ state: 'done', events, requests, of: requests, erased: 0, ago: 0, findings: 0, first: null },
  };
}

/** What is found of a record in which somebody changed an event. */
export function damagedAt(seq: number): Verification {
  const detail = 'I1: its content doesn’t match its hash';
  return { ...holding(214), events: seq, findings: 1, first: { seq, what: 'changed', detail } };
}

export function answerRecord(view: SessionView, shape: RecordShape, command: About): Reply {
  const { events, began } = shape;
  const within = (seq: number) => {
    if (seq >= events) throw new Failure({ code: 'record/none', message: `no event ${seq}`, hint: null });
  };
  switch (command.name) {
    case 'record_outline': {
      const { from } = command.args;
      const ended = events === 0 ? null : timeAt(events - 1, began);
      const value = { from, letters: lettersOf(from, events), began: events === 0 ? null : began, ended };
      return { kind: 'record_outline', value: { ...value, broken: null } };
    }
    case 'record_lines': {
      const { from, count } = command.args;
      const n = Math.max(Math.min(count, events - from), 0);
      return {
        kind: 'record_lines',
        value: Array.from({ length: n }, (_, at) => lineAt(from + at, began)),
      };
    }
    case 'record_event': {
      const { seq } = command.args;
      within(seq);
      const { kind, facts, time } = lineAt(seq, began);
      const turn = seq === 0 ? null : `trn_${Math.floor((seq - 1) / TURN.length)}`;
      const payload = JSON.stringify(facts);
      const chain = { hash: 'ab'.repeat(32), before: 'cd'.repeat(32), sources: [] };
      const about = { version: 1, epoch: 1, step: null, ignorable: false, erased: false };
      return {
        kind: 'record_event',
        value: { seq, kind, time, turn, ...about, ...chain, payload, bytes: payload.length },
      };
    }
    case 'moment':
      within(command.args.seq);
      return { kind: 'moment', value: momentAt(view, command.args.seq, began) };
    case 'saw':
      within(command.args.seq);
      return { kind: 'saw', value: sawAt(command.args.seq, began) };
    case 'saw_body': {
      const text = `{"model":"claude-sonnet","messages":[{"role":"user","content":"Make the order form work on phones"}]}`;
      return { kind: 'saw_body', value: { from: 0, text, next: null } };
    }
    case 'verify':
      shape.verification = { ...shape.verification, state: 'done', ago: 0 };
      return { kind: 'verification', value: shape.verification };
    case 'stop_verify':
    case 'verification':
      return { kind: 'verification', value: shape.verification };
  }
}

function momentAt(view: SessionView, seq: number, began: number): Moment {
  const turns = seq === 0 ? 0 : Math.floor((seq - 2 + TURN.length) / TURN.length);
  const at = seq === 0 ? 0 : (seq - 1) % TURN.length;
  const open = seq > 0 && at >= 1 && at < TURN.length - 3;
  const steps = TURN.slice(0, at + 1).filter(({ kind }) => kind === 'step/start').length;
  const shown = open && seq > 0 ? TURN.slice(0, at + 1) : [];
  const since = shown.map(({ kind }) => kind).lastIndexOf('step/start');
  const calls = shown.slice(since + 1).filter(({ kind }) => kind === 'tool/call');
  const asks = madeAt(seq).kind === 'approval/requested';
  return {
    ...{ seq, time: timeAt(seq, began), turns, turn: open ? `trn_${turns}` : null, step: open ? steps : 0 },
    ...{ mode: view.mode, model: view.model, plan: view.plan, questions: [], unknown: [], waiting: [] },
    calls: calls.map(({ facts }, n) => {
      const last = n === calls.length - 1;
      return { tool: facts['tool'] ?? '', facts, state: last ? (asks ? 'asks' : 'running') : 'done' };
    }),
    tokens: seq * 900,
  };
}

function sawAt(seq: number, began: number): Saw {
  const at = seq === 0 ? -1 : (seq - 1) % TURN.length;
  const before = TURN.slice(0, Math.max(at + 1, 0));
  const request = before.map(({ kind }) => kind).lastIndexOf('request/prepared');
  const inStep = before.map(({ kind }) => kind).lastIndexOf('step/start') < request;
  if (seq === 0 || request < 0 || !inStep) {
    throw new Failure({ code: 'record/no_request', message: 'no request', hint: null });
  }
  const first = seq < TURN.length && request < 8;
  const part = (what: string, source: string, tokens: number, same: boolean, facts = {}): SawPart => ({
    ...{ what, source, tokens, same, facts },
  });
  const parts = [
    part('instructions', 'host', 4_210, !first),
    part('tools', 'host', 6_380, !first),
    ...(first ? [] : [part('before', 'both', 16_190, true)]),
    part('note', 'host', 120, false, { topic: 'environment' }),
    part('result', 'folder', 2_740, false, { tool: 'read_file', path: 'order.html', ok: 'true' }),
    part('result', 'command', 840, false, { tool: 'run_command', command: 'npm test', ok: 'true' }),
    part('said', 'user', 24, false),
  ];
  return {
    seq: seq - (at - request),
    time: timeAt(seq, began),
    step: before.filter(({ kind }) => kind === 'step/start').length,
    attempts: 2,
    model: { provider: 'anthropic', model: 'claude-sonnet' },
    dialect: 'anthropic-messages',
    parts,
    more: 0,
    opened: first ? 'first' : null,
    bytes: 120_400,
    digest: '5f'.repeat(32),
    rebuilt: 'exactly',
    counted: { input: 31_912, cached: 27_400, output: 640 },
  };
}
