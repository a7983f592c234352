//! Deployments that `AppContext`s send to the cluster: their objects, by label and by owner.

use std::sync::Arc;

use kindsight_model::{DeploymentId, Removal};

use super::{ClusterIndex, GroupId};
use crate::index::ScopeId;

impl ClusterIndex {
    /// Sets whether every deployment that a label names counts as recorded and is reported from its objects. A session
    /// calls it once, at its begin: objects of earlier sessions keep their places until they change.
    pub fn set_labels_record(&mut self, are_labels_records: bool) {
        self.are_labels_records = are_labels_records;
    }

    /// Notes that a deployment is recorded: its objects belong to it, and no other rule applies to them.
    pub fn record(&mut self, deployment: &DeploymentId) {
        if !self.deployments.contains_key(deployment) {
            self.deployments.insert(deployment.clone(), false);
            self.place_labelled(deployment);
        }
    }

    /// Notes whether kindsight reports a recorded deployment from its objects. If so, their bodies are read.
    pub fn set_direct(&mut self, deployment: &DeploymentId, is_direct: bool) {
        let before = self.deployments.insert(deployment.clone(), is_direct);
        if before != Some(is_direct) {
            self.place_labelled(deployment);
        }
    }

    /// Forgets a deployment: its objects are found by other rules.
    pub fn forget(&mut self, deployment: &DeploymentId) {
        if self.deployments.remove(deployment).is_some() {
            self.place_labelled(deployment);
        }
    }

    /// Requests a report on a deployment from its objects, even if the objects are the same or there are none.
    pub fn note_direct(&mut self, deployment: &DeploymentId) {
        let id = GroupId::Deployment(deployment.clone());
        self.groups.note_again(Arc::new(id));
    }

    /// Requests a report on each deployment that is reported from its objects.
    pub fn note_all_direct(&mut self) {
        let direct = self.deployments.iter().filter(|(_, is_direct)| **is_direct);
        let direct: Vec<DeploymentId> = direct.map(|(id, _)| id.clone()).collect();
        for deployment in &direct {
            self.note_direct(deployment);
        }
    }

    /// Watches and names of the objects with the label of a deployment.
    pub fn labelled_with(
        &self,
        deployment: &DeploymentId,
    ) -> impl Iterator<Item = (ScopeId, &str)> {
        let ids = self.labelled.get(deployment).into_iter().flatten();
        let entries = ids.filter_map(|id| self.objects.get(*id));
        entries.map(|entry| (entry.scope(), &*entry.name))
    }

    /// The group of a deployment, if the deployment is reported from its objects.
    pub(super) fn direct_group(&self, deployment: &DeploymentId) -> Option<GroupId> {
        let is_direct = self.deployments.get(deployment).copied();
        is_direct
            .unwrap_or(self.are_labels_records)
            .then(|| GroupId::Deployment(deployment.clone()))
    }

    /// Returns whether objects with the label of a deployment belong to it.
    pub(super) fn is_recorded(&self, deployment: &DeploymentId) -> bool {
        self.are_labels_records || self.deployments.contains_key(deployment)
    }

    /// Returns whether the index reports a group.
    pub(super) fn is_reported(&self, id: &GroupId) -> bool {
        match id {
            GroupId::Application { .. } => true,
            GroupId::Deployment(deployment) => self.direct_group(deployment).is_some(),
        }
    }

    fn place_labelled(&mut self, deployment: &DeploymentId) {
        let labelled = self.labelled.get(deployment);
        for id in labelled.cloned().unwrap_or_default() {
            self.place(id, Removal::LeftApplication);
            self.place_owned(id, Removal::LeftApplication);
        }
    }
}
