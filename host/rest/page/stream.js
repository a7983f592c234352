/**
 * A stream of server-sent events that reconnects, and shows its connection in the header.
 *
 * Only a visible tab has a connection: a browser has at most six to a server, and further tabs would not load.
 */

import { Problem, Silence } from './api.js';
import { el, fill } from './dom.js';
import { readEvents } from './events.js';
import { age } from './words.js';

/** Pauses between attempts, in milliseconds: doubled after each failure. */
const PAUSE_MIN = 1000;
const PAUSE_MAX = 10000;

/**
 * Follows a stream until `close` of the result is called. After each `snapshot` and `change`, `listener.snapshot` or
 * `listener.change` gets the data. If one of them throws an error, the stream begins again with a snapshot.
 * `listener.ended` gets the problem of a stream that does not continue.
 * @param {string} path path of the stream
 * @param {{snapshot: Function, change: Function, ended: Function}} listener
 */
export function follow(path, listener) {
  const stream = { path, listener, control: null, timer: 0, pause: PAUSE_MIN, last: undefined, isClosed: false };
  const turn = () => {
    if (stream.isClosed) return;
    disconnect(stream);
    if (!document.hidden) connect(stream);
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

/** Reads events until the connection ends. Then connects again, if the reason of the end may pass. */
async function connect(stream) {
  const control = new AbortController();
  stream.control = control;
  let problem;
  try {
    await readEvents(stream.path, stream.last, control, {
      opened: () => show('live'),
      // A view that is closed takes no further events.
      event: (event) => { if (stream.control === control) take(stream, event); },
      // Without a known event, a stream works again only with its snapshot.
      heard: () => { if (stream.last !== undefined) stream.pause = PAUSE_MIN; },
    });
  } catch (error) {
    problem = error;
  }
  // Meanwhile the tab was hidden, or its view was closed.
  if (stream.control !== control) return;
  if (problem?.status >= 400 && problem.status < 500 && problem.status !== 429) {
    end(stream);
    stream.listener.ended(problem);
    return;
  }
  const { reason } = control.signal;
  show('away', reason instanceof Silence ? reason.time : 0);
  stream.timer = setTimeout(() => connect(stream), stream.pause);
  stream.pause = Math.min(2 * stream.pause, PAUSE_MAX);
}

function take(stream, { event, data, id }) {
  if (event === 'problem') {
    const { status, detail } = JSON.parse(data);
    throw new Problem(status, detail);
  }
  // Another event is of a newer server.
  if (event !== 'snapshot' && event !== 'change') return;
  try {
    stream.listener[event](JSON.parse(data));
    stream.last = id;
  } catch (error) {
    // The view lacks this event. Further changes would not make up for it, but a snapshot does.
    stream.last = undefined;
    reportError(error);
    throw error;
  }
}

function end(stream) {
  stream.isClosed = true;
  disconnect(stream);
}

/** Closes the connection and forgets a planned attempt. */
function disconnect(stream) {
  clearTimeout(stream.timer);
  stream.control?.abort();
  stream.control = null;
  show(null);
}

/** The shown state of the stream. */
let shown = null;

/**
 * Shows the state of the stream in the header: `live`, `away`, or none. An outage has the time since its begin.
 * @param {string|null} state
 * @param {number} [silence] time between the begin of the outage and its discovery, in milliseconds
 */
function show(state, silence = 0) {
  if (state === shown) return;
  shown = state;
  const place = document.getElementById('connection');
  place.className = state ?? '';
  if (state === 'live') fill(place, el('span', { 'aria-hidden': 'true', class: 'dot' }), 'live');
  else if (state === 'away') {
    const since = new Date(Date.now() - silence).toISOString();
    fill(place, el('span', { 'aria-hidden': 'true' }, '⚠ '), 'disconnected for ', age(since),
      '; this page shows the last known state');
  } else fill(place);
}
