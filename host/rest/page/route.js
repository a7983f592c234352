/** The place of the page in its URL: `#/view/part/part?name=value`. */

import { resourceKey } from './merge.js';

/** The current view with its parts and its parameters. */
export function current() {
  const [path, query] = window.location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [view, ...parts] = path.split('/').map(decode);
  return { view: view || 'applications', parts, query: new URLSearchParams(query ?? '') };
}

/** The link to a view. */
export function link(view, parts = [], query = {}) {
  const path = [view, ...parts].map(encodeURIComponent).join('/');
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value.length !== 0);
  const parameters = new URLSearchParams();
  for (const [key, value] of set) for (const item of [value].flat()) parameters.append(key, item);
  const text = parameters.toString();
  return `#/${path}${text && `?${text}`}`;
}

/** The link to an application. */
export function applicationLink(app, query) {
  const parts = [app.project, app['composite-app-name'], app['composite-app-version'], app.name];
  return link('application', parts, query);
}

/** The link to the details of a resource of an application. A message in a list is cut; the details have all of it. */
export function resourceLink(app, { app: part, cluster, ...resource }) {
  return applicationLink(app, { r: JSON.stringify([part, cluster, resourceKey(resource)]) });
}

/** Changes the parameters in the URL without another entry in the history of the browser, and without another view. */
export function replaceQuery(query) {
  const { view, parts } = current();
  window.history.replaceState(null, '', link(view, parts, query));
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
