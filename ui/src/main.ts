// Where the page starts: mounts the root component into the document.
import { mount } from 'svelte';
import App from './App.svelte';

const target = document.getElementById('app');
if (!target) throw new Error('the page has no #app element to mount into');
mount(App, { target });
