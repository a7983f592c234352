//! The knowledge of one cluster over all sessions.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_cluster_index::{ApiKind, ClusterIndex, ScopeId};
use kindsight_model::{AuditCounts, DeploymentId, Removal};

use super::decode::Item;
use super::deployments::{Deployments, ShownDeployments};
use super::kind_watch::Refusals;
use crate::remote_inventories::EnteredCluster;

/// The knowledge of one cluster. It outlives sessions. A cluster with another identity begins with an empty value.
#[derive(Default)]
pub(super) struct Known {
    /// The uid of its namespace `kube-system`; none if it was never read.
    uid: Option<Arc<str>>,
    pub(super) index: ClusterIndex,
    pub(super) deployments: Deployments,
    /// The sources of the last reports on recorded deployments.
    pub(super) shown: ShownDeployments,
    /// The reasons why the reports of monitors are not used.
    pub(super) faults: HashMap<DeploymentId, Vec<Arc<str>>>,
    /// Refusals of Kinds that a repeated request confirmed.
    pub(super) refusals: Refusals,
    /// True once a session listed every Kind: reports do not wait for the lists of later sessions.
    pub(super) is_listed: bool,
    /// The way to pass on inventories; none before the first session.
    pub(super) inventories: Option<EnteredCluster>,
    /// Number of failures of watches.
    pub(super) watch_failures: u64,
    /// Results of the audits.
    pub(super) audit: AuditCounts,
}

impl Known {
    /// Returns whether this is the knowledge of a cluster with another uid.
    pub(super) fn is_other_cluster(&self, uid: &Arc<str>) -> bool {
        self.uid.as_ref().is_some_and(|known| known != uid)
    }

    /// Sets the uid of the cluster.
    pub(super) fn identify(&mut self, uid: &Arc<str>) {
        self.uid = Some(Arc::clone(uid));
    }

    /// The Kinds with known objects. The index has no reports of monitors.
    pub(super) fn held_kinds(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        let reports = self.deployments.states.scopes().into_iter();
        let index = &self.index;
        let reports = reports.filter_map(|scope| index.kind_of(scope));
        index.held_kinds().chain(reports)
    }

    /// Takes an object of a pass over a Kind.
    pub(super) fn init_apply(&mut self, scope: ScopeId, item: Item) {
        match item {
            Item::BundleState(read) => {
                let pass = self.index.pass(scope);
                self.deployments.states.apply(scope, pass, read);
            }
            Item::Object(object) => self.index.init_apply(scope, object),
        }
    }

    /// Ends a pass over a Kind, and removes the objects that it did not contain. Returns false if the pass contained
    /// an item without a readable identity.
    pub(super) fn init_done(&mut self, scope: ScopeId, removal: Removal) -> bool {
        let pass = self.index.pass(scope);
        self.deployments.states.sweep(scope, pass);
        self.index.init_done(scope, removal)
    }

    /// Takes an object of the list of a part. Reports of monitors are never listed in parts.
    pub(super) fn complete(&mut self, scope: ScopeId, item: Item) {
        if let Item::Object(object) = item {
            self.index.complete(scope, object);
        }
    }

    /// Takes an object that was created or changed.
    pub(super) fn apply(&mut self, scope: ScopeId, item: Item) {
        match item {
            Item::BundleState(read) => {
                let pass = self.index.pass(scope);
                self.deployments.states.apply(scope, pass, read);
            }
            Item::Object(object) => self.index.apply(scope, object),
        }
    }

    /// Removes an object.
    pub(super) fn delete(&mut self, scope: ScopeId, item: &Item, removal: Removal) {
        match item {
            Item::BundleState(read) => self.deployments.states.remove(scope, read),
            Item::Object(object) => self.index.delete(scope, object, removal),
        }
    }
}
