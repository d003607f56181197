// From codes and facts to words: what a call did, why a turn ended, what an error means.
//
// Unknown codes get plain words too: an engine newer than this page must never leave a hole on the screen.
import type { ShownState } from '../state/calls';
import type { ApprovalState } from '../protocol/generated/ApprovalState';
import type { Halt } from '../protocol/generated/Halt';
import type { NotCovered } from '../protocol/generated/NotCovered';
import type { UndoneFile } from '../protocol/generated/UndoneFile';
import { Failure } from '../protocol/backend';
import { oneLine, visible } from '../shared/visible';
import type { Facts, Texts } from './en';
import { names } from './format';
import { between } from './spacing';
import { dollars, reachedWords } from './spend';

/** Families of tools that read alike. */
export type CallKind =
  'read' | 'list' | 'search' | 'change' | 'delete' | 'run' | 'watch' | 'stop' | 'ask' | 'plan' | 'other';

const KINDS: { [tool in string]?: CallKind } = {
  read_file: 'read',
  list_files: 'list',
  search_files: 'search',
  write_file: 'change',
  edit_file: 'change',
  delete_path: 'delete',
  run_command: 'run',
  job: 'watch',
  ask_user: 'ask',
  update_plan: 'plan',
};

export function callKind(tool: string, facts: Facts): CallKind {
  const kind = Object.hasOwn(KINDS, tool) ? (KINDS[tool] ?? 'other') : 'other';
  return kind === 'watch' && facts['action'] === 'cancel' ? 'stop' : kind;
}

/** What a call is about: a path, a pattern, a command. */
/** Is what such a call gives back content: text of a file, names, what a command printed? */
export function givesContent(kind: CallKind): boolean {
  return kind === 'read' || kind === 'list' || kind === 'search' || kind === 'run' || kind === 'other';
}

export function callObject(kind: CallKind, facts: Facts, t: Texts): string {
  switch (kind) {
    case 'run':
      return facts['command'] ?? '';
    case 'search':
      return facts['pattern'] ?? '';
    case 'list':
      return !facts['path'] || facts['path'] === '.' ? t.calls.folder : facts['path'];
    case 'watch':
    case 'stop':
    case 'ask':
    case 'plan':
      return '';
    case 'read':
    case 'change':
    case 'delete':
    case 'other':
      return facts['path'] ?? '';
  }
}

/** The verb for calls of one kind, in the tense their state asks for. */
export function callVerb(kind: CallKind, state: ShownState, n: number, tool: string, t: Texts): string {
  const named = kind === 'other' ? ` “${tool}”` : '';
  switch (state) {
    case 'proposed':
    case 'waiting':
      return t.calls.wants[kind] + named;
    case 'running':
      return t.calls.now[kind] + named;
    case 'cancelled':
      return t.calls.stopped[kind] + named;
    case 'not_run':
    case 'denied':
      return t.calls.never[kind] + named;
    case 'unknown':
      return t.calls.lost[kind] + named;
    case 'done':
    case 'failed':
      return kind === 'other' ? t.calls.other(tool) : t.calls[kind](n);
  }
}

/** A call in one line: what was done, to what. */
export function callWords(tool: string, facts: Facts, state: ShownState, t: Texts): string {
  const kind = callKind(tool, facts);
  const verb = callVerb(kind, state, 1, oneLine(tool, 64), t);
  const object = oneLine(callObject(kind, facts, t), 60);
  return object === '' ? verb : verb + between(t.lang, verb, object) + object;
}

/** What a call was about while it went on, as the subject of a question. */
export function aboutWords(tool: string, facts: Facts, t: Texts): string {
  const kind = callKind(tool, facts);
  const object = oneLine(callObject(kind, facts, t), 160);
  if (kind === 'run') return object ? t.unknown.quoted(object) : t.unknown.this;
  if (kind === 'other' && tool === '') return t.unknown.this;
  const doing = `${callVerb(kind, 'running', 1, oneLine(tool, 64), t)} ${object}`.trim();
  return doing.charAt(0).toLowerCase() + doing.slice(1);
}

