// Where the keyboard is: the first field of a form that was just opened takes the focus, since opening it was the wish to
// fill it; and what had it and went leaves it to nobody, which is when it may be given on.
import type { Attachment } from 'svelte/attachments';

export const focusIt: Attachment<HTMLElement> = (element) => {
  element.focus();
};

/** Has nothing the focus, since what had it is gone? */
export function focusIsFree(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
