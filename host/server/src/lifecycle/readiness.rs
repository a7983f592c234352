//! The read model as the observations that decide when dependent resources are sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_api::clusters::Connection;
use kindsight_appcontext::{Deployed, Place, ResourceName};
use kindsight_lifecycle::Readiness;
use kindsight_model::{ClusterName, ContextId};
use kindsight_read_model::ReadModel;
use kindsight_status::{ClusterView, ContextView, Report, ResourceView};

/// The states of the live interpreters.
pub(super) struct ObservedStates {
    read_model: ReadModel,
    begin: Instant,
}

impl ObservedStates {
    pub(super) fn new(read_model: &ReadModel) -> Self {
        Self {
            read_model: read_model.clone(),
            begin: Instant::now(),
        }
    }

    fn view(&self, instance: &ContextId) -> Option<Arc<ContextView>> {
        self.read_model
            .inspect(|snapshot| snapshot.context(instance).cloned())
    }
}

/// Returns whether a current report says that a resource is ready, about the object that was applied last.
fn is_ready(cluster: &ClusterView, resource: &ResourceView, deployed: &Deployed) -> bool {
    let is_current = matches!(cluster.report(), Report::Received { stale: None });
    is_current && resource.verdict.phase.severity() == 0 && is_applied(resource, deployed)
}

/// Returns whether the observed object is the applied one or a later one. An object with another uid has generations of
/// its own.
fn is_applied(resource: &ResourceView, deployed: &Deployed) -> bool {
    let (Some(object), Some(applied)) = (&resource.object, deployed.generation) else {
        return true;
    };
    let is_other = deployed.uid.as_deref() != Some(&*object.uid);
    is_other
        || object
            .generation()
            .is_none_or(|observed| observed >= applied)
}

/// The place of a resource; none if it was not sent.
fn place_of(app: &str, cluster: &ClusterView, resource: &ResourceView) -> Option<Place> {
    let name = ResourceName::new(&resource.name, &resource.gvk.kind);
    name.ok().filter(|_| resource.is_sent()).map(|name| Place {
        app: app.to_owned(),
        cluster: cluster.cluster().clone(),
        resource: name,
    })
}

impl Readiness for ObservedStates {
    fn are_ready(&self, instance: &ContextId, resources: &BTreeMap<Place, Deployed>) -> bool {
        let view = self.view(instance);
        let mut ready = 0;
        for (app, cluster) in view.iter().flat_map(|view| view.placements()) {
            for resource in cluster.resources().iter() {
                let place = place_of(app, cluster, resource);
                let Some(deployed) = place.and_then(|place| resources.get(&place)) else {
                    continue;
                };
                if !is_ready(cluster, resource, deployed) {
                    return false;
                }
                ready += 1;
            }
        }
        ready >= resources.len()
    }

    fn is_reachable(&self, cluster: &ClusterName) -> bool {
        self.read_model.inspect(|snapshot| {
            let mut connections = snapshot.connections();
            let known = connections.find(|(name, _)| *name == cluster);
            known.is_some_and(|(_, view)| view.state == Connection::Connected)
        })
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }
}
