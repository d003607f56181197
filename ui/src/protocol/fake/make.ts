// Short ways to write what an engine would send: entries, calls, requests.
import type { ApprovalView } from '../generated/ApprovalView';
import type { CallView } from '../generated/CallView';
import type { DiffLine } from '../generated/DiffLine';
import type { Entry } from '../generated/Entry';
import type { EntryBody } from '../generated/EntryBody';
import type { Provider } from '../generated/Provider';
import type { FileDiff } from '../generated/FileDiff';

export function entry(key: string, time: number, body: EntryBody): Entry {
  return { key, time, body };
}

export function said(key: string, time: number, text: string): Entry {
  return entry(key, time, { kind: 'said', text });
}

export function answer(key: string, time: number, text: string, streaming = false, reasoning = ''): Entry {
  return entry(key, time, { kind: 'answer', text, reasoning, streaming });
}

export function calls(key: string, time: number, ...list: CallView[]): Entry {
  return entry(key, time, { kind: 'calls', calls: list });
}

export function call(
  id: string,
  tool: string,
  facts: CallView['facts'],
  part: Partial<CallView> = {},
): CallView {
  const rest = {
    state: 'done',
    ms: 400,
    added: null,
    removed: null,
    output: '',
    error: null,
    halt: null,
  } as const;
  const started = !['proposed', 'waiting', 'denied'].includes(part.state ?? rest.state);
  return { id, tool, facts, ...rest, started, ...part };
}

export function approval(id: string, part: Partial<ApprovalView> = {}): ApprovalView {
  return {
    id,
    call: `cal_${id}`,
    tool: 'run_command',
    digest: `sha256:${id}`,
    act: 'run',
    facts: { command: 'npm test' },
    can_touch: ['.'],
    cannot_touch: ['outside_folder', 'network'],
    risk: 2,
    undo: 'partly',
    exact: 'npm test',
    unshown: false,
    diff: null,
    suspicious: false,
    warnings: [],
    offers: [],
    added: [],
    reach: [],
    state: { kind: 'open' },
    model_says: null,
    ...part,
  };
}

export function end(
  key: string,
  time: number,
  reason: string,
  facts: Record<string, string>,
  ms: number,
): Entry {
  return entry(key, time, { kind: 'turn_end', end: reason, facts, ms });
}

/** A difference from lines that begin with a blank, `+` or `-`. */
export function diff(path: string, start: number, text: string): FileDiff {
  const lines: DiffLine[] = text.split('\n').map((line) => ({
    kind: line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same',
    spans: spans(line.slice(1)),
  }));
  const hunk = { old_start: start, new_start: start, lines, part: null, undone: false };
  const created = !lines.some((line) => line.kind !== 'added');
  return { path, created, no_hunks: null, hunks: [hunk] };
}

/** A difference, and exactly it in one text as the engine shows it. */
export function written(change: FileDiff): Pick<ApprovalView, 'diff' | 'exact'> {
  const signs: { [kind in string]?: string } = { added: '+', removed: '-' };
  const exact = change.hunks.map(({ old_start, new_start, lines }) => {
    const count = (other: string) => lines.filter(({ kind }) => kind !== other).length;
    const rows = lines.map(
      ({ kind, spans }) => (signs[kind] ?? ' ') + spans.map(({ text }) => text).join('') + '\n',
    );
    return `@@ -${old_start},${count('added')} +${new_start},${count('removed')} @@\n${rows.join('')}`;
  });
  return { diff: change, exact: exact.join('') };
}

/** Words between ⟦ and ⟧ are the ones that differ. */
function spans(text: string): DiffLine['spans'] {
  return text
    .split(/(⟦[^⟧]*⟧)/)
    .filter(Boolean)
    .map((piece) =>
      piece.startsWith('⟦') ? { text: piece.slice(1, -1), changed: true } : { text: piece, changed: false },
    );
}

/** A service of the person's own. */
export function service(id: string, part: Partial<Provider> = {}): Provider {
  return {
    id,
    name: 'Workshop',
    dialect: 'openai-chat',
    base_url: 'http://localhost:9000/v1',
    key: 'not_needed',
    custom: true,
    models: ['one'],
    efforts: {},
    context_tokens: null,
    certificates: [],
    check: null,
    ...part,
  };
}
