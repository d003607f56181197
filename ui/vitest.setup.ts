// What every unit test of the page starts with: readable assertions about the document, and a clean one each time.
import '@testing-library/jest-dom/vitest';
import { cleanup } from '@testing-library/svelte';
import { afterEach } from 'vitest';

afterEach(() => cleanup());
