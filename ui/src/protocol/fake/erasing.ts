// Erasing in the stand-in: words go out of every text of a session's view.
import { Failure } from '../backend';
import type { Command } from '../generated/Command';
import type { EntryBody } from '../generated/EntryBody';
import type { ErasePlace } from '../generated/ErasePlace';
import type { Reply } from '../generated/Reply';
import type { SessionView } from '../generated/SessionView';

const MARK = '[erased by the person]';

type Asked = Extract<Command, { name: 'preview_erase' | 'erase' }>;

/** `others` are all sessions there are. */
export function answerErasing(view: SessionView, command: Asked, others: Iterable<SessionView>): Reply {
  const says = saysAt(view, command.args.place);
  const words = (command.args.text ?? says).trim();
  if (words === '') throw refused('erase/words');
  if (words.length < 4) throw refused('erase/short');
  if (view.activity.kind !== 'idle' && command.name === 'erase') throw refused('erase/busy');
  const places = placesOf(view, words);
  if (places.length === 0) throw refused('erase/nothing');
  const beside = [...others].filter((other) => other !== view && placesOf(other, words).length > 0);
  if (command.name === 'preview_erase') {
    const elsewhere = beside.length;
    return { kind: 'erase_preview', value: { seq: view.seq, says, places, elsewhere, permissions: [] } };
  }
  const sessions = command.args.everywhere ? beside : [];
  const all = [view, ...sessions].flatMap((one) => placesOf(one, words));
  for (const one of [view, ...sessions]) erase(one, words);
  const events = all.reduce((sum, place) => sum + place.count, 0);
  const done = {
    seq: view.seq,
    events,
    sessions: sessions.length,
    contents: 2,
    copies: 0,
    unfinished: false,
  };
  return { kind: 'erased', value: done };
}

function erase(view: SessionView, words: string): void {
  const without = (text: string) => text.replaceAll(words, MARK);
  view.title = without(view.title);
  for (const message of view.waiting) message.text = without(message.text);
  for (const { body } of view.entries) change(body, without);
  view.seq += 1;
}

function refused(code: string): Failure {
  return new Failure({ code, message: code, hint: null });
}

const ASKED = 'asked:';

function saysAt(view: SessionView, place: string): string {
  const message = view.waiting.find(({ id }) => id === place);
  if (message) return message.text;
  const asked = place.startsWith(ASKED) ? place.slice(ASKED.length) : null;
  for (const { key, body } of view.entries) {
    if (key === place && (body.kind === 'said' || body.kind === 'answer')) return body.text;
    if (body.kind === 'calls') {
      const call = body.calls.find(({ id }) => id === (asked ?? place));
      if (call) return asked === null ? call.output : Object.values(call.facts).join('\n');
    }
  }
  throw refused('erase/unknown');
}

function placesOf(view: SessionView, words: string): ErasePlace[] {
  const counts = new Map<string, number>();
  const count = (kind: string, text: string) => {
    if (text.includes(words)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  };
  count('title', view.title);
  for (const message of view.waiting) count('waiting', message.text);
  for (const { body } of view.entries) {
    if (body.kind === 'said') count('message', body.text);
    if (body.kind === 'answer') count('answer', body.text);
    if (body.kind === 'calls') {
      for (const call of body.calls) {
        count('result', call.output);
        count('call', Object.values(call.facts).join('\n'));
      }
    }
  }
  return [...counts].map(([kind, count]) => ({ kind, count }));
}

function change(body: EntryBody, without: (text: string) => string): void {
  if (body.kind === 'said' || body.kind === 'answer') body.text = without(body.text);
  if (body.kind === 'calls') {
    for (const call of body.calls) {
      call.output = without(call.output);
      for (const name of Object.keys(call.facts)) call.facts[name] = without(call.facts[name] ?? '');
    }
  }
}
