/**
 * The events of a stream, read with `fetch`.
 *
 * The server sends a comment every 15 seconds. An `EventSource` hides comments, so a page with an `EventSource` cannot
 * notice that the network lost the connection without closing it.
 */

import { Problem, open } from './api.js';

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

/** The reason with which a silent connection is aborted. */
export class Silence extends Error {
  /** @param {number} time duration of the silence, in milliseconds */
  constructor(time) {
    super(`no byte for ${time} ms`);
    this.time = time;
  }
}

/**
 * Requests a stream, and reads its events until it ends. The promise fails with the problem of a refused stream or of a
 * lost connection, and with each error that `listener.event` throws.
 * @param {string} path
 * @param {string|undefined} last id of the last known event: the stream continues after it
 * @param {AbortController} control ends the connection; aborted in every case at the end
 * @param {{opened: Function, event: Function}} listener
 */
export async function readEvents(path, last, control, listener) {
  let timer = 0;
  const expectByteWithin = (time) => {
    clearTimeout(timer);
    timer = setTimeout(() => control.abort(new Silence(time)), time);
  };
  expectByteWithin(HEAD_MAX);
  try {
    const headers = { Accept: 'text/event-stream', ...last && { 'Last-Event-ID': last } };
    const answer = await open(path, { headers, cache: 'no-store', signal: control.signal });
    if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      throw new Problem(0, 'The answer is not a stream.');
    }
    expectByteWithin(SILENCE_MAX);
    listener.opened();
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    const parser = new EventParser();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      expectByteWithin(SILENCE_MAX);
      for (const event of parser.take(decoder.decode(part.value, { stream: true }))) listener.event(event);
    }
  } finally {
    clearTimeout(timer);
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
