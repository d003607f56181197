// Was the end of a box that scrolls on the screen? One that doesn't need to scroll shows its end as soon as it is laid out.
import type { Attachment } from 'svelte/attachments';

/** Half a line may stay hidden below the edge. */
const SLACK = 4;

/** Calls back with true once all of the box is, or was, in its own view. */
export function ended(onend: (reached: boolean) => void): Attachment<HTMLElement> {
  return (element) => {
    let reached = false;
    const look = () => {
      // Without a layout there is nothing to measure, so nothing was seen.
      if (element.clientHeight === 0) return;
      reached ||= element.scrollTop + element.clientHeight >= element.scrollHeight - SLACK;
      onend(reached);
    };
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  };
}
