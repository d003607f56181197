// Runes everywhere: no component may fall back to the older implicit reactivity.
import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess(),
  compilerOptions: { runes: true },
  vitePlugin: {
    // Libraries choose for themselves; only our own files are held to runes.
    dynamicCompileOptions({ filename }) {
      return filename.includes('node_modules') ? { runes: undefined } : undefined;
    },
  },
};