/** What was decided about a request. */
export function decisionWords(state: ApprovalState, t: Texts): string {
  switch (state.kind) {
    case 'granted':
      return t.approval.granted;
    case 'refused':
      return t.approval.refused;
    case 'expired':
      return lapsedWords(state.why, t);
    case 'open':
      return t.approval.flag;
  }
}

/** Who kept a call from being done, and why; one that was stopped needs no words beside its line. */
export function haltWords(halt: Halt | null, t: Texts): string {
  const words = t.calls.halts;
  switch (halt?.kind) {
    case 'refused':
      return halt.why ? words.said(visible(halt.why, 2_000)) : words.refused;
    case 'mode':
      return words.mode(modeWords(halt.mode, t));
    case 'rule':
      return halt.rule === '' ? words.rule : words.named(visible(halt.rule, 200));
    case 'nobody':
    case 'expired':
      return words[halt.kind];
    case 'stopped':
      return halt.by === 'user' || halt.by === 'shutdown' ? words[halt.by] : words.turn;
    default:
      return words.other;
  }
}

/** What went wrong in a call, by the code of its error. */
export function faultWords(code: string | null, t: Texts): string {
  const words: { [code in string]?: string } = t.calls.faults;
  const word = code !== null && Object.hasOwn(words, code) ? words[code] : undefined;
  return word ?? t.calls.didntWork;
}

/** Why nobody is asked any more. */
export function lapsedWords(why: string, t: Texts): string {
  switch (why) {
    case 'time':
    case 'changed':
    case 'allowed':
    case 'user':
    case 'shutdown':
      return t.approval.lapsed[why];
    default:
      return t.approval.lapsed.turn;
  }
}

/** Why a request failed: an error class, and who was asked. */
export function errorWords(cls: string | undefined, who: string | undefined, t: Texts): string {
  if (cls === 'model/none') return t.composer.connectFirst;
  if (cls === 'provider/unknown') return t.errors.gone;
  const words = t.errors as { [name in string]?: unknown };
  const word = cls !== undefined && Object.hasOwn(words, cls) ? words[cls] : undefined;
  if (typeof word === 'function' && cls !== 'said') return String(word(who ?? t.errors.theModel));
  return cls?.includes('/') ? codeWords(cls, t, t.errors.other) : t.errors.other;
}

/** What can be done about a failed request; empty where its words say that already. `local`: it runs on this computer. */
export function todoWords(
  cls: string | undefined,
  who: string | undefined,
  local: boolean,
  t: Texts,
): string {
  const todo = t.errors.todo;
  switch (cls) {
    case 'network':
    case 'timeout':
      return local ? todo.start(who ?? t.errors.theModel) : todo.online;
    case 'rate_limited':
    case 'overloaded':
    case 'server':
      return todo.later;
    case 'provider/unknown':
    case 'not_found':
      return todo.model;
    case 'tls/untrusted':
      return todo.own;
    case 'tls/not_yet':
      return todo.clock;
    case 'tls/expired':
    case 'tls/name':
    case 'tls/authority':
      return todo.renew;
    case 'keychain/locked':
      return todo.unlock;
    case 'context_overflow':
      return todo.anew;
    case 'context/cannot_fit':
      return todo.fewer;
    default:
      return '';
  }
}

/** A message in the words of a server that answered, and in words for whoever looks into it. Either may be empty. */
export interface Message {
  said: string;
  detail: string;
}

/** Who said what of a failed request: the service (`said`) or Daybook (`message`), and with which status it answered. */
export function messageOf(facts: Facts, t: Texts): Message {
  if (classOf(facts) === 'model/none') return { said: '', detail: '' };
  const { said = '', message = '', status, address } = facts;
  const answer = status === undefined ? '' : t.errors.status(status, address);
  const detail = [answer, message].filter(Boolean).map((line) => visible(line, 600));
  return { said: visible(said, 600), detail: detail.join('\n') };
}

