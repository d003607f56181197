// Where the page starts: chooses what answers its questions and mounts the root component.
//
// In the window that is Daybook itself. Outside it there is nothing to ask, except in development and in test builds,
// where a scripted stand-in answers.
import { mount } from 'svelte';
import App from './App.svelte';
import Outside from './views/Outside.svelte';
import type { Backend } from './protocol/backend';
import { insideWindow, TauriBackend } from './protocol/tauri';
import './styles/tokens.css';
import './styles/base.css';
import './styles/markdown.css';

async function backend(): Promise<Backend | null> {
  if (insideWindow()) return new TauriBackend();
  if (import.meta.env.MODE === 'production') return null;
  const { demoBackend } = await import('./protocol/fake/demo');
  return demoBackend(new URLSearchParams(location.search));
}

async function start(): Promise<void> {
  const target = document.getElementById('app');
  if (!target) throw new Error('the page has no #app element to mount into');
  const answers = await backend();
  if (answers) mount(App, { target, props: { backend: answers } });
  else mount(Outside, { target });
}

void start();
