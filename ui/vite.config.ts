// The page's build and its unit tests. The window loads the built files under a policy without inline scripts or
// styles, so nothing here may produce either: no inlined assets, no preload helper, styles in files of their own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  clearScreen: false,
  server: { port: 5199, strictPort: true, host: '127.0.0.1' },
  // In tests Svelte must be resolved as the browser resolves it, or components render on the server side.
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: {
    target: ['es2022', 'safari16'],
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts', 'src/**/*.svelte.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    restoreMocks: true,
  },
}));
