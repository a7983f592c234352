//! Changes of answers. A stream sends the first answer in full, and then only changes.
//!
//! [`change`] compares two answers to the same query. [`apply`] applies the change to the earlier answer. The
//! result equals the later answer except for the order of apps, clusters and resources: new ones are last.

mod apply;
mod list;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use kindsight_api::status::{App, Cluster, Resource, Status};
use kindsight_api::watch::{Gone, GoneCluster, GoneResource, StatusChange};
use kindsight_model::Gvk;

use crate::answer::Resources;

pub use apply::apply;

type AnsweredApp<'a> = App<'a, Resources<'a>>;
type AnsweredCluster<'a> = Cluster<'a, Resources<'a>>;

/// The change between two answers to the same query; `None` if they are equal.
///
/// The cost grows with the resources of the clusters that changed: an app in an unchanged cluster shares its
/// resources with the previous answer.
pub fn change<'a>(
    before: &'a Status<'a, Resources<'a>>,
    after: &'a Status<'a, Resources<'a>>,
) -> Option<StatusChange<'a>> {
    let mut gone = Vec::new();
    let apps = changed_apps(&before.apps, &after.apps, &mut gone);
    let is_same = apps.is_empty() && gone.is_empty() && is_same_head(before, after);
    (!is_same).then(|| StatusChange {
        gone,
        status: with_apps(after, apps),
    })
}

/// Returns whether everything except the apps is equal.
fn is_same_head<R>(before: &Status<'_, R>, after: &Status<'_, R>) -> bool {
    before.app == after.app
        && before.name == after.name
        && before.state == after.state
        && before.status == after.status
        && before.message == after.message
        && before.store == after.store
        && before.state_store == after.state_store
        && before.rsync_status == after.rsync_status
        && before.cluster_status == after.cluster_status
        && before.readiness == after.readiness
        && before.faults == after.faults
}

/// The same status with other apps.
fn with_apps<'a, R>(status: &Status<'a, R>, apps: Vec<App<'a>>) -> Status<'a> {
    Status {
        app: status.app.clone(),
        logical_cloud: status.logical_cloud.clone(),
        name: status.name.clone(),
        state: status.state.clone(),
        status: status.status.clone(),
        message: status.message.clone(),
        store: status.store.clone(),
        state_store: status.state_store.clone(),
        rsync_status: status.rsync_status.clone(),
        cluster_status: status.cluster_status.clone(),
        readiness: status.readiness.clone(),
        faults: status.faults.clone(),
        apps,
    }
}

fn changed_apps<'a>(
    before: &'a [AnsweredApp<'a>],
    after: &'a [AnsweredApp<'a>],
    gone: &mut Vec<Gone<'a>>,
) -> Vec<App<'a>> {
    let known: HashMap<&str, &AnsweredApp<'_>> =
        before.iter().map(|app| (&*app.name, app)).collect();
    let there: HashSet<&str> = after.iter().map(|app| &*app.name).collect();
    let left = before.iter().filter(|app| !there.contains(&*app.name));
    gone.extend(left.map(|app| Gone {
        app: app.name.clone(),
        cluster: None,
        resource: None,
    }));
    let changed = after.iter().filter_map(|app| {
        let known = known.get(&*app.name);
        let clusters = known.map_or(&[][..], |it| &it.clusters);
        let clusters = changed_clusters(&app.name, clusters, &app.clusters, gone);
        let is_same =
            clusters.is_empty() && known.is_some_and(|known| known.readiness == app.readiness);
        (!is_same).then(|| App {
            name: app.name.clone(),
            readiness: app.readiness.clone(),
            clusters,
        })
    });
    changed.collect()
}

fn changed_clusters<'a>(
    app: &'a str,
    before: &'a [AnsweredCluster<'a>],
    after: &'a [AnsweredCluster<'a>],
    gone: &mut Vec<Gone<'a>>,
) -> Vec<Cluster<'a>> {
    let known: HashMap<_, _> = before
        .iter()
        .map(|cluster| (place(cluster), cluster))
        .collect();
    let there: HashSet<_> = after.iter().map(place).collect();
    let left = before
        .iter()
        .filter(|cluster| !there.contains(&place(cluster)));
    gone.extend(left.map(|cluster| of_cluster(app, cluster, None)));
    let changed = after.iter().filter_map(|cluster| {
        let Some(known) = known.get(&place(cluster)) else {
            return Some(with_resources(cluster, cluster.resources.iter().collect()));
        };
        let resources = changed_resources(app, known, cluster, gone);
        let is_same = resources.is_empty()
            && known.readiness == cluster.readiness
            && known.faults == cluster.faults;
        (!is_same).then(|| with_resources(cluster, resources))
    });
    changed.collect()
}

/// The resources that changed or are new. If several resources have the same identity (with `type=rsync`,
/// resources of one name in several namespaces), the change removes the cluster and adds it again.
fn changed_resources<'a>(
    app: &'a str,
    before: &'a AnsweredCluster<'a>,
    after: &'a AnsweredCluster<'a>,
    gone: &mut Vec<Gone<'a>>,
) -> Vec<Resource<'a>> {
    if before.resources.is_same(&after.resources) {
        return Vec::new();
    }
    if let Some(changed) = after.resources.changed_since(&before.resources) {
        return changed;
    }
    let known: Vec<Resource<'a>> = before.resources.iter().collect();
    let now: Vec<Resource<'a>> = after.resources.iter().collect();
    let by_identity: HashMap<_, _> = known
        .iter()
        .map(|resource| (identity(resource), resource))
        .collect();
    let there: HashSet<_> = now.iter().map(identity).collect();
    if by_identity.len() < known.len() || there.len() < now.len() {
        if known == now {
            return Vec::new();
        }
        gone.push(of_cluster(app, before, None));
        return now;
    }
    let left = known
        .iter()
        .filter(|resource| !there.contains(&identity(resource)));
    gone.extend(left.map(|resource| of_cluster(app, before, Some(resource))));
    let is_changed =
        |resource: &&Resource<'a>| by_identity.get(&identity(resource)) != Some(resource);
    now.iter().filter(is_changed).cloned().collect()
}

fn with_resources<'a, R>(cluster: &Cluster<'a, R>, resources: Vec<Resource<'a>>) -> Cluster<'a> {
    Cluster {
        cluster_provider: cluster.cluster_provider.clone(),
        cluster: cluster.cluster.clone(),
        readiness: cluster.readiness.clone(),
        faults: cluster.faults.clone(),
        resources,
    }
}

fn of_cluster<'a, R>(
    app: &'a str,
    cluster: &Cluster<'a, R>,
    resource: Option<&Resource<'a>>,
) -> Gone<'a> {
    Gone {
        app: Cow::Borrowed(app),
        cluster: Some(GoneCluster {
            cluster_provider: cluster.cluster_provider.clone(),
            cluster: cluster.cluster.clone(),
        }),
        resource: resource.map(|resource| GoneResource {
            gvk: resource.gvk.clone(),
            name: resource.name.clone(),
            namespace: resource.namespace.clone(),
        }),
    }
}

/// Provider and name of a cluster.
fn place<'c, R>(cluster: &'c Cluster<'_, R>) -> (&'c str, &'c str) {
    (&cluster.cluster_provider, &cluster.cluster)
}

/// Identity of a resource in an app and a cluster.
fn identity<'r>(resource: &'r Resource<'_>) -> (&'r Gvk, &'r str, &'r str) {
    (&resource.gvk, &resource.namespace, &resource.name)
}

#[cfg(test)]
mod tests;
