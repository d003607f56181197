// The engine's own menu: in text fields and on selected text, nowhere else.
import { expect, test } from 'vitest';
import { menuBelongs } from './menu';

/** A selection that covers a box on the page. */
function selected(box: { left: number; top: number; right: number; bottom: number }): Selection {
  const range = { getClientRects: () => [box] };
  return { isCollapsed: false, rangeCount: 1, getRangeAt: () => range } as unknown as Selection;
}

test('the menu of the engine comes up only where text can be copied or pasted', () => {
  document.body.innerHTML =
    '<p id="p">words</p><button id="b">x</button><textarea id="a"></textarea><input id="i"><input id="r" type="radio">';
  const at = (id: string) => ({ target: document.getElementById(id), clientX: 5, clientY: 5 });
  const belongs = (selection: Selection | null) =>
    ['p', 'b', 'a', 'i', 'r'].filter((id) => menuBelongs(at(id), selection));
  expect(belongs(null)).toEqual(['a', 'i']);
  expect(belongs(getSelection())).toEqual(['a', 'i']);
  const text = selected({ left: 0, top: 0, right: 10, bottom: 10 });
  expect(menuBelongs(at('p'), text)).toBe(true);
  // Beside what is selected it is a press on the page.
  expect(menuBelongs({ ...at('p'), clientX: 11 }, text)).toBe(false);
});
