// Whether the engine's own menu has a place: where there is text to copy or to paste. Elsewhere it would offer what the
// window doesn't have, such as going back or loading anew.

/** Kinds of `input` that hold no text. */
const NO_TEXT = ['radio', 'checkbox', 'button', 'submit', 'reset', 'range', 'color', 'file', 'image'];

/** Where a press was made. */
export type Pressed = Pick<MouseEvent, 'target' | 'clientX' | 'clientY'>;

/** May the menu come up for this press, with this text selected? */
export function menuBelongs(press: Pressed, selection: Selection | null): boolean {
  const field = press.target instanceof Element ? press.target.closest('input, textarea') : null;
  if (field instanceof HTMLTextAreaElement) return true;
  if (field instanceof HTMLInputElement) return !NO_TEXT.includes(field.type);
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return false;
  const { clientX: x, clientY: y } = press;
  return [...selection.getRangeAt(0).getClientRects()].some(
    ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom,
  );
}
