// The list of sessions, grouped by folder.
import type { Folder } from '../protocol/generated/Folder';
import type { SessionSummary } from '../protocol/generated/SessionSummary';

export interface Project {
  folder: Folder;
  sessions: SessionSummary[];
}

export class SessionList {
  all: SessionSummary[] = $state.raw([]);
  /** Has the list arrived? */
  loaded = $state(false);
  query = $state('');
  projects: Project[] = $derived(groupByFolder(matching(this.all, this.query)));

  /** The list as it was read; a line that was told meanwhile stays where it is newer. */
  load(read: readonly SessionSummary[]): void {
    // eslint-disable-next-line svelte/prefer-svelte-reactivity -- local to this call
    const lines = new Map(read.map((line) => [line.id, line]));
    for (const told of this.all) {
      const line = lines.get(told.id);
      if (!line || line.updated <= told.updated) lines.set(told.id, told);
    }
    this.#set([...lines.values()]);
    this.loaded = true;
  }

  /** A new or changed line. */
  put(summary: SessionSummary): void {
    this.#set([summary, ...this.all.filter((session) => session.id !== summary.id)]);
  }

  #set(sessions: readonly SessionSummary[]): void {
    this.all = [...sessions].sort((a, b) => b.updated - a.updated);
  }

  find(id: string): SessionSummary | undefined {
    return this.all.find((session) => session.id === id);
  }
}

function matching(sessions: readonly SessionSummary[], query: string): SessionSummary[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === '') return [...sessions];
  return sessions.filter((session) =>
    `${session.title}\n${session.folder.name}`.toLocaleLowerCase().includes(wanted),
  );
}

function groupByFolder(sessions: readonly SessionSummary[]): Project[] {
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- local to this call
  const projects = new Map<string, Project>();
  for (const session of sessions) {
    const known = projects.get(session.folder.id);
    if (known) known.sessions.push(session);
    else projects.set(session.folder.id, { folder: session.folder, sessions: [session] });
  }
  return [...projects.values()];
}
