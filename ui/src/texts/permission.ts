// Words for what is allowed, and why something would be: scopes, rules, doubts. Unknown codes get plain words too.
import type { Offer } from '../protocol/generated/Offer';
import type { OwnRule } from '../protocol/generated/OwnRule';
import type { RuleAbout } from '../protocol/generated/RuleAbout';
import type { RuleWord } from '../protocol/generated/RuleWord';
import type { WhatIf } from '../protocol/generated/WhatIf';
import { oneLine } from '../shared/visible';
import type { Texts } from './en';
import { modeWords } from './words';

/** Exactly what an offer allows. */
export function scopeWords(offer: Offer, t: Texts): string {
  const s = t.offers.scopes;
  switch (offer.kind) {
    case 'write':
      return offer.under === '.' ? s.writeAll : s.write(oneLine(offer.under, 160));
    case 'delete':
      return offer.under === '.' ? s.deleteAll : s.delete(oneLine(offer.under, 160));
    case 'command': {
      const words = oneLine(offer.words.join(' '), 200);
      return offer.exact ? s.exact(words) : s.command(words);
    }
    case 'commands':
      return s.commands;
    case 'site':
      return s.site(oneLine(offer.site, 160));
  }
}

/** What an offer allows, short enough for a button. */
export function offerWords(offer: Offer, t: Texts): string {
  const w = t.offers.what;
  switch (offer.kind) {
    case 'write':
      return isWide(offer) ? w.writeAll : w.write(oneLine(offer.under, 28));
    case 'delete':
      return isWide(offer) ? w.deleteAll : w.delete(oneLine(offer.under, 28));
    case 'command':
      return offer.exact ? w.exact : w.command(oneLine(offer.words.join(' '), 28));
    case 'commands':
      return w.commands;
    case 'site':
      return w.site(oneLine(offer.site, 28));
  }
}

/** Does it allow everything of its kind in the folder? */
export function isWide(offer: Offer): boolean {
  return (
    offer.kind === 'commands' || ((offer.kind === 'write' || offer.kind === 'delete') && offer.under === '.')
  );
}

/** What a rule says about an act. */
export function verdictWords(
  verdict: string,
  words: { allow: string; ask: string; deny: string; other: (code: string) => string },
): string {
  return verdict === 'allow' || verdict === 'ask' || verdict === 'deny'
    ? words[verdict]
    : words.other(oneLine(verdict, 60));
}

/** What a mode does by itself with a kind of act. Where nothing is changed a command that runs is held to looking. */
export function modeVerdictWords(mode: string, act: string, verdict: string, t: Texts): string {
  if (isReadOnly(mode, act, verdict)) return t.permissions.readOnly;
  return verdictWords(verdict, t.permissions.verdicts);
}

export function isReadOnly(mode: string, act: string, verdict: string): boolean {
  return mode === 'plan' && act === 'run' && verdict === 'allow';
}

export function ruleActWords(act: string, t: Texts): string {
  switch (act) {
    case 'read':
    case 'write':
    case 'delete':
    case 'run':
    case 'network':
    case 'publish':
    case 'secret':
    case 'protected':
      return t.permissions.acts[act];
    default:
      return t.permissions.acts.other(oneLine(act, 60));
  }
}

/** Why a rule holds, from its name such as `builtin/secret:.env` or `mode/ask`. */
export function ruleWords(rule: string, t: Texts): string {
  const why = t.permissions.test.why;
  const [name = '', about = ''] = split(rule, ':');
  const path = oneLine(about, 120);
  switch (name) {
    case 'builtin/looks':
      return why.looks;
    case 'builtin/network':
      return why.network;
    case 'cage/none':
      return why.cage;
    case 'builtin/protected':
      return why.protected(path);
    case 'builtin/secret':
      return why.secret(path);
    case 'builtin/outside':
      return why.outside;
    case 'builtin/taint':
      return why.taint(path);
    case 'builtin/publish':
      return why.publish;
  }
  const [origin = '', rest = ''] = split(name, '/');
  if (origin === 'grant') return why.grant;
  if (origin === 'user') return why.yours(ruleNameWords(rest, path, t));
  if (origin !== 'mode') return why.other(oneLine(rule, 120));
  return rest === 'plan-read-only' ? why.mode(modeWords('plan', t)) : why.mode(modeWords(rest, t));
}