/** What kind of failure these facts are of. */
export function classOf(facts: Facts): string | undefined {
  const { certificate } = facts;
  return certificate === undefined ? (facts['class'] ?? facts['code']) : `tls/${certificate}`;
}

/** Why a turn ended, in one line. */
export function endWords(end: string, facts: Facts, t: Texts): string {
  switch (end) {
    case 'completed':
    case 'rejected':
    case 'nothing_to_do':
    case 'length':
    case 'refused':
    case 'interrupted':
      return t.ends[end];
    case 'cancelled':
      return facts['by'] === 'user'
        ? t.ends.user
        : facts['by'] === 'shutdown'
          ? t.ends.shutdown
          : t.ends.cancelled;
    case 'blocked':
      return t.ends.blocked(facts['why'] ?? '');
    case 'limit':
      return reachedWords(facts, t) ?? t.ends.limit(limitWords(facts, t));
    default:
      return t.ends.failed(errorWords(classOf(facts), facts['provider'], t));
  }
}

function limitWords(facts: Facts, t: Texts): string {
  const value = facts['value'] ?? '';
  switch (facts['limit']) {
    case 'steps':
    case 'attempts':
    case 'calls':
    case 'repeats':
    case 'checkpoints':
      return t.ends.limits[facts['limit']](value);
    default:
      return t.ends.limits.other(facts['limit'] ?? '');
  }
}

/** What a notice says. It stands on the record, so its words must stay true whatever happens later. */
export function noticeWords(code: string, facts: Facts, t: Texts): string {
  const n = t.notices;
  switch (code) {
    case 'attempt/failed':
      return n[code](errorWords(classOf(facts), facts['provider'], t));
    case 'document/loaded':
    case 'document/named':
      return n[code](facts['path'] ?? '');
    case 'folder/added':
    case 'folder/removed':
      return n[code](facts['name'] ?? '');
    case 'mode/changed':
      return n[code](modeWords(facts['mode'], t));
    case 'model/changed':
      return n[code](facts['model'] ?? '');
    case 'model/switched':
      return n[code](errorWords(classOf(facts), facts['provider'], t), facts['model'] ?? '');
    case 'turn/extended':
      return extendedWords(facts['why'], t);
    case 'record/erased':
      return n[code](Number(facts['events'] ?? 0));
    case 'spend/raised': {
      const words = n[code][facts['limit'] === 'day' ? 'day' : 'session'];
      return words(dollars(Number(facts['by'] ?? 0)));
    }
    case 'spend/uncounted':
      return n[code](oneLine(facts['model'] ?? '', 80));
    case 'attempt/interrupted':
    case 'history/restored':
    case 'recovery/adopted':
    case 'recovery/continued':
    case 'limit/steps':
    case 'repeat/noticed':
    case 'command/leftovers':
    case 'secret/withheld':
    case 'files/uncovered':
      return n[code];
    default:
      return n.other(code);
  }
}

/** Why the model was asked once more where its turn was about to end. */
function extendedWords(why: string | undefined, t: Texts): string {
  const words: { [why in string]?: string } = t.notices['turn/extended'];
  return words[why ?? ''] ?? t.notices['turn/extended'].other;
}

/** A kind of place that words stand in, with how many there are. */
export function placeWords(kind: string, count: number, t: Texts): string {
  const words: { [kind in string]?: (n: number) => string } = t.erase.places;
  return (words[kind] ?? t.erase.places.other)(count);
}

/** What isn't known about changes, in words. */
export function doubtWords(doubt: string, t: Texts): string {
  return doubt === 'untold' ? t.changes.doubts.untold : t.changes.doubts.mixed;
}

