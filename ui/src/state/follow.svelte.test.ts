// Following what is written: lost by scrolling up, regained at the end, untouched by growth.
import { expect, test } from 'vitest';
import { Follow } from './follow.svelte';

test('growth alone never stops following, scrolling up does, reaching the end resumes', () => {
  const steps: [string, number, number, boolean][] = [
    ['begins at the end', 600, 1000, true],
    ['grows below', 600, 1500, true],
    ['the page scrolled after it', 1100, 1500, true],
    ['the person scrolls up', 700, 1500, false],
    ['more comes', 700, 2500, false],
    ['scrolls down a little', 900, 2500, false],
    ['reaches the end', 2100, 2500, true],
    ['content shrinks and pulls the offset along', 1000, 1400, true],
  ];
  const follow = new Follow();
  for (const [name, offset, total, expected] of steps) {
    follow.moved({ offset, total, view: 400 });
    expect(follow.following, name).toBe(expected);
  }
});

test('an offset that slips while the list is measured anew is nobody’s doing, by hand it is', () => {
  for (const [hand, following] of [
    [false, true],
    [true, false],
  ] as const) {
    const follow = new Follow();
    follow.placed({ offset: 65, view: 642, total: 707 });
    follow.moved({ offset: 0, view: 642, total: 719 }, hand);
    expect(follow.following).toBe(following);
  }
});

test('what the page moves itself never stops following', () => {
  const follow = new Follow();
  follow.moved({ offset: 600, view: 400, total: 1000 });
  const pinned = { offset: 500, view: 400, total: 1400 };
  follow.placed(pinned);
  follow.moved(pinned);
  expect(follow.following).toBe(true);
});

test('jumping to the latest follows again', () => {
  const follow = new Follow();
  follow.moved({ offset: 600, view: 400, total: 1000 });
  follow.moved({ offset: 0, view: 400, total: 1000 });
  expect(follow.following).toBe(false);
  follow.jump();
  expect(follow.following).toBe(true);
});
