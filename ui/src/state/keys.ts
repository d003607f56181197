// The keyboard of the window: which press means which action. Command on macOS, Control elsewhere.
//
// Presses that belong to an input method mean nothing here.
import { isComposing, type Press } from './composing';

export type Action =
  | 'new-session'
  | 'search'
  | 'stop'
  | 'tab-1'
  | 'tab-2'
  | 'tab-4'
  | 'tab-5'
  | 'sidebar'
  | 'inspector'
  | 'grow'
  | 'undo'
  | 'request'
  | 'close';

export interface KeyPress extends Press {
  readonly key: string;
  readonly code: string;
  readonly metaKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** The action a press stands for, or null. `platform` as in the app's information. */
export function actionOf(press: KeyPress, platform: string): Action | null {
  if (isComposing(press)) return null;
  if (press.key === 'Escape') return 'close';
  if (!hasCommand(press, platform)) return null;
  if (press.altKey) return press.code === 'Backslash' ? 'inspector' : null;
  if (press.shiftKey) return press.code === 'KeyM' ? 'grow' : press.code === 'KeyZ' ? 'undo' : null;
  switch (press.key) {
    case 'n':
      return 'new-session';
    case 'k':
      return 'search';
    case 'j':
      return 'request';
    case '.':
      return 'stop';
    case '1':
      return 'tab-1';
    case '2':
      return 'tab-2';
    case '4':
      return 'tab-4';
    case '5':
      return 'tab-5';
    case '\\':
      return 'sidebar';
    default:
      return null;
  }
}

/** Does the press that takes changes back belong to the text that is being written? `undone`: typing was just taken back. */
export function ownsHistory(target: EventTarget | null, undone: boolean): boolean {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return false;
  return target.value !== '' || undone;
}

/** Is this the press that allows a request once? Plain Enter never does. */
export function allowsOnce(press: KeyPress, platform: string): boolean {
  return !isComposing(press) && press.key === 'Enter' && hasCommand(press, platform) && !press.altKey;
}

/** Holds an Enter without the key that makes it a yes: it never approves, not even on the button itself. */
export function holdPlainEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.metaKey || event.ctrlKey) return;
  if (event.target instanceof Element && event.target.closest('[data-allows]')) event.preventDefault();
}

/** How far J, K or the arrows move in a list: 1, -1 or 0. */
export function stepOf(press: KeyPress): number {
  if (isComposing(press) || press.metaKey || press.ctrlKey || press.altKey) return 0;
  if (press.key === 'j' || press.key === 'ArrowDown') return 1;
  if (press.key === 'k' || press.key === 'ArrowUp') return -1;
  return 0;
}

/** The words for a shortcut: ⌘. on macOS, Ctrl . elsewhere. */
export function keyName(key: string, platform: string): string {
  return platform === 'macos' ? `⌘${key}` : `Ctrl ${key}`;
}

function hasCommand(press: KeyPress, platform: string): boolean {
  return platform === 'macos' ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey;
}
