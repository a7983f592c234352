//! Deployments that `AppContext`s send to the cluster: their objects, by label and by owner.

use std::sync::Arc;

use kindsight_model::DeploymentId;

use super::{GroupId, Inventory};
use crate::kubernetes::news::WatchId;

impl Inventory {
    /// Notes that a deployment is recorded: its objects belong to it, and are found by no other rule.
    pub(in crate::kubernetes) fn record(&mut self, deployment: &DeploymentId) {
        if !self.deployments.contains_key(deployment) {
            self.deployments.insert(deployment.clone(), false);
            self.place_labelled(deployment);
        }
    }

    /// Notes whether a recorded deployment is reported by its objects, which are read whole then.
    pub(in crate::kubernetes) fn set_direct(&mut self, deployment: &DeploymentId, is_direct: bool) {
        let before = self.deployments.insert(deployment.clone(), is_direct);
        if before != Some(is_direct) {
            self.place_labelled(deployment);
        }
    }

    /// Forgets a deployment: its objects are found by other rules.
    pub(in crate::kubernetes) fn forget(&mut self, deployment: &DeploymentId) {
        if self.deployments.remove(deployment).is_some() {
            self.place_labelled(deployment);
        }
    }

    /// Has a deployment reported that is reported by its objects, also where it has none or the same ones.
    pub(in crate::kubernetes) fn note_direct(&mut self, deployment: &DeploymentId) {
        let id = GroupId::Deployment(deployment.clone());
        self.groups.note_again(Arc::new(id));
    }

    /// Has each deployment reported that is reported by its objects.
    pub(in crate::kubernetes) fn note_all_direct(&mut self) {
        let direct = self.deployments.iter().filter(|(_, is_direct)| **is_direct);
        let direct: Vec<DeploymentId> = direct.map(|(id, _)| id.clone()).collect();
        for deployment in &direct {
            self.note_direct(deployment);
        }
    }

    /// Watches and names of the objects with the label of a deployment.
    pub(in crate::kubernetes) fn labelled_with(
        &self,
        deployment: &DeploymentId,
    ) -> impl Iterator<Item = (WatchId, &str)> {
        let ids = self.labelled.get(deployment).into_iter().flatten();
        let entries = ids.filter_map(|id| self.objects.get(*id));
        entries.map(|entry| (entry.watch(), &*entry.name))
    }

    /// The group of a deployment that is reported by its objects.
    pub(super) fn direct_group(&self, deployment: &DeploymentId) -> Option<GroupId> {
        let is_direct = self.deployments.get(deployment).copied();
        is_direct
            .unwrap_or_default()
            .then(|| GroupId::Deployment(deployment.clone()))
    }

    /// Returns whether a group is reported from here.
    pub(super) fn is_reported(&self, id: &GroupId) -> bool {
        match id {
            GroupId::Application { .. } => true,
            GroupId::Deployment(deployment) => self.direct_group(deployment).is_some(),
        }
    }

    fn place_labelled(&mut self, deployment: &DeploymentId) {
        let labelled = self.labelled.get(deployment);
        for id in labelled.cloned().unwrap_or_default() {
            self.place(id);
            self.place_owned(id);
        }
    }
}