/** What else was changed, which undo doesn't cover. */
export function notCoveredWords({ paths, count }: NotCovered, t: Texts): string {
  const named = paths.slice(0, 5).map((path) => oneLine(path, 80));
  const some = t.list.some(named.join(t.list.comma), count - named.length, count);
  return t.changes.notCovered(count > named.length ? some : names(named, named.length, t));
}

/** Can what a request does be taken back? What isn't known to be can't. */
export function undoWords(undo: string, t: Texts): string {
  return t.approval.undos[undo === 'yes' || undo === 'partly' ? undo : 'no'];
}

/** What a session is called; one without a name was never spoken in. */
export function sessionWords(
  { title, tour = false }: { title: string; tour?: boolean },
  t: Texts,
  longest = 80,
): string {
  return oneLine(title, longest) || (tour ? t.sidebar.tour : t.sidebar.untitled);
}

/** What is wrong with a folder that was added to look at; empty where nothing is. */
export function addedNote(state: string, t: Texts): string {
  if (state === 'here') return '';
  return state === 'other' ? t.added.otherNote : t.added.goneNote;
}

/** A few words from outside of many, each on one line and cut: the first ones in full, the rest as a number. */
export function listed(all: readonly string[], longest: number, shown: number, t: Texts): string {
  return names(
    all.map((one) => oneLine(one, longest)),
    shown,
    t,
  );
}

/** Why a return leaves a file alone. */
export function keptWords(why: string, t: Texts): string {
  switch (why) {
    case 'changed':
    case 'not_empty':
    case 'blocked':
    case 'unreadable':
    case 'holds_key':
    case 'special':
    case 'not_kept':
    case 'name_erased':
    case 'own':
    case 'failed':
      return t.undo.why[why];
    default:
      return t.undo.why.other(why);
  }
}

/** What a return did to a file. */
export function undoneWords(what: string, t: Texts): string {
  switch (what) {
    case 'restored':
    case 'removed':
    case 'brought_back':
      return t.undo.what[what];
    default:
      return t.undo.what.other;
  }
}

/** That a file isn't one with other names any more; empty where it never was. */
export function partedWords({ path, parted }: UndoneFile, t: Texts): string {
  if (!parted) return '';
  const own = oneLine(path, 200);
  const others = parted.names.map((name) => oneLine(name, 200));
  if (others.length === 0) return t.undo.entry.partedElsewhere(own, parted.more);
  const all = others.length + parted.more;
  if (parted.more === 0) return t.undo.entry.parted(own, names(others, all, t));
  return t.undo.entry.parted(own, t.list.some(others.join(t.list.comma), parted.more, all));
}

/** What happened to a file besides its lines: new, gone, a link, only its permissions; empty for a plain edit. */
export function changeWords(change: string, kind: string, t: Texts): string {
  const of = kind === 'link' || kind === 'folder' ? kind : 'file';
  switch (change) {
    case 'created':
    case 'deleted':
    case 'mode':
      return t.changes.kinds[change][of];
    case 'edited':
      return of === 'link' ? t.changes.linkMoved : '';
    default:
      return '';
  }
}

/** A failure of which only the code is known; `other` where there are no words for it. */
export function codeWords(code: string, t: Texts, other = code): string {
  return failureWords(new Failure({ code, message: other, hint: null }), t);
}

export function modeWords(mode: string | undefined, t: Texts): string {
  switch (mode) {
    case 'ask':
    case 'edit':
    case 'plan':
    case 'auto':
      return t.composer.modes[mode];
    default:
      return mode ?? '';
  }
}

/** What a refused command says to the person: our words where the code is known, else the engine's. */
export function failureWords(failure: Failure, t: Texts): string {
  const words = t.failures as { [code in string]?: unknown };
  const word = Object.hasOwn(words, failure.code) ? words[failure.code] : undefined;
  if (typeof word === 'string' && failure.code !== 'title') return word;
  return t.failures.other(failure.message);
}
