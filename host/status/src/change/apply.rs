//! Applies a change to the previous answer.

use std::collections::HashMap;

use kindsight_api::status::{App, Cluster, Resource, Status};
use kindsight_api::watch::{Gone, StatusChange};

use super::{identity, place};

/// Turns the answer before a change into the answer after it, except for the order of apps, clusters and
/// resources: new ones are last.
pub fn apply<'a>(status: &mut Status<'a>, change: StatusChange<'a>) {
    for gone in &change.gone {
        remove(status, gone);
    }
    let mut apps = std::mem::take(&mut status.apps);
    let Status { apps: changed, .. } = &change.status;
    if !changed.is_empty() {
        put_apps(&mut apps, changed);
    }
    *status = Status {
        apps,
        ..change.status
    };
}

fn remove(status: &mut Status<'_>, gone: &Gone<'_>) {
    let Some(of) = &gone.cluster else {
        return status.apps.retain(|app| app.name != gone.app);
    };
    let of = (&*of.cluster_provider, &*of.cluster);
    let apps = status.apps.iter_mut().filter(|app| app.name == gone.app);
    for app in apps {
        let Some(resource) = &gone.resource else {
            app.clusters.retain(|cluster| place(cluster) != of);
            continue;
        };
        let is_gone = |known: &Resource<'_>| {
            identity(known) == (&*resource.gvk, &*resource.namespace, &*resource.name)
        };
        let clusters = app.clusters.iter_mut();
        for cluster in clusters.filter(|cluster| place(cluster) == of) {
            cluster.resources.retain(|known| !is_gone(known));
        }
    }
}

fn put_apps<'a>(apps: &mut Vec<App<'a>>, changed: &[App<'a>]) {
    for app in changed {
        match apps.iter_mut().find(|known| known.name == app.name) {
            None => apps.push(app.clone()),
            Some(known) => {
                known.readiness = app.readiness.clone();
                put_clusters(&mut known.clusters, &app.clusters);
            }
        }
    }
}

fn put_clusters<'a>(clusters: &mut Vec<Cluster<'a>>, changed: &[Cluster<'a>]) {
    for cluster in changed {
        let mut all = clusters.iter_mut();
        match all.find(|known| place(known) == place(cluster)) {
            None => clusters.push(cluster.clone()),
            Some(known) => {
                known.readiness = cluster.readiness.clone();
                known.faults.clone_from(&cluster.faults);
                put_resources(&mut known.resources, &cluster.resources);
            }
        }
    }
}

fn put_resources<'a>(resources: &mut Vec<Resource<'a>>, changed: &[Resource<'a>]) {
    let positions: HashMap<_, usize> = resources
        .iter()
        .enumerate()
        .map(|(position, resource)| (identity(resource), position))
        .collect();
    let known = changed.iter();
    let known = known.map(|resource| positions.get(&identity(resource)).copied());
    let known: Vec<Option<usize>> = known.collect();
    for (resource, position) in changed.iter().zip(known) {
        match position.and_then(|position| resources.get_mut(position)) {
            Some(known) => *known = resource.clone(),
            None => resources.push(resource.clone()),
        }
    }
}
