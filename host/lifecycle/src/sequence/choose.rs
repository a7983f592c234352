//! The choice of one cluster of each group of clusters.

use std::collections::BTreeMap;

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::{ClusterName, RsyncStatus};

use super::Run;
use crate::Result;
use crate::readiness::Readiness;
use crate::sender::Sender;

/// The cluster of a group that an app is sent to: the first that has the app already, else the first that resources can
/// be sent to and that answers, else the first that resources can be sent to, else the first.
pub(crate) fn chosen<'c>(
    group: &[&'c ClusterName],
    has_app: impl Fn(&ClusterName) -> bool,
    sender: &dyn Sender,
    readiness: &dyn Readiness,
) -> Option<&'c ClusterName> {
    let can_receive = |cluster: &ClusterName| sender.check(cluster).is_ok();
    let find = |is_wanted: &dyn Fn(&ClusterName) -> bool| {
        let mut clusters = group.iter();
        clusters.find(|cluster| is_wanted(cluster)).copied()
    };
    find(&|cluster| has_app(cluster) && can_receive(cluster))
        .or_else(|| find(&|cluster| can_receive(cluster) && readiness.is_reachable(cluster)))
        .or_else(|| find(&can_receive))
        .or_else(|| group.first().copied())
}

impl Run<'_> {
    /// Takes each app out of all clusters of a group but the chosen one. The order is the order of the content; without a
    /// content, the order of the names.
    pub(super) fn with_chosen_clusters(
        &self,
        snapshot: ContextSnapshot,
    ) -> Result<ContextSnapshot> {
        let mut is_changed = false;
        let deployed = self.of.contexts.deployed(&self.work.status_context)?;
        let context = self.of.contexts.load(&self.work.context)?;
        for app in &snapshot.apps {
            let mut groups: BTreeMap<&str, Vec<&ClusterName>> = BTreeMap::new();
            for cluster in &app.clusters {
                if let Some(group) = &cluster.group {
                    groups.entry(group).or_default().push(&cluster.cluster);
                }
            }
            let order = self.listed(&app.name);
            let has_app = |cluster: &ClusterName| {
                let mut places = deployed.iter();
                places.any(|(place, resource)| {
                    place.app == app.name
                        && place.cluster == *cluster
                        && resource.status != RsyncStatus::Deleted
                })
            };
            for group in groups.values_mut().filter(|group| group.len() > 1) {
                group.sort_by_key(|cluster| order.iter().position(|name| name == cluster));
                let of = self.of;
                let chosen = chosen(group, has_app, &*of.sender, &*of.readiness);
                for other in group.iter().filter(|cluster| Some(**cluster) != chosen) {
                    context.app(&app.name)?.cluster(other)?.delete()?;
                    is_changed = true;
                }
            }
        }
        if is_changed {
            self.snapshot()
        } else {
            Ok(snapshot)
        }
    }

    /// The clusters in the groups of an app, as the content lists them.
    fn listed(&self, app: &str) -> Vec<&ClusterName> {
        let apps = self.content.iter().flat_map(|content| &content.apps);
        let of_app = apps.filter(|listed| listed.name == app);
        of_app.flat_map(|app| app.any_of.iter().flatten()).collect()
    }
}
