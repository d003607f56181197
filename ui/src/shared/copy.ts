// Copying words. Where the page is given no clipboard, the words are marked where they stand, so that the usual keys copy them.

/** What came of it. */
export type Copied = 'copied' | 'marked';

/** Copies words, which stand in an element. */
export async function copy(words: string, where: Element | null): Promise<Copied> {
  try {
    await navigator.clipboard.writeText(words);
    return 'copied';
  } catch {
    if (where) getSelection()?.selectAllChildren(where);
    return 'marked';
  }
}
