// Is this key press part of an input method's composition?
//
// Three kinds of browsers: most report the Enter that commits with `isComposing`; WebKit ends the composition first and
// reports that Enter with code 229 and `isComposing` already false; and some input methods on WebKitGTK report neither.
// So a press counts as composing when it says so, when its code is 229, or when it is the first press straight after a
// composition ended. The next plain Enter is the person's.

/** How soon after a composition's end a press still belongs to it: far less than the gap between two presses. */
const SAME_PRESS_MS = 30;

/** What is read of a key event. */
export interface Press {
  readonly isComposing: boolean;
  readonly keyCode: number;
  readonly timeStamp: number;
}

/** Says whether a press belongs to a composition, by the event alone. */
export function isComposing(press: Press): boolean {
  return press.isComposing || press.keyCode === 229;
}

/** Follows one text field's compositions. */
export class Composing {
  #endedAt: number | null = null;

  ended(timeStamp: number): void {
    this.#endedAt = timeStamp;
  }

  /** A key came up or text went in: whatever comes down next is a new press. */
  settled(): void {
    this.#endedAt = null;
  }

  /** Does this press belong to a composition? Asked once for each press. */
  owns(press: Press): boolean {
    const endedAt = this.#endedAt;
    this.#endedAt = null;
    if (isComposing(press)) return true;
    return endedAt !== null && press.timeStamp - endedAt < SAME_PRESS_MS;
  }
}
