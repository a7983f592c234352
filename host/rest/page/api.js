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

/** Reads JSON. */
export function get(path) {
  return send(path, { headers: { Accept: 'application/vnd.kindsight+json, application/json' } });
}

/** Sends a command with a JSON body. */
export function command(method, path, body) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return send(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: 'same-origin', redirect: 'error', ...options });
  } catch {
    throw new Problem(0, 'The server cannot be reached.');
  }
  const text = await response.text();
  const json = response.headers.get('Content-Type')?.includes('json') ? parse(text) : undefined;
  if (response.ok) return json;
  if (response.status === 401) window.dispatchEvent(new Event('signed-out'));
  throw new Problem(response.status, json?.detail ? sentence(json) : text || response.statusText);
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
