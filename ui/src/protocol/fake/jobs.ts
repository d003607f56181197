// Jobs of the sample: one that runs, one that waits, and one of each end.
import type { JobView } from '../generated/JobView';

/** One that runs, and whatever else is said of it. */
export function jobOf(id: string, command: string, start: number, part: Partial<JobView> = {}): JobView {
  return {
    id,
    call: `cal_${id}`,
    command,
    notify: false,
    created: start,
    started: start,
    phase: { kind: 'running' },
    stopping: false,
    effects: true,
    output: '',
    changed: 0,
    doubt: null,
    ...part,
  };
}

export function jobsOf(start: number): JobView[] {
  const job = (id: string, command: string, part: Partial<JobView>) => jobOf(id, command, start, part);
  return [
    job('job_1', 'node scripts/menu.js --all', {
      phase: { kind: 'completed', code: 0, ms: 41_000 },
      output: 'menu.json: 34 entries\n[exit code 0]\n',
      changed: 3,
    }),
    job('job_2', 'npm test', {
      phase: { kind: 'completed', code: 1, ms: 12_400 },
      output: '2 of 31 failed\n[exit code 1]\n',
      changed: 1,
      doubt: 'mixed',
    }),
    job('job_3', 'python3 -m http.server 8000', {
      output: 'Serving HTTP on 0.0.0.0 port 8000 …\nGET /order.html 200\n',
    }),
    job('job_4', 'sh scripts/photos.sh', { phase: { kind: 'pending' }, started: null, effects: false }),
  ];
}
