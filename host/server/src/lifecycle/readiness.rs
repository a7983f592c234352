//! The read model as the observations that decide when dependent resources are sent.

use std::time::{Duration, Instant};

use kindsight_api::clusters::Connection;
use kindsight_appcontext::ResourceName;
use kindsight_lifecycle::Readiness;
use kindsight_model::{ClusterName, ContextId};
use kindsight_read_model::ReadModel;
use kindsight_status::{ClusterView, Report, ResourceView};

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

    /// Returns whether every resource of an app that `is_meant` returns true for is ready, in every cluster. False if
    /// there is none.
    fn all_ready(
        &self,
        instance: &ContextId,
        app: &str,
        is_meant: impl Fn(&ClusterName, &ResourceView) -> bool,
    ) -> bool {
        let view = self
            .read_model
            .inspect(|snapshot| snapshot.context(instance).cloned());
        let apps = view.iter().flat_map(|view| &view.apps);
        let clusters = apps
            .filter(|it| *it.name == *app)
            .flat_map(|it| &it.clusters);
        let mut meant = clusters.flat_map(|cluster| {
            let resources = cluster.resources().iter();
            let meant = resources.filter(|it| is_meant(cluster.cluster(), it));
            meant.map(|resource| is_ready(cluster, resource))
        });
        let first = meant.next();
        first == Some(true) && meant.all(|is_ready| is_ready)
    }
}

/// Returns whether a current report says that a resource is ready.
fn is_ready(cluster: &ClusterView, resource: &ResourceView) -> bool {
    let is_current = matches!(cluster.report(), Report::Received { stale: None });
    is_current && resource.verdict.phase.severity() == 0
}

impl Readiness for ObservedStates {
    fn is_app_ready(&self, instance: &ContextId, app: &str) -> bool {
        self.all_ready(instance, app, |_, resource| resource.is_sent())
    }

    fn is_resource_ready(
        &self,
        instance: &ContextId,
        app: &str,
        cluster: &ClusterName,
        resource: &ResourceName,
    ) -> bool {
        self.all_ready(instance, app, |of, it| {
            of == cluster && *it.name == *resource.name() && *it.gvk.kind == *resource.kind()
        })
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
