// Does the conversation follow what is being written?
//
// It follows until the person scrolls up, and again once they are back at the end. Growth alone never counts as
// scrolling, so a long answer can't shake the person off or pull them back; nor does a list that measures itself anew
// and lets the offset slip.

/** How near to the end still counts as the end, in pixels. */
const NEAR = 48;

export interface Place {
  offset: number;
  view: number;
  total: number;
}

export class Follow {
  following = $state(true);
  #last: Place = { offset: 0, view: 0, total: 0 };

  /** The list scrolled or was measured; `hand`: right after the person turned a wheel, touched or pressed something. */
  moved(place: Place, hand = false): void {
    const before = this.#last;
    this.#last = place;
    const atEnd = place.total - place.view - place.offset <= NEAR;
    if (atEnd) {
      this.following = true;
      return;
    }
    // Up on purpose: the offset went down although the content stayed as it was, or by hand although it didn't shrink.
    const up = place.offset < before.offset - 1;
    if (up && (place.total === before.total || (hand && place.total > before.total))) this.following = false;
  }

  /** The page itself moved the list, which says nothing about the person. */
  placed(place: Place): void {
    this.#last = place;
  }

  /** The person wants to see the newest. */
  jump(): void {
    this.following = true;
  }
}
