/**
 * A stream of server-sent events that reconnects, and shows its connection in the header.
 *
 * Only a visible tab has a connection: a browser has at most six to a server, and further tabs would not load.
 */

import { Problem, get } from './api.js';
import { el, fill } from './dom.js';
import { age } from './words.js';

/** Pauses between attempts, in milliseconds: doubled after each failure. */
const PAUSE_MIN = 1000;
const PAUSE_MAX = 30000;

/**
 * Follows a stream until `close` of the result is called. After each `snapshot` and `change`, `listener.snapshot` or
 * `listener.change` gets the data. `listener.ended` gets the problem of a stream that does not continue.
 * @param {string} path path of the stream
 * @param {string} plain path of the same question without a stream, which tells why the stream is refused
 * @param {{snapshot: Function, change: Function, ended: Function}} listener
 */
export function follow(path, plain, listener) {
  const stream = { source: null, timer: 0, pause: PAUSE_MIN, isClosed: false };
  const turn = () => {
    if (stream.isClosed) return;
    disconnect(stream);
    if (!document.hidden) open(stream, path, plain, listener);
  };
  document.addEventListener('visibilitychange', turn);
  turn();
  return {
    close() {
      document.removeEventListener('visibilitychange', turn);
      end(stream);
    },
  };
}

function open(stream, path, plain, listener) {
  const source = new EventSource(path);
  stream.source = source;
  const take = (event, handle) => {
    stream.pause = PAUSE_MIN;
    show('live');
    handle(JSON.parse(event.data));
  };
  source.addEventListener('open', () => show('live'));
  source.addEventListener('snapshot', (event) => take(event, listener.snapshot));
  source.addEventListener('change', (event) => take(event, listener.change));
  source.addEventListener('problem', (event) => {
    const problem = JSON.parse(event.data);
    // A fault of the server passes: the browser connects again.
    if (problem.status >= 500) return;
    end(stream);
    listener.ended(new Problem(problem.status, problem.detail));
  });
  source.addEventListener('error', () => {
    show('away');
    // The browser reconnects by itself, unless the server refused the stream.
    if (source.readyState === EventSource.CLOSED) refused(stream, path, plain, listener);
  });
}

/** Asks for the reason of a refusal, and tries again if it may pass. */
async function refused(stream, path, plain, listener) {
  const { source } = stream;
  let problem;
  try {
    await get(plain);
  } catch (error) {
    problem = error;
  }
  // Meanwhile the tab was hidden, or its view was closed.
  if (stream.source !== source) return;
  if (problem?.status >= 400 && problem.status < 500 && problem.status !== 429) {
    end(stream);
    listener.ended(problem);
    return;
  }
  stream.timer = setTimeout(() => open(stream, path, plain, listener), stream.pause);
  stream.pause = Math.min(2 * stream.pause, PAUSE_MAX);
}

function end(stream) {
  stream.isClosed = true;
  disconnect(stream);
}

/** Closes the connection and forgets a planned attempt. */
function disconnect(stream) {
  clearTimeout(stream.timer);
  stream.source?.close();
  stream.source = null;
  show(null);
}

/** The state of the stream in the header: `live`, `away`, or none. The time of an outage is that of its first error. */
let shown = null;
function show(state) {
  if (state === shown) return;
  shown = state;
  const place = document.getElementById('connection');
  place.className = state ?? '';
  if (state === 'live') fill(place, el('span', { 'aria-hidden': 'true', class: 'dot' }), 'live');
  else if (state === 'away') {
    fill(place, el('span', { 'aria-hidden': 'true' }, '⚠ '), 'disconnected for ', age(new Date().toISOString()),
      '; this page shows the last known state');
  } else fill(place);
}
