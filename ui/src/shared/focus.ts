// The first field of a form that was just opened takes the focus: opening it was the wish to fill it.
import type { Attachment } from 'svelte/attachments';

export const focusIt: Attachment<HTMLElement> = (element) => {
  element.focus();
};
