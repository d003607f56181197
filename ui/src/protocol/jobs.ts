// The list of jobs that a view holds: what is open is all there, of what ended the last stay.
import type { JobView } from './generated/JobView';

/** Jobs that ended and are kept. */
export const ENDED_JOBS = 20;

/** Puts a job at its place, or at the end; of those that ended, the ones go that ended first. */
export function withJob(jobs: readonly JobView[], job: JobView): JobView[] {
  const known = jobs.some((other) => other.id === job.id);
  const all = known ? jobs.map((other) => (other.id === job.id ? job : other)) : [...jobs, job];
  const ended = all.filter(hasEnded).sort((one, other) => endOf(one) - endOf(other));
  const gone = ended.slice(0, Math.max(0, ended.length - ENDED_JOBS));
  return all.filter((one) => !gone.includes(one));
}

function endOf({ phase, started, created }: JobView): number {
  return (started ?? created) + ('ms' in phase ? phase.ms : 0);
}

/** Has it ended? */
export function hasEnded({ phase }: JobView): boolean {
  return phase.kind !== 'pending' && phase.kind !== 'running' && phase.kind !== 'reconciling';
}
