// Unsent words survive a reload, and a storage that refuses costs nothing else.
import { expect, test } from 'vitest';
import { Drafts } from './drafts.svelte';

test('x21_a_draft_outlives_the_page', () => {
  new Drafts(localStorage).write('ses_1', 'half a thought');
  const later = new Drafts(localStorage);
  expect(later.read('ses_1')).toBe('half a thought');
  expect(later.read('ses_2')).toBe('');
  later.write('ses_1', '');
  expect(localStorage.length).toBe(0);
});

test('a storage that refuses is no trouble', () => {
  const refusing = {
    getItem: () => {
      throw new Error('denied');
    },
    setItem: () => {
      throw new Error('full');
    },
  } as unknown as Storage;
  const drafts = new Drafts(refusing);
  drafts.write('ses_1', 'words');
  expect(drafts.read('ses_1')).toBe('');
  expect(new Drafts(null).read('ses_1')).toBe('');
});

test('takes erased words out of every draft and leaves the rest', () => {
  const drafts = new Drafts(localStorage);
  drafts.write('ses_1', 'with kanarie-7f3e in it');
  drafts.write('ses_2', 'kanarie-7f3e');
  drafts.write('ses_3', 'without');
  drafts.forget('kanarie-7f3e');
  expect(['ses_1', 'ses_2', 'ses_3'].map((id) => drafts.read(id))).toEqual(['with  in it', '', 'without']);
});

test('takes erased words out of the field that is open, whatever is kept of it', () => {
  const drafts = new Drafts(null);
  const told: string[] = [];
  const first = drafts.opened((words) => told.push(`first ${words}`));
  const closed = drafts.opened((words) => told.push(`second ${words}`));
  first();
  drafts.forget('kanarie-7f3e');
  drafts.forget('');
  closed();
  drafts.forget('kanarie-7f3e');
  expect(told).toEqual(['second kanarie-7f3e']);
});
