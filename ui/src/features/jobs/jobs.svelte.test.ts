// The Jobs tab: what goes on comes first, stopping what may have changed something is asked about, ends have words.
import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { jobOf } from '../../protocol/fake/jobs';
import type { JobView } from '../../protocol/generated/JobView';
import { ENDED_JOBS, withJob } from '../../protocol/jobs';
import { en } from '../../texts/en';
import { jobDoubt, jobFacts, phaseWords } from '../../texts/jobs';
import { zh } from '../../texts/zh';
import JobsTab from './JobsTab.svelte';

const job = (id: string, part: Partial<JobView> = {}) => jobOf(id, `run ${id}`, 0, part);
const ended = (id: string) => job(id, { phase: { kind: 'completed', code: 0, ms: 4_000 }, changed: 2 });

function shown(jobs: JobView[], readOnly = false) {
  const onstop = vi.fn();
  const onsettle = vi.fn();
  const { rerender } = render(JobsTab, { t: en, jobs, readOnly, onstop, onsettle, onsave: vi.fn() });
  return { onstop, onsettle, rerender, user: userEvent.setup() };
}

test('nothing in the background is said', () => {
  shown([]);
  expect(screen.getByText(en.jobs.empty)).toBeInTheDocument();
});

test('what goes on comes first, then what ended, the newest first', () => {
  shown([ended('1'), job('2'), ended('3'), job('4')]);
  const lines = screen.getAllByRole('listitem').map((line) => /run \d/.exec(line.textContent)?.[0]);
  expect(lines).toEqual(['run 4', 'run 2', 'run 3', 'run 1']);
});

test('stopping what may have changed something is asked about, and can be let be', async () => {
  const { onstop, user } = shown([job('1')]);
  await user.click(screen.getByRole('button', { name: 'Stop run 1' }));
  expect(onstop).not.toHaveBeenCalled();
  const keep = screen.getByRole('button', { name: en.jobs.keep });
  expect(keep).toHaveFocus();
  await user.click(keep);
  expect(screen.getByRole('button', { name: 'Stop run 1' })).toHaveFocus();
  await user.click(screen.getByRole('button', { name: 'Stop run 1' }));
  await user.click(screen.getByRole('button', { name: en.jobs.stopNow }));
  expect(onstop).toHaveBeenCalledExactlyOnceWith('1');
  expect(screen.getByRole('listitem')).toHaveFocus();
});

test('what changes nothing is stopped at once, and what is being stopped or ended isn’t stopped again', async () => {
  const { onstop, user } = shown([job('1', { effects: false }), job('2', { stopping: true }), ended('3')]);
  const buttons = screen.getAllByRole('button', { name: /^Stop/ });
  expect(buttons).toHaveLength(1);
  await user.click(buttons[0] as HTMLElement);
  expect(onstop).toHaveBeenCalledExactlyOnceWith('1');
});

test('where the session can only be read nothing is stopped or settled', () => {
  shown([job('1'), job('2', { phase: { kind: 'reconciling' } })], true);
  expect(screen.getAllByRole('listitem')).toHaveLength(2);
  expect(screen.queryByRole('button', { name: /^Stop|ended/ })).toBeNull();
});

test('one that was lost sight of is settled by whoever looked', async () => {
  const { onsettle, rerender, user } = shown([job('2'), job('1', { phase: { kind: 'reconciling' } })]);
  const [line] = screen.getAllByRole('listitem') as [HTMLElement];
  expect(within(line).getByText(en.jobs.reconcilingText)).toBeInTheDocument();
  await user.click(within(line).getByRole('button', { name: en.jobs.settle }));
  expect(onsettle).toHaveBeenCalledExactlyOnceWith('1');
  // It ended: its button goes, its line goes below what goes on, and keeps the focus.
  await rerender({ jobs: [job('1', { phase: { kind: 'interrupted', ms: 1 } }), job('2')] });
  const lines = screen.getAllByRole('listitem');
  expect(lines[0]).toHaveTextContent('run 2');
  await waitFor(() => expect(lines[1]).toHaveFocus());
});

test('output is text, folded until it is asked for', async () => {
  const { user } = shown([job('1', { output: '<b>loud</b>\n' })]);
  expect(screen.queryByLabelText(en.jobs.output)).toBeNull();
  await user.click(screen.getByText(en.jobs.output));
  expect(screen.getByLabelText(en.jobs.output).textContent).toContain('<b>loud</b>');
});

test('all of an output that ended is saved, where it wasn’t erased', async () => {
  const mark = '[erased by the person]\n';
  const { user } = shown([
    { ...ended('1'), output: 'loud\n' },
    { ...ended('2'), output: mark },
  ]);
  for (const output of screen.getAllByText(en.jobs.output)) await user.click(output);
  expect(screen.getAllByLabelText(en.jobs.output)).toHaveLength(2);
  const [button, ...more] = screen.getAllByRole('button', { name: new RegExp(`^${en.copies.output}`) });
  expect([button?.getAttribute('aria-label'), more]).toEqual([en.list.named(en.copies.output, 'run 1'), []]);
});

test('every way a job can stand has words in both languages', () => {
  const table: [Partial<JobView>, string, string][] = [
    [{ phase: { kind: 'pending' } }, 'Waiting to begin', '等待开始'],
    [{ stopping: true }, 'Being stopped', '正在停止'],
    [{ phase: { kind: 'completed', code: 2, ms: 1 } }, 'Ended with exit code 2', '已结束，退出码 2'],
    [{ phase: { kind: 'completed', code: null, ms: 1 } }, en.jobs.completed, zh.jobs.completed],
    [
      { phase: { kind: 'failed', error: 'job/not_allowed', ms: 0 } },
      en.jobs.not_allowed,
      zh.jobs.not_allowed,
    ],
    [{ phase: { kind: 'failed', error: 'call/timeout', ms: 0 } }, en.jobs.timeout, zh.jobs.timeout],
    [{ phase: { kind: 'failed', error: 'from/later', ms: 0 } }, en.jobs.failed, zh.jobs.failed],
    [{ phase: { kind: 'cancelled', by: 'model', ms: 0 } }, 'Stopped by Daybook', '由 Daybook 停止'],
    [{ phase: { kind: 'interrupted', ms: 0 } }, en.jobs.interrupted, zh.jobs.interrupted],
  ];
  for (const [part, english, chinese] of table) {
    expect(phaseWords(job('1', part), en)).toBe(english);
    expect(phaseWords(job('1', part), zh)).toBe(chinese);
  }
  expect(jobFacts(ended('1'), en)).toEqual(['ran 4 s', 'changed 2 paths']);
  expect(jobDoubt(job('1', { doubt: 'mixed' }), en)).toBe(en.jobs.doubts.mixed);
});

test('of what ended the last stay, and what is open always does', () => {
  let jobs: JobView[] = [job('open')];
  for (let n = 0; n < ENDED_JOBS + 5; n += 1) jobs = withJob(jobs, ended(String(n)));
  expect(jobs).toHaveLength(ENDED_JOBS + 1);
  expect([jobs[0]?.id, jobs[1]?.id]).toEqual(['open', '5']);
  expect(withJob(jobs, job('5', { phase: { kind: 'interrupted', ms: 1 } }))[1]?.phase.kind).toBe(
    'interrupted',
  );
});
