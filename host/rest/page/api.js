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
 * The time for a complete answer to a read, in milliseconds: twice the time that the server takes at most. Without this
 * limit, a read over a connection that the network lost would not end.
 */
const READ_MAX = 60000;

/** Reads JSON. */
export function get(path) {
  const headers = { Accept: 'application/vnd.kindsight+json, application/json' };
  return send(path, { headers, signal: AbortSignal.timeout(READ_MAX) });
}

/** Sends a command with a JSON body. */
export function command(method, path, body) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return send(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
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

async function send(path, options) {
  const response = await open(path, options);
  return jsonOf(response, await response.text().catch(unreachable));
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
