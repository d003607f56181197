// The fold of the stand-in: carries a plain view forward, so that a session that is opened again equals one that was
// followed.
import type { Patch } from '../generated/Patch';
import type { SessionView } from '../generated/SessionView';
import { withJob } from '../jobs';
import { appendOutput } from '../output';

export function advance(view: SessionView, patch: Patch): void {
  switch (patch.kind) {
    case 'entry': {
      const at = view.entries.findIndex((entry) => entry.key === patch.entry.key);
      if (at < 0) view.entries.push(structuredClone(patch.entry));
      else view.entries[at] = structuredClone(patch.entry);
      return;
    }
    case 'text': {
      const body = view.entries.find((entry) => entry.key === patch.key)?.body;
      if (body?.kind === 'answer') body.text += patch.text;
      return;
    }
    case 'output': {
      for (const { body } of view.entries) {
        if (body.kind !== 'calls') continue;
        for (const call of body.calls)
          if (call.id === patch.call) call.output = appendOutput(call.output, patch.text);
      }
      return;
    }
    case 'job':
      view.jobs = withJob(view.jobs, structuredClone(patch.job));
      return;
    case 'job_output':
      for (const job of view.jobs)
        if (job.id === patch.job) job.output = appendOutput(job.output, patch.text);
      return;
    case 'removed':
      view.entries = view.entries.filter((entry) => entry.key !== patch.key);
      return;
    case 'plan':
      view.plan = patch.plan;
      return;
    case 'waiting':
      view.waiting = patch.waiting;
      return;
    case 'added':
      view.added = patch.added;
      return;
    case 'activity':
      view.activity = patch.activity;
      return;
    case 'meta':
      view.title = patch.title;
      view.mode = patch.mode;
      view.model = patch.model;
      view.changed_files = patch.changed_files;
      view.tokens = patch.tokens;
      view.spent = patch.spent;
      return;
  }
}
