/**
 * The events of a stream, read with `fetch`.
 *
 * The server sends a comment every 15 seconds. An `EventSource` hides comments, so a page with an `EventSource` cannot
 * notice that the network lost the connection without closing it.
 */

import { Problem, SilenceLimit, open } from './api.js';

/**
 * The time without a byte after which a stream counts as lost, in milliseconds: three comments of the server. A large
 * event may take longer, because each part of the event counts.
 */
const SILENCE_MAX = 45000;
/**
 * The time for the head of an answer, in milliseconds. It is shorter, because a browser can send a request over several
 * dead connections, one after the other, before it makes a new connection.
 */
const HEAD_MAX = 15000;

/**
 * Requests a stream, and reads its events until it ends. The promise fails with the problem of a refused stream or of a
 * lost connection, and with each error that `listener.event` throws.
 * @param {string} path
 * @param {string|undefined} last id of the last known event: the stream continues after it
 * @param {AbortController} control ends the connection; aborted in every case at the end
 * @param {{opened: Function, event: Function, heard: Function}} listener gets each event, and then notice of the bytes
 *   with which the events arrived: a comment of the server is no event
 */
export async function readEvents(path, last, control, listener) {
  const limit = new SilenceLimit(control);
  limit.expectByteWithin(HEAD_MAX);
  try {
    const headers = { Accept: 'text/event-stream', ...last && { 'Last-Event-ID': last } };
    const answer = await open(path, { headers, cache: 'no-store', signal: control.signal });
    if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      throw new Problem(0, 'The answer is not a stream.');
    }
    listener.opened();
    const parser = new EventParser();
    for await (const part of limit.parts(answer, SILENCE_MAX)) {
      for (const event of parser.take(part)) listener.event(event);
      listener.heard();
    }
  } finally {
    limit.end();
    control.abort();
  }
}

/** Splits text into events. The server writes each field of an event in one line. */
class EventParser {
  constructor() {
    /** The begin of a line whose end has not arrived. */
    this.rest = '';
    this.fields = {};
  }

  /** The events that end in the next part of the text. Each has the fields `event`, `data` and `id`. */
  * take(text) {
    const lines = text.split('\n');
    lines[0] = this.rest + lines[0];
    this.rest = lines.pop();
    for (const line of lines) {
      if (line !== '') {
        const colon = line.indexOf(':');
        // A comment is a field without a name.
        this.fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '');
        continue;
      }
      const event = this.fields;
      this.fields = {};
      if (event.event) yield event;
    }
  }
}
