// The one door of the page: a typed set of commands and subscriptions, whatever carries them.
//
// Words: a *backend* answers commands and delivers notifications in batches; a *failure* is a refused command with a
// stable code for wording. Nothing above this floor knows how messages travel.
import type { ApiError } from './generated/ApiError';
import type { Command } from './generated/Command';
import type { Notification } from './generated/Notification';
import type { Reply } from './generated/Reply';
import type { Topic } from './generated/Topic';

export interface Backend {
  /** Asks for one thing. Rejects with a [`Failure`] only. */
  call(command: Command): Promise<Reply>;
  /** Listens from now on, in order, a frame's worth at a time. Returns the way to stop. */
  subscribe(topic: Topic, on: (batch: Notification[]) => void): () => void;
}

/** Kinds of replies that carry a value, and the value each carries. */
type Valued = Extract<Reply, { value: unknown }>;
export type ValueOf<K extends Valued['kind']> = Extract<Valued, { kind: K }>['value'];

/** A command that was refused or got lost. */
export class Failure extends Error {
  readonly code: string;
  readonly hint: string | null;

  constructor(error: ApiError) {
    super(error.message);
    this.name = 'Failure';
    this.code = error.code;
    this.hint = error.hint;
  }
}

/** Whatever was thrown, as a failure with a code. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (isApiError(thrown)) return new Failure(thrown);
  // Our own error while handling an answer isn't the other side's silence.
  if (thrown instanceof Error)
    return new Failure({ code: 'page/broken', message: thrown.message, hint: null });
  return new Failure({ code: 'page/lost', message: String(thrown), hint: null });
}

/** Asks and expects one kind of reply; any other kind is a failure, never a guess. */
export async function ask<K extends Valued['kind']>(
  backend: Backend,
  command: Command,
  kind: K,
): Promise<ValueOf<K>> {
  const reply = await backend.call(command);
  if (reply.kind === kind && 'value' in reply) return reply.value as ValueOf<K>;
  throw unexpected(command, kind, reply);
}

/** Asks for something that only has to be done. */
export async function tell(backend: Backend, command: Command): Promise<void> {
  const reply = await backend.call(command);
  if (reply.kind !== 'done') throw unexpected(command, 'done', reply);
}

function unexpected(command: Command, kind: string, reply: Reply): Failure {
  const message = `asked ${command.name} for ${kind}, got ${reply.kind}`;
  return new Failure({ code: 'page/unexpected', message, hint: null });
}

function isApiError(value: unknown): value is ApiError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