/** A rule of the person from its name in the record: `change`, or `command` and `git push`. */
function ruleNameWords(name: string, about: string, t: Texts): string {
  const words = t.rules.about;
  if (name === 'command') return words.commandOf(about);
  if (name === 'path') return words.pathOf(about);
  if (name === 'names') return words.namesOf(about);
  return isActKind(name) ? words[name] : name;
}

/** Kinds of acts a rule can be about, without more words. */
export const ACT_RULES = ['read', 'change', 'delete', 'run', 'online', 'publish', 'secrets'] as const;
type ActRule = (typeof ACT_RULES)[number];

export function isActKind(kind: string): kind is ActRule {
  return (ACT_RULES as readonly string[]).includes(kind);
}

/** What a rule of the person is about. */
export function aboutWords(about: RuleAbout, t: Texts): string {
  switch (about.kind) {
    case 'command':
      return t.rules.about.commandOf(oneLine(about.words, 160));
    case 'path':
      return t.rules.about.pathOf(oneLine(about.under, 160));
    default:
      return t.rules.about[about.kind];
  }
}

/** Where a rule of the person holds. */
export function ruleWhere(rule: OwnRule, t: Texts): string {
  return rule.folder ? t.rules.inFolder(oneLine(rule.folder.name, 60)) : t.rules.everywhere;
}

/** Why a verdict is what it is; a rule of the person says where it was set. */
export function whyWords(what: WhatIf, t: Texts): string {
  if (!what.own) return ruleWords(what.rule, t);
  return t.permissions.test.why.own(aboutWords(what.own.about, t), ruleWhere(what.own, t));
}

/** What choosing nothing means for a kind of act. */
export function restingWord(kind: ActRule, t: Texts): string {
  if (kind === 'read') return t.rules.words.allow;
  if (kind === 'online' || kind === 'publish' || kind === 'secrets') return t.rules.words.ask;
  return t.rules.words.mode;
}

/** Which setting wins for a kind of act in every folder. */
export function winsWords(kind: ActRule, word: RuleWord | null, t: Texts): string {
  const wins = t.rules.wins;
  if (word === 'ask') return wins.ask;
  if (word === 'never') {
    if (kind === 'read') return wins.readNever;
    if (kind === 'change') return wins.changeNever;
    if (kind === 'secrets') return wins.secretsNever;
    if (kind === 'publish') return wins.publishNever;
    return kind === 'delete' ? wins.deleteNever : wins.never;
  }
  if (kind === 'read') return wins.allow;
  if (kind === 'online' || kind === 'publish' || kind === 'secrets') return wins[kind];
  return wins.mode;
}

const DOUBTS: { [code in string]?: keyof Texts['permissions']['test']['doubts'] } = {
  empty: 'empty',
  too_large: 'large',
  syntax: 'syntax',
  quote: 'syntax',
  continuation: 'syntax',
  dialect: 'syntax',
  control: 'hidden',
  hidden: 'hidden',
  expansion: 'dynamic',
  substitution: 'dynamic',
  glob: 'dynamic',
  brace: 'dynamic',
  tilde: 'dynamic',
  history: 'dynamic',
  compound: 'compound',
  background: 'compound',
  here_document: 'compound',
  redirection: 'compound',
  state: 'compound',
  wrapper: 'wrapper',
};

/** Why a command isn't understood, each reason once. */
export function doubtWords(codes: readonly string[], t: Texts): string[] {
  const known = codes.map((code) => (Object.hasOwn(DOUBTS, code) ? (DOUBTS[code] ?? 'other') : 'other'));
  return [...new Set(known)].map((name) => t.permissions.test.doubts[name]);
}

function split(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
