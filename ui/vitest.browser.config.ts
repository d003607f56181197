// Tests of the built page in a real browser: layout, policy, accessibility, cost. They need Chromium on the machine.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['browser/**/*.test.ts'],
    globalSetup: ['browser/built.ts'],
    maxWorkers: 2,
    // Machines that build at the same time are slow to draw.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
