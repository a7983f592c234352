/** Requests to the REST API, with the rights of the signed-in user. */

/** An answer that is not a success, with the text of its problem document. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The path of an application's routes. */
export function applicationPath(app) {
  const part = encodeURIComponent;
  return `/v2/projects/${part(app.project)}/composite-apps/${part(app['composite-app-name'])}`
    + `/${part(app['composite-app-version'])}/deployment-intent-groups/${part(app.name)}`;
}

/**
 * The time without a byte after which a read counts as lost, in milliseconds: twice the time that the server takes at
 * most for an answer. Without this limit, a read over a connection that the network lost would not end. A large answer
 * may take longer, because each part of the answer counts.
 */
const READ_SILENCE_MAX = 60000;

/** The reason with which a silent connection is aborted. */
export class Silence extends Error {
  /** @param {number} time duration of the silence, in milliseconds */
  constructor(time) {
    super(`no byte for ${time} ms`);
    this.time = time;
  }
}

/** Aborts a connection that is silent for too long. */
export class SilenceLimit {
  /** @param {AbortController} control ends the connection */
  constructor(control) {
    this.control = control;
    this.timer = 0;
  }

  /** Begins the wait for the next byte: this time, in milliseconds. */
  expectByteWithin(time) {
    this.end();
    this.timer = setTimeout(() => this.control.abort(new Silence(time)), time);
  }

  /** The parts of an answer's body as text. Before each part, the connection may be silent for this time. */
  async* parts(answer, time) {
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    this.expectByteWithin(time);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      this.expectByteWithin(time);
      yield decoder.decode(part.value, { stream: true });
    }
  }

  /** Ends the limit. */
  end() {
    clearTimeout(this.timer);
  }
}

/** Reads JSON. */
export async function get(path) {
  const headers = { Accept: 'application/vnd.kindsight+json, application/json' };
  const control = new AbortController();
  const limit = new SilenceLimit(control);
  limit.expectByteWithin(READ_SILENCE_MAX);
  try {
    const response = await open(path, { headers, signal: control.signal });
    return jsonOf(response, await textOf(limit.parts(response, READ_SILENCE_MAX)).catch(unreachable));
  } finally {
    limit.end();
  }
}

/** Sends a command with a JSON body. */
export async function command(method, path, body) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const response = await open(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  return jsonOf(response, await response.text().catch(unreachable));
}

/** Sends a request. The result is the answer, whose body is not read, if the answer is a success. */
export async function open(path, options) {
  const response = await fetch(path, { credentials: 'same-origin', redirect: 'error', ...options }).catch(unreachable);
  if (response.ok) return response;
  const text = await response.text().catch(unreachable);
  const json = jsonOf(response, text);
  if (response.status === 401) window.dispatchEvent(new Event('signed-out'));
  throw new Problem(response.status, json?.detail ? sentence(json) : text || response.statusText);
}

async function textOf(parts) {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

function unreachable() {
  throw new Problem(0, 'The server cannot be reached.');
}

/** The JSON of a body; undefined if the body is none. */
function jsonOf(response, text) {
  return response.headers.get('Content-Type')?.includes('json') ? parse(text) : undefined;
}

/** The text of a problem document, with its single errors. */
function sentence({ detail, problems = [] }) {
  const errors = problems.map((it) => it.detail).filter((it) => it && it !== detail);
  return errors.length > 0 ? `${detail}: ${errors.join('; ')}` : detail;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
