// The gate every message of the page passes before it reaches the app. It runs in a frame of its own, with its own
// origin and its own script, so that a script that got into the page can neither change nor skip it. It lets through
// the four commands of the shell in their exact shape, and nothing else; what they may do is decided in Rust.
'use strict';
(function () {
  const longest = 1024 * 1024;
  const shapes = {
    call: ['command'],
    subscribe: ['topic', 'channel'],
    ack: ['subscription', 'batches'],
    unsubscribe: ['subscription'],
  };
  // The runtime's own way to hand a large channel message to the page.
  const fetchLargeMessage = 'plugin:__TAURI_CHANNEL__|fetch';

  function passes(message) {
    if (message.cmd === fetchLargeMessage) return true;
    if (!Object.prototype.hasOwnProperty.call(shapes, message.cmd)) return false;
    const payload = message.payload;
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return false;
    const shape = shapes[message.cmd];
    return Object.keys(payload).every((key) => shape.includes(key)) && JSON.stringify(payload).length <= longest;
  }

  window.__TAURI_ISOLATION_HOOK__ = function (message) {
    // A refused message goes on as a command that doesn't exist, so that its sender gets an error, not silence.
    return passes(message) ? message : { ...message, cmd: 'refused', payload: {} };
  };
})();
