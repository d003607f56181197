// From recorded events to words: one line for each, from its type and facts.
//
// A type that isn't known here gets a line too: the record is whole, also where this page is older than it.
import type { RecordLine } from '../protocol/generated/RecordLine';
import type { SawPart } from '../protocol/generated/SawPart';
import type { ShownState } from '../state/calls';
import { oneLine } from '../shared/visible';
import type { Facts, Texts } from './en';
import { count, took } from './format';
import { callWords, decisionWords, endWords, errorWords, modeWords, noticeWords, classOf } from './words';

/** What a line says, and what stands at its end. */
export interface LineWords {
  text: string;
  end: string;
}

/** A line in words. `turn` is the number of its turn. */
export function lineWords(line: RecordLine, turn: number, t: Texts): LineWords {
  const facts: Facts = line.facts;
  const gone = line.erased && Object.keys(facts).length === 0;
  const text = gone ? t.record.lines.gone : textOf(line.kind, facts, String(turn), t);
  return { text: oneLine(text, 200), end: line.erased ? t.record.erased : endOf(line.kind, facts, turn, t) };
}

function textOf(kind: string, facts: Facts, turn: string, t: Texts): string {
  const l = t.record.lines;
  const call = (state: ShownState) =>
    facts['tool'] === undefined ? l.aCall : callWords(facts['tool'], facts, state, t);
  const said = (name: string) => oneLine(facts[name] ?? '', 120);
  const plain = Object.hasOwn(PLAIN, kind) ? PLAIN[kind] : undefined;
  if (plain) return l[plain];
  switch (kind) {
    case 'session/renamed':
      return l.renamed(said('title'));
    case 'session/mode':
      return l.mode(modeWords(facts['mode'], t));
    case 'session/model':
      return l.model(said('model'));
    case 'folder/added':
      return l.folderAdded(said('name'));
    case 'inbox/posted':
      return facts['origin'] === 'host' ? l.postedHost : l.posted(said('text'));
    case 'turn/start':
      if (facts['source'] === 'summary') return l.turnSummary(turn);
      return facts['source'] === 'recovery' ? l.turnRecovery(turn) : l.turnStart(turn);
    case 'turn/cancel':
      return facts['by'] === 'shutdown' ? l.cancelShutdown : l.cancelUser;
    case 'turn/end':
      return l.turnEnd(turn, endWords(facts['end'] ?? '', facts, t));
    case 'turn/extended':
      return l.turnExtended(turn);
    case 'step/start':
      return l.step(facts['n'] ?? '');
    case 'step/end':
      return oneOf(l.stepEnds, facts['end']) ?? l.stepEnds.answer;
    case 'user/message':
      return l.said(said('text'));
    case 'document/loaded':
      return l.document(said('path'));
    case 'request/prepared':
      return facts['opened'] === undefined ? l.prepared : l.preparedAnew;
    case 'history/shortened':
      return l.shortened(facts['results'] ?? '');
    case 'checkpoint/committed':
      return l.checkpoint(facts['steps'] ?? '');
    case 'attempt/start':
      return l.attempt(facts['n'] ?? '');
    case 'attempt/end':
      return oneOf(l.attempts, facts['end']) ?? l.attempts.failed;
    case 'assistant/accepted':
      return facts['text'] === undefined ? l.answerCalls(facts['calls'] ?? '') : l.answer(said('text'));
    case 'tool/call':
      return call('proposed');
    case 'tool/start':
      return call('running');
    case 'tool/result':
      return facts['error'] === undefined ? call('done') : l.failedLine(call('done'));
    case 'tool/denied':
      return call('denied');
    case 'tool/cancelled':
      return call('cancelled');
    case 'tool/outcome_unknown':
      return call('unknown');
    case 'tool/decision':
      return facts['verdict'] === 'deny' ? l.deny : facts['verdict'] === 'ask' ? l.toAsk : l.allowed;
    case 'approval/requested':
      return facts['tool'] === undefined ? l.asksPlain : l.asks(call('proposed'));
    case 'approval/refused':
      return facts['nobody'] === 'true' ? l.nobody : l.refused;
    case 'approval/expired':
      return facts['why'] === undefined
        ? l.lapsed
        : decisionWords({ kind: 'expired', why: facts['why'] }, t) || l.lapsed;
    case 'job/created':
      return t.jobs.lines.created(said('command'));
    case 'job/started':
      return t.jobs.lines.started;
    case 'job/output':
      return t.jobs.lines.output;
    case 'job/cancel':
      return t.jobs.lines.cancel;
    case 'job/reconciling':
      return t.jobs.reconciling;
    case 'job/ended':
      return oneOf(t.jobs.lines.ends, facts['end']) ?? t.jobs.lines.ends.failed;
    case 'call/resolved':
      return oneOf(l.resolved, facts['resolution']) ?? l.resolved.skip;
    case 'question/asked':
      return l.question(said('text'));
    case 'plan/replaced':
      return l.plan(facts['items'] ?? '0');
    case 'revision/restored':
      return l.restored(facts['changed'] ?? '0');
    case 'record/erased':
      return l.erased(facts['events'] ?? '0');
    case 'credential/used':
      return l.credential(said('provider'));
    case 'spend/raised':
    case 'spend/uncounted':
      return noticeWords(kind, facts, t);
    case 'notice/raised':
      return noticeWords(facts['code'] ?? '', facts, t);
    default:
      return l.other(oneLine(kind, 80));
  }
}

