// What was allowed for more than one call, as the stand-in keeps it: given with a request, listed, taken back, tried out.
import { Failure } from '../backend';
import type { Command } from '../generated/Command';
import type { GrantView } from '../generated/GrantView';
import type { ModeRule } from '../generated/ModeRule';
import type { OwnRule } from '../generated/OwnRule';
import type { Reply } from '../generated/Reply';
import type { SessionView } from '../generated/SessionView';
import type { Tried } from '../generated/Tried';
import type { WhatIf } from '../generated/WhatIf';
import type { World } from './fake';

type About = Extract<
  Command,
  { name: 'permissions' | 'revoke' | 'set_rule' | 'reset_rules' | 'reset_permissions' | 'what_if' }
>;

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
    case 'set_rule':
      setRule(world, command.args);
      return listed(world);
    case 'reset_rules':
      if (!world.ownUnreadable) {
        throw new Failure({ code: 'rule/readable', message: 'the kept rules can be read', hint: null });
      }
      world.ownUnreadable = false;
      world.own = [];
      return listed(world);
    case 'reset_permissions':
      if (!world.grantsUnreadable) {
        throw new Failure({
          code: 'grant/readable',
          message: 'the kept permissions can be read',
          hint: null,
        });
      }
      world.grantsUnreadable = false;
      return listed(world);
    case 'what_if':
      return { kind: 'what_if', value: whatIf(world, command.args.session, command.args.what) };
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
  const grant: GrantView = {
    id,
    what,
    folder: view.folder,
    ...session,
    given: world.now(),
    used: null,
    used_known: true,
  };
  world.grants = [grant, ...world.grants];
}

function listed(world: World): Reply {
  const { cage } = world.app;
  const unreadable = world.ownUnreadable;
  const added = [...world.views.values()].flatMap(({ id, title, folder, added }) =>
    added.map((one) => ({ added: one, session: id, session_title: title, folder, given: world.now() })),
  );
  return {
    kind: 'permissions',
    value: {
      grants: world.grants,
      grants_unreadable: world.grantsUnreadable,
      added,
      own: unreadable ? [] : world.own,
      own_unreadable: unreadable,
      cage,
      hosts: cage === 'full',
      rules: unreadable ? [] : rules(world),
    },
  };
}

/** The table of modes, as the policy has it. */
function rules({ app, own }: World): ModeRule[] {
  const caged = app.cage !== 'none';
  const table: [string, string[]][] = [
    ['read', ['allow', 'allow', 'allow', 'allow']],
    ['write', ['ask', 'allow', 'deny', caged ? 'allow' : 'ask']],
    ['delete', ['ask', 'ask', 'deny', 'ask']],
    ['run', ['ask', 'ask', caged ? 'allow' : 'deny', caged ? 'allow' : 'ask']],
    ['network', ['ask', 'ask', 'deny', 'ask']],
    ['publish', ['ask', 'ask', 'deny', 'ask']],
    ['secret', ['ask', 'ask', 'ask', 'ask']],
    ['protected', ['ask', 'ask', 'deny', 'ask']],
  ];
  const modes = ['ask', 'edit', 'plan', 'auto'] as const;
  return modes.flatMap((mode, n) =>
    table.map(([act, verdicts]) => narrowed(mode, act, verdicts[n] ?? 'ask', own)),
  );
}

const RULED: { [act in string]?: string } = {
  write: 'change',
  network: 'online',
  secret: 'secrets',
};

/** With the rule for every folder, where it is stricter. */
function narrowed(mode: ModeRule['mode'], act: string, verdict: string, own: readonly OwnRule[]): ModeRule {
  const kind = RULED[act] ?? act;
  const rule = own.find((one) => one.folder === null && one.about.kind === kind);
  if (rule?.word === 'never') return { mode, act, verdict: 'deny', rule: `user/${kind}` };
  if (rule?.word === 'ask' && verdict !== 'deny') return { mode, act, verdict: 'ask', rule: `user/${kind}` };
  return { mode, act, verdict, rule: `mode/${mode}` };
}

function setRule(
  world: World,
  { about, folder, word }: Extract<Command, { name: 'set_rule' }>['args'],
): void {
  if (world.ownUnreadable) {
    throw new Failure({ code: 'rule/unreadable', message: 'the kept rules can’t be read', hint: null });
  }
  if (about.kind === 'path' && /^[/.~]/.test(about.under)) {
    throw new Failure({ code: 'rule/unfit', message: 'it leads out of the folder', hint: null });
  }
  const same = (one: OwnRule) =>
    JSON.stringify(one.about) === JSON.stringify(about) && (one.folder?.id ?? null) === folder;
  const rest = world.own.filter((one) => !same(one));
  const where = world.folders.find((one) => one.id === folder) ?? null;
  world.own = word === null ? rest : [{ about, folder: where, word, given: world.now() }, ...rest];
}

function whatIf(world: World, session: string, tried: Tried): WhatIf {
  const view = world.views.get(session);
  const mode = view?.mode ?? 'ask';
  const here = ({ folder }: OwnRule) => folder === null || folder.id === view?.folder.id;
  const none = { read_only: false, doubts: [], programs: [], reach: [], kept_out: [], own: null };
  if (tried.kind !== 'run') {
    const own = world.own.find(
      (one) =>
        here(one) &&
        (one.about.kind === tried.kind ||
          (one.about.kind === 'path' && tried.path.startsWith(one.about.under))),
    );
    const base = { ...none, touches: [tried.path] };
    if (own) {
      return { ...base, verdict: own.word === 'never' ? 'deny' : 'ask', rule: `user/${own.about.kind}`, own };
    }
    const free = tried.kind === 'read' || (tried.kind === 'change' && mode !== 'ask');
    return { ...base, verdict: free ? 'allow' : 'ask', rule: free ? 'builtin/read' : `mode/${mode}` };
  }
  const command = tried.command.trim();
  const program = command.split(/\s+/)[0] ?? '';
  const doubts = /[$`*]/.test(command) ? ['expansion'] : [];
  const reach = [...command.matchAll(/https:\/\/([\w.-]+)/g)].map(([, host]) => `${host ?? ''}:443`);
  const kept = world.own.flatMap(({ about }) => (about.kind === 'path' ? [about.under] : []));
  const base = {
    ...none,
    doubts,
    programs: doubts.length > 0 ? [] : [program],
    reach,
    touches: ['.'],
    kept_out: kept,
  };
  const own = world.own.find(
    (one) => here(one) && one.about.kind === 'command' && command.includes(one.about.words),
  );
  if (own) {
    return { ...base, verdict: own.word === 'never' ? 'deny' : 'ask', rule: 'user/command', own };
  }
  const granted = world.grants.find(
    ({ what }) => what.kind === 'command' && command.startsWith(what.words.join(' ')) && doubts.length === 0,
  );
  if (['ls', 'cat', 'grep'].includes(program))
    return { ...base, verdict: 'allow', rule: 'builtin/looks', read_only: true, touches: [] };
  if (granted) return { ...base, verdict: 'allow', rule: `grant/${granted.id}` };
  if (program === 'curl') {
    return mode === 'plan'
      ? { ...base, verdict: 'deny', rule: 'mode/plan' }
      : { ...base, verdict: 'ask', rule: 'builtin/network' };
  }
  return { ...base, verdict: mode === 'auto' ? 'allow' : 'ask', rule: `mode/${mode}` };
}
