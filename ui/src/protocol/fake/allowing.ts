// What was allowed for more than one call, as the stand-in keeps it: given with a request, listed, taken back, tried out.
import { Failure } from '../backend';
import type { Command } from '../generated/Command';
import type { GrantView } from '../generated/GrantView';
import type { ModeRule } from '../generated/ModeRule';
import type { Reply } from '../generated/Reply';
import type { SessionView } from '../generated/SessionView';
import type { WhatIf } from '../generated/WhatIf';
import type { World } from './fake';

type About = Extract<Command, { name: 'permissions' | 'revoke' | 'what_if' }>;

export function answerPermissions(world: World, command: About): Reply {
  switch (command.name) {
    case 'revoke': {
      const { grant } = command.args;
      if (!world.grants.some((one) => one.id === grant)) {
        throw new Failure({ code: 'grant/unknown', message: 'revoked already', hint: null });
      }
      world.grants = world.grants.filter((one) => one.id !== grant);
      return listed(world);
    }
    case 'permissions':
      return listed(world);
    case 'what_if':
      return { kind: 'what_if', value: whatIf(world, command.args.session, command.args.command.trim()) };
  }
}

/** Keeps what a yes named besides the one call. */
export function give(
  world: World,
  view: SessionView,
  { approval, offer, lasting }: Extract<Command, { name: 'approve' }>['args'],
  id: string,
): void {
  if (offer === null) return;
  const open = view.entries.find(
    ({ body }) => body.kind === 'approval' && body.approval.id === approval,
  )?.body;
  const what = open?.kind === 'approval' ? open.approval.offers[offer] : undefined;
  if (!what) throw new Failure({ code: 'approval/offer', message: 'that wasn’t offered', hint: null });
  const session = lasting
    ? { session: null, session_title: null }
    : { session: view.id, session_title: view.title };
  const grant: GrantView = { id, what, folder: view.folder, ...session, given: world.now(), used: null };
  world.grants = [grant, ...world.grants];
}

function listed(world: World): Reply {
  const { cage } = world.app;
  const added = [...world.views.values()].flatMap(({ id, title, folder, added }) =>
    added.map((one) => ({ added: one, session: id, session_title: title, folder, given: world.now() })),
  );
  return {
    kind: 'permissions',
    value: { grants: world.grants, added, cage, hosts: cage === 'full', rules: rules(cage) },
  };
}

/** The table of modes, as the policy has it. */
function rules(cage: string): ModeRule[] {
  const caged = cage !== 'none';
  const table: [string, string[]][] = [
    ['read', ['allow', 'allow', 'allow', 'allow']],
    ['write', ['ask', 'allow', 'deny', caged ? 'allow' : 'ask']],
    ['delete', ['ask', 'ask', 'deny', 'ask']],
    ['run', ['ask', 'ask', caged ? 'allow' : 'deny', caged ? 'allow' : 'ask']],
    ['network', ['ask', 'ask', 'deny', 'ask']],
    ['secret', ['ask', 'ask', 'ask', 'ask']],
    ['protected', ['ask', 'ask', 'deny', 'ask']],
  ];
  const modes = ['ask', 'edit', 'plan', 'auto'] as const;
  return modes.flatMap((mode, n) =>
    table.map(([act, verdicts]) => ({ mode, act, verdict: verdicts[n] ?? 'ask' })),
  );
}

function whatIf(world: World, session: string, command: string): WhatIf {
  const program = command.split(/\s+/)[0] ?? '';
  const mode = world.views.get(session)?.mode ?? 'ask';
  const doubts = /[$`*]/.test(command) ? ['expansion'] : [];
  const base = { read_only: false, doubts, programs: doubts.length > 0 ? [] : [program] };
  const granted = world.grants.find(
    ({ what }) => what.kind === 'command' && command.startsWith(what.words.join(' ')) && doubts.length === 0,
  );
  if (['ls', 'cat', 'grep'].includes(program))
    return { ...base, verdict: 'allow', rule: 'builtin/looks', read_only: true };
  if (granted) return { ...base, verdict: 'allow', rule: `grant/${granted.id}` };
  if (program === 'curl') {
    return mode === 'plan'
      ? { ...base, verdict: 'deny', rule: 'mode/plan' }
      : { ...base, verdict: 'ask', rule: 'builtin/network' };
  }
  return { ...base, verdict: mode === 'auto' ? 'allow' : 'ask', rule: `mode/${mode}` };
}