type PlainWord = {
  [name in keyof Texts['record']['lines']]: Texts['record']['lines'][name] extends string ? name : never;
}[keyof Texts['record']['lines']];

/** Types whose line needs no fact. */
const PLAIN: { [kind in string]?: PlainWord } = {
  'session/created': 'created',
  'session/effort': 'effort',
  'folder/identified': 'folderIdentified',
  'folder/removed': 'folderRemoved',
  'inbox/reserved': 'reserved',
  'inbox/released': 'released',
  'inbox/cancelled': 'taken',
  'context/note': 'note',
  'assistant/delta': 'delta',
  'tool/output': 'output',
  'secret/printed': 'secret',
  'approval/granted': 'granted',
  'question/answered': 'answered',
  'revision/restoring': 'restoring',
  'revision/called_off': 'calledOff',
  'revision/thinned': 'thinned',
  'grant/given': 'given',
  'grant/revoked': 'revoked',
  'recovery/adopted': 'adopted',
  'recovery/continuation': 'continuation',
  'late/ignored': 'late',
  'history/asked': 'historyAsked',
  'context/overflowed': 'overflowed',
  'summary/prepared': 'summaryPrepared',
  'history/restored': 'inFull',
};

function endOf(kind: string, facts: Facts, turn: number, t: Texts): string {
  switch (kind) {
    case 'user/message':
      return turn > 0 ? t.record.turn(String(turn)) : '';
    case 'request/prepared':
    case 'summary/prepared':
    case 'attempt/end':
      if (facts['end'] === 'failed') return errorWords(classOf(facts), undefined, t).replace(/[.。]$/, '');
      return facts['tokens'] === undefined ? '' : t.record.tokens(count(Number(facts['tokens']), t));
    case 'tool/result':
    case 'job/ended':
      // Lines are counted of text alone.
      if (facts['added'] !== undefined) return `+${facts['added']} −${facts['removed'] ?? '0'}`;
      if (facts['changed'] !== undefined) return t.changes.files(Number(facts['changed']));
      if (facts['exit_code'] !== undefined && facts['exit_code'] !== '0')
        return t.record.exit(facts['exit_code']);
      return took(Number(facts['ms'] ?? 0), t);
    default:
      return '';
  }
}

/** A part of a request in words. */
export function partWords(part: SawPart, t: Texts): string {
  const words = t.record.saw.parts;
  const facts: Facts = part.facts;
  switch (part.what) {
    case 'instructions':
    case 'tools':
    case 'before':
    case 'answer':
      return words[part.what];
    case 'said':
      return part.source === 'host' ? words.told : words.said;
    case 'note':
      if (facts['path'] !== undefined) return words.document(oneLine(facts['path'], 80));
      return facts['topic'] === 'environment' || facts['topic'] === 'added_folders'
        ? words[facts['topic']]
        : words.note;
    case 'result':
      return facts['tool'] ? words.result(callWords(facts['tool'], facts, 'done', t)) : words.note;
    default:
      return oneLine(part.what, 60);
  }
}

/** Where a part came from, in words; what isn't known comes from outside. */
export function sourceWords(source: string, t: Texts): string {
  return oneOf(t.record.saw.sources, source) ?? t.record.saw.sources.outside;
}

/** Does it come from neither the person, the folder nor Daybook? Then it is information, and nothing to be trusted. */
export function isForeign(source: string): boolean {
  return !['host', 'user', 'both', 'model', 'folder'].includes(source);
}

/** Why nothing of the request before was reused. */
export function openedWords(opened: string, t: Texts): string {
  return oneOf(t.record.saw.opened, opened) ?? t.record.saw.opened.other;
}

/** The word of a code, where it has one. */
export function oneOf(words: { [code in string]?: string }, code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(words, code) ? words[code] : undefined;
}
