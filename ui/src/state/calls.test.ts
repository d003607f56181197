// Neighbouring calls of a kind become one line; the gravest state of its calls is the line's.
import { expect, test } from 'vitest';
import { call } from '../protocol/fake/make';
import type { CallView } from '../protocol/generated/CallView';
import { en, type Texts } from '../texts/en';
import { callKind, callVerb, callWords } from '../texts/words';
import { zh } from '../texts/zh';
import { groupCalls } from './calls';

const lines = (calls: CallView[]) =>
  groupCalls(calls).map(
    (group) => `${group.kind} ${group.calls.length} ${group.state} +${group.added} -${group.removed}`,
  );

test('calls are grouped as they are read', () => {
  expect(
    lines([
      call('1', 'read_file', { path: 'a' }),
      call('2', 'read_file', { path: 'b' }),
      call('3', 'edit_file', { path: 'a' }, { added: 2, removed: 1 }),
      call('4', 'write_file', { path: 'c' }, { added: 5, removed: 0, state: 'failed' }),
      call('5', 'run_command', { command: 'ls' }),
      call('6', 'run_command', { command: 'pwd' }),
      call('7', 'read_file', { path: 'z' }, { state: 'running', ms: null }),
    ]),
  ).toEqual([
    'read 2 done +0 -0',
    'change 2 failed +7 -1',
    'run 1 done +0 -0',
    'run 1 done +0 -0',
    'read 1 running +0 -0',
  ]);
});

test('what was stopped, and what never ran, is said as that and never as done', () => {
  const stopped = { state: 'cancelled', ms: null } as const;
  const groups = groupCalls([
    call('1', 'read_file', { path: 'a' }),
    call('2', 'read_file', { path: 'b' }, stopped),
    call('3', 'read_file', { path: 'c' }, { ...stopped, started: false }),
    call('4', 'read_file', { path: 'd' }, { ...stopped, started: false }),
    call('5', 'run_command', { command: 'rm a' }, { ...stopped, started: false }),
    call('6', 'run_command', { command: 'sleep 9' }, stopped),
    call('7', 'paint', {}, { ...stopped, started: false }),
  ]);
  const said = (t: Texts) =>
    groups.map(
      ({ kind, state, calls }) => `${callVerb(kind, state, calls.length, 'paint', t)} ×${calls.length}`,
    );
  expect(said(en)).toEqual([
    'Read ×1',
    'Stopped reading ×1',
    'Didn’t read ×2',
    'Didn’t run ×1',
    'Stopped running ×1',
    'Didn’t use “paint” ×1',
  ]);
  expect(said(zh)[3]).toBe('没有运行 ×1');
  expect(said(zh)[4]).toBe('停止了运行 ×1');
});

test('a tool nobody knows is named, never guessed', () => {
  expect(callKind('__proto__', {})).toBe('other');
  expect(callKind('constructor', {})).toBe('other');
  expect(callVerb('other', 'done', 1, 'paint', en)).toBe('Used “paint”');
  expect(callVerb('other', 'waiting', 1, 'paint', en)).toBe('Wants to use “paint”');
});

test('looking at a command in the background is told from stopping it', () => {
  const said = (action: string, t: Texts) => callWords('job', { action }, 'done', t);
  expect(['status', 'wait', 'cancel'].map((action) => said(action, en))).toEqual([
    'Looked at a command in the background',
    'Looked at a command in the background',
    'Stopped a command in the background',
  ]);
  expect(said('cancel', zh)).toBe('停止了一个后台命令');
  expect(callWords('job', {}, 'running', zh)).toBe('正在查看一个后台命令');
});
