// The keyboard table, on macOS and elsewhere.
import { expect, test } from 'vitest';
import { actionOf, allowsOnce, ownsHistory, stepOf, type Action, type KeyPress } from './keys';

function press(text: string, part: Partial<KeyPress> = {}): KeyPress {
  const keys = text.split('+');
  const key = keys.at(-1) ?? '';
  const letter = /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key === '\\' ? 'Backslash' : key;
  return {
    key,
    code: letter,
    metaKey: keys.includes('Meta'),
    ctrlKey: keys.includes('Ctrl'),
    altKey: keys.includes('Alt'),
    shiftKey: keys.includes('Shift'),
    isComposing: false,
    keyCode: 0,
    timeStamp: 0,
    ...part,
  };
}

test('each shortcut means one action, with Command on macOS and Control elsewhere', () => {
  const table: [string, Action | null][] = [
    ['n', 'new-session'],
    ['k', 'search'],
    ['.', 'stop'],
    ['j', 'request'],
    ['1', 'tab-1'],
    ['2', 'tab-2'],
    ['4', 'tab-4'],
    ['3', null],
    ['\\', 'sidebar'],
    ['Alt+\\', 'inspector'],
    ['Shift+m', 'grow'],
    ['z', null],
    ['Shift+z', 'undo'],
  ];
  for (const [keys, action] of table) {
    expect(actionOf(press(`Ctrl+${keys}`), 'linux'), keys).toBe(action);
    expect(actionOf(press(`Meta+${keys}`), 'macos'), keys).toBe(action);
    expect(actionOf(press(`Meta+${keys}`), 'linux'), keys).toBeNull();
    expect(actionOf(press(keys), 'linux'), keys).toBeNull();
  }
  expect(actionOf(press('Escape'), 'linux')).toBe('close');
});

test('taking changes back is left to a text field that has something to bring again', () => {
  const field = document.createElement('textarea');
  expect(ownsHistory(field, false)).toBe(false);
  expect(ownsHistory(field, true)).toBe(true);
  field.value = 'half a thought';
  expect(ownsHistory(field, false)).toBe(true);
  expect(ownsHistory(document.body, true)).toBe(false);
});

test('a24_plain_enter_never_allows', () => {
  expect(allowsOnce(press('Enter'), 'linux')).toBe(false);
  expect(allowsOnce(press('Shift+Enter'), 'linux')).toBe(false);
  expect(allowsOnce(press('Ctrl+Enter'), 'linux')).toBe(true);
  expect(allowsOnce(press('Meta+Enter'), 'macos')).toBe(true);
  expect(allowsOnce(press('Ctrl+Enter', { keyCode: 229 }), 'linux')).toBe(false);
});

test('d06_no_shortcut_listens_while_composing', () => {
  expect(actionOf(press('Ctrl+n', { isComposing: true }), 'linux')).toBeNull();
  expect(stepOf(press('j', { keyCode: 229 }))).toBe(0);
  expect(stepOf(press('j'))).toBe(1);
  expect(stepOf(press('k'))).toBe(-1);
  expect(stepOf(press('Ctrl+k'))).toBe(0);
});
