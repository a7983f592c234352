//! The host that records the transitions of a resource, and the last state of a previous owner.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::{ApplicationKey, ClusterView, ConnectionView, ContextView, Report};

use super::{RemoteHost, Remotes};

/// One app of an application in a cluster, as another host showed it last.
pub(crate) struct PreviousPlacement {
    pub(crate) key: ApplicationKey,
    pub(crate) app: Arc<str>,
    pub(crate) view: Arc<ClusterView>,
}

/// The state of a cluster that another host owned before this host.
pub(crate) struct PreviousState {
    pub(crate) connection: ConnectionView,
    pub(crate) placements: Vec<PreviousPlacement>,
}

impl Remotes {
    /// The other host that records the transitions of an application's own state: the recorder of its first cluster.
    /// `None` if this host does.
    pub(crate) fn recorder_of(&self, view: &ContextView) -> Option<&str> {
        if self.hosts.is_empty() {
            return None;
        }
        let clusters = view.clusters().map(ClusterView::cluster);
        clusters.min().and_then(|first| self.recorder_in(first))
    }

    /// The other host that records the transitions of resources in a cluster: its last owner. `None` if this host does.
    ///
    /// A host of an earlier release sends no histories, so the hosts that follow it record its transitions too.
    pub(crate) fn recorder_in(&self, cluster: &ClusterName) -> Option<&str> {
        let own = self.own.get(cluster);
        let own = own.map(|view| (view.owner.fence, true, None));
        let others = self.hosts.iter().filter_map(|(name, host)| {
            let view = host.connections.get(cluster)?;
            let name = host.has_histories.then_some(&**name);
            Some((view.owner.fence, false, name))
        });
        let owner = own.into_iter().chain(others);
        let owner = owner.max_by_key(|(fence, is_own, _)| (*fence, *is_own));
        owner.and_then(|(_, _, name)| name)
    }

    /// The last state of a cluster that another host owned after this host; `None` if there was none.
    pub(crate) fn previous_state_in(&self, cluster: &ClusterName) -> Option<PreviousState> {
        let own = self.own.get(cluster).map_or(0, |view| view.owner.fence);
        let hosts = self.hosts.values();
        let owners = hosts.filter_map(|host| Some((host, host.connections.get(cluster)?)));
        let (host, connection) = owners.max_by_key(|(_, view)| view.owner.fence)?;
        (connection.owner.fence > own).then(|| PreviousState {
            connection: connection.clone(),
            placements: host.received_in(cluster).collect(),
        })
    }
}

impl RemoteHost {
    /// The placements in a cluster that have a report.
    fn received_in(&self, cluster: &ClusterName) -> impl Iterator<Item = PreviousPlacement> {
        let apps = self.views.iter().flat_map(|(key, view)| {
            let apps = view.apps.iter();
            apps.map(move |app| (key, app))
        });
        let placements = apps.flat_map(|(key, app)| {
            let views = app.clusters().iter();
            views.map(move |view| (key, app.name(), view))
        });
        let received = placements.filter(move |(_, _, view)| {
            view.cluster() == cluster && *view.report() != Report::NotYet
        });
        received.map(|(key, app, view)| PreviousPlacement {
            key: key.clone(),
            app: Arc::clone(app),
            view: Arc::clone(view),
        })
    }
}
