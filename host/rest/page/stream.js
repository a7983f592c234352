/** A stream of server-sent events that reconnects, and shows its connection in the header. */

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
  open(stream, path, plain, listener);
  return {
    close() {
      stream.isClosed = true;
      stream.source?.close();
      clearTimeout(stream.timer);
      show(null);
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
    end(stream);
    const problem = JSON.parse(event.data);
    listener.ended(new Problem(problem.status, problem.detail));
  });
  source.addEventListener('error', () => {
    show('away');
    // The browser reconnects by itself, unless the server refused the stream.
    if (source.readyState === EventSource.CLOSED && !stream.isClosed) refused(stream, path, plain, listener);
  });
}

/** Asks for the reason of a refusal, and tries again if it may pass. */
async function refused(stream, path, plain, listener) {
  try {
    await get(plain);
  } catch (problem) {
    if (stream.isClosed) return;
    if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
      end(stream);
      listener.ended(problem);
      return;
    }
  }
  stream.timer = setTimeout(() => { if (!stream.isClosed) open(stream, path, plain, listener); }, stream.pause);
  stream.pause = Math.min(2 * stream.pause, PAUSE_MAX);
}

function end(stream) {
  stream.isClosed = true;
  stream.source.close();
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
