// The page's rules. Besides the usual ones: the floors of the page may only be entered downwards
// (protocol → state → shared → features → views), no inline style attributes (the window's policy blocks them),
// no raw HTML except where it is sanitised, and no escape into `any`.
import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

/** Forbids imports that go up, or sideways between features. */
function floor(files, forbidden, message) {
  return {
    files,
    rules: { 'no-restricted-imports': ['error', { patterns: [{ group: forbidden, message }] }] },
  };
}

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/protocol/generated'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      'no-undef': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { extraFileExtensions: ['.svelte'], parser: ts.parser, svelteConfig } },
    rules: {
      'svelte/no-at-html-tags': 'error',
      'svelte/no-inline-styles': ['error', { allowTransitions: true }],
      'svelte/button-has-type': 'error',
      'svelte/no-target-blank': 'error',
    },
  },
  floor(
    ['src/protocol/**'],
    ['**/state/**', '**/shared/**', '**/features/**', '**/views/**'],
    'protocol is the lowest floor: it imports nothing above it.',
  ),
  floor(
    ['src/state/**'],
    ['**/shared/**', '**/features/**', '**/views/**'],
    'state folds notifications; it knows no component.',
  ),
  floor(
    ['src/shared/**'],
    ['**/protocol/**', '**/state/**', '**/features/**', '**/views/**'],
    'shared imports nothing of ours.',
  ),
  floor(
    ['src/features/**'],
    ['**/features/**', '**/views/**'],
    'a feature does not import another feature or a view.',
  ),
);
