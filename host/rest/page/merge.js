/** Changes of a stream, applied to the answer that the page shows. */

/** Applies a change to a list of applications in place. */
export function mergeApplications(list, change) {
  const same = (a) => (b) => identity(a) === identity(b);
  for (const gone of change.gone ?? []) remove(list.applications, same(gone));
  for (const app of change.applications ?? []) put(list.applications, same(app), app);
  list.store = change.store;
  list['state-store'] = change['state-store'];
}

/** The identity of an application. */
export function identity(app) {
  return JSON.stringify([app.project, app['composite-app-name'], app['composite-app-version'], app.name]);
}

/** Applies a change to a status. Returns the changed status. */
export function mergeStatus(old, { gone = [], status }) {
  const apps = old.apps ?? [];
  for (const part of gone) removePart(apps, part);
  for (const app of status.apps ?? []) {
    const known = apps.find((other) => other.name === app.name);
    put(apps, (other) => other.name === app.name, { ...app, clusters: mergeClusters(known?.clusters ?? [], app.clusters) });
  }
  return { ...status, apps };
}

/** The identity of a resource within an app of a cluster. */
export function resourceKey(resource) {
  const { Group, Kind } = resource.GVK;
  return JSON.stringify([Group, Kind, resource.namespace ?? '', resource.name]);
}

function mergeClusters(old, changed) {
  for (const cluster of changed) {
    const same = (other) => isSameCluster(other, cluster);
    const known = old.find(same);
    const resources = mergeResources(known?.resources ?? [], cluster.resources);
    put(old, same, { ...cluster, resources });
  }
  return old;
}

function mergeResources(old, changed) {
  const places = new Map(old.map((resource, index) => [resourceKey(resource), index]));
  for (const resource of changed) {
    const place = places.get(resourceKey(resource)) ?? old.length;
    places.set(resourceKey(resource), place);
    old[place] = resource;
  }
  return old;
}

function removePart(apps, { app: name, cluster, resource }) {
  const app = apps.find((other) => other.name === name);
  if (!cluster) return remove(apps, (other) => other === app);
  const known = app?.clusters.find((other) => isSameCluster(other, cluster));
  if (!resource) return remove(app?.clusters ?? [], (other) => other === known);
  return remove(known?.resources ?? [], (other) => resourceKey(other) === resourceKey(resource));
}

function isSameCluster(a, b) {
  return a.cluster === b.cluster && a['cluster-provider'] === b['cluster-provider'];
}

function remove(list, matches) {
  const index = list.findIndex(matches);
  if (index >= 0) list.splice(index, 1);
}

function put(list, matches, item) {
  const index = list.findIndex(matches);
  if (index >= 0) list[index] = item;
  else list.push(item);
}
