// Sessions that try the page: thousands of entries, one huge answer, and a model that writes everything it shouldn't.
import type { Entry } from '../generated/Entry';
import type { Folder } from '../generated/Folder';
import type { SessionView } from '../generated/SessionView';
import { HOSTILE_MARKDOWN, HOSTILE_TITLE, hugeAnswer } from '../../corpus/markdown';
import { emptyView, type World } from './fake';
import { answer, call, calls, said } from './make';

const MINUTE = 60_000;

export function heavyViews(now: number, world: Pick<World, 'folders'>): SessionView[] {
  const folder = world.folders[0] as Folder;
  const about = {
    mode: 'ask',
    model: { provider: 'anthropic', model: 'claude-sonnet' },
    tour: false,
  } as const;
  const make = (id: string, title: string, entries: Entry[]): SessionView => ({
    ...emptyView(id, folder, about),
    title,
    seq: entries.length,
    entries,
  });
  return [
    make('ses_long', 'Five thousand entries', longConversation(5_000, now)),
    make('ses_record', 'A hundred thousand events', longConversation(60, now)),
    make('ses_some', 'Sixty entries', longConversation(60, now)),
    make('ses_huge', 'One huge answer', [said('s', now, 'Go'), answer('a', now, hugeAnswer(5_000))]),
    make('ses_hostile', HOSTILE_TITLE, [
      said('s', now, '<img src=https://sink.invalid/said>'),
      answer('a', now, HOSTILE_MARKDOWN.join('\n\n')),
      calls(
        'c',
        now,
        call(
          'x',
          HOSTILE_TITLE,
          { path: '<script>alert(1)</script>' },
          { output: HOSTILE_MARKDOWN.join('\n') },
        ),
      ),
    ]),
  ];
}

export function longConversation(n: number, now: number): Entry[] {
  return Array.from({ length: n }, (_, i) => {
    const time = now - (n - i) * MINUTE;
    if (i % 3 === 0) return said(`e${i}`, time, `Request number ${i}`);
    if (i % 3 === 2) return calls(`e${i}`, time, call(`c${i}`, 'read_file', { path: `part/${i}.txt` }));
    return answer(
      `e${i}`,
      time,
      `Answer number ${i}, with **some** weight and \`a bit of code\`.\n\n- one\n- two\n`,
    );
  });
}
