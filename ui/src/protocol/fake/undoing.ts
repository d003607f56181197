// Changes and taking them back, as the stand-in answers for them: what is done shows as an entry that begins working.
import { Failure } from '../backend';
import type { Command } from '../generated/Command';
import type { Reply } from '../generated/Reply';
import type { UndoView } from '../generated/UndoView';
import type { Stage } from './fake';

type About = Extract<Command, { name: 'changes' | 'diff' | 'preview_undo' | 'three_way' | 'undo' }>;

export function answerChanges(stage: Stage, command: About, id: () => string, now: () => number): Reply {
  const { files } = stage;
  switch (command.name) {
    case 'changes':
      return { kind: 'changes', value: files.changes() };
    case 'diff': {
      const { path, turn, call } = command.args;
      if (call === null) return { kind: 'diff', value: files.diff(path, turn) };
      const value = files.callDiff(call, path);
      if (!value) throw refusal('changes/unknown', 'this call didn’t change that file');
      return { kind: 'diff', value };
    }
    case 'preview_undo':
      return { kind: 'undo_preview', value: files.preview(command.args.of, command.args.paths) };
    case 'three_way': {
      const value = files.threeWay(command.args.of, command.args.path);
      if (!value) throw refusal('changes/unknown', 'this wasn’t changed there');
      return { kind: 'three_way', value };
    }
    case 'undo': {
      if (stage.view.activity.kind !== 'idle')
        throw refusal('restore/busy', 'work is going on in this session');
      if (files.isEmpty(command.args.of, command.args.paths))
        throw refusal('restore/nothing', 'there is nothing to take back');
      if (files.isMixed(command.args.of, command.args.paths))
        throw refusal('restore/mixed', 'the same lines were changed since');
      void takeBack(stage, command.args, id(), now());
      return { kind: 'done' };
    }
  }
}

async function takeBack(
  stage: Stage,
  { of, paths, overwrite }: Extract<Command, { name: 'undo' }>['args'],
  id: string,
  time: number,
): Promise<void> {
  const put = (undo: UndoView) =>
    stage.push({ kind: 'entry', entry: { key: undo.id, time, body: { kind: 'undo', undo } } });
  // The entry comes after the answer, as the engine's does.
  await Promise.resolve();
  const empty = {
    files: [],
    count: 0,
    kept: [],
    kept_more: 0,
    error: null,
    held: false,
    undone: false,
    thinned: null,
  };
  put({ id, of, state: 'working', ...empty });
  await stage.pause(500);
  const done = stage.files.undo(id, of, paths, overwrite);
  if (of.kind === 'undo') {
    const earlier = stage.view.entries.find(({ key }) => key === of.undo)?.body;
    if (earlier?.kind === 'undo') put({ ...earlier.undo, undone: true });
  }
  put(done);
  const { title, mode, model, effort, tokens, spent } = stage.view;
  const changed_files = stage.files.changes().files.length;
  stage.push({ kind: 'meta', title, mode, model, effort, tokens, spent, changed_files });
}

function refusal(code: string, message: string): Failure {
  return new Failure({ code, message, hint: null });
}
