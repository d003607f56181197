// Where a job stands and how it ended, in words; from the codes of the view.
import type { JobView } from '../protocol/generated/JobView';
import type { Texts } from './en';
import { clock, count, took } from './format';

/** Where it stands. */
export function phaseWords(job: JobView, t: Texts): string {
  const { jobs } = t;
  const { phase } = job;
  switch (phase.kind) {
    case 'pending':
      return jobs.pending;
    case 'running':
      return job.stopping ? jobs.stopping : jobs.running;
    case 'reconciling':
      return jobs.reconciling;
    case 'completed':
      return phase.code === null || phase.code === 0 ? jobs.completed : jobs.code(String(phase.code));
    case 'failed':
      if (phase.error === 'job/not_allowed') return jobs.not_allowed;
      return phase.error === 'call/timeout' ? jobs.timeout : jobs.failed;
    case 'cancelled':
      return phase.by === 'user' ? jobs.cancelled.user : jobs.cancelled.model;
    case 'interrupted':
      return jobs.interrupted;
  }
}

/** Since when or how long it ran, and what it changed. */
export function jobFacts(job: JobView, t: Texts): string[] {
  const { phase } = job;
  if (!('ms' in phase)) return job.started === null ? [] : [t.jobs.since(clock(job.started))];
  const ran = took(phase.ms, t);
  const changed = job.changed > 0 ? t.jobs.changed(count(job.changed, t)) : t.jobs.unchanged;
  return [...(ran ? [t.jobs.took(ran)] : []), ...(job.effects && job.doubt !== 'untold' ? [changed] : [])];
}

/** What isn't known about what it changed; empty where all is. */
export function jobDoubt(job: JobView, t: Texts): string {
  if (job.doubt === null) return '';
  return job.doubt === 'mixed' ? t.jobs.doubts.mixed : t.jobs.doubts.untold;
}
