//! Links between the objects of a cluster: uids, owners, and names of applications and deployments.

use std::sync::Arc;

use kindsight_model::DeploymentId;

use super::entry::Links;
use super::{Inventory, Key};
use crate::kubernetes::uid::Uid;

impl Inventory {
    /// Notes the uid of an object, and its owners.
    pub(super) fn link(&mut self, key: &Key, links: &Links) {
        if !links.uid.is_none() {
            self.by_uid.insert(links.uid, key.clone());
        }
        for owner in &links.owners {
            self.owned.insert((*owner, key.clone()));
        }
    }

    /// Forgets the uid of an object, and its owners.
    pub(super) fn unlink(&mut self, key: &Key, links: &Links) {
        if self.by_uid.get(&links.uid) == Some(key) {
            self.by_uid.remove(&links.uid);
        }
        for owner in &links.owners {
            self.owned.remove(&(*owner, key.clone()));
        }
    }

    /// Forgets that an object joins the only application of a name.
    pub(super) fn unfloat(&mut self, key: &Key, name: Option<Arc<str>>) {
        let Some(name) = name else {
            return;
        };
        if let Some(floating) = self.floating.get_mut(&name) {
            floating.remove(key);
            if floating.is_empty() {
                self.floating.remove(&name);
            }
        }
    }

    /// Notes the deployment that the label of an object names.
    pub(super) fn label(&mut self, key: &Key, deployment: Option<&DeploymentId>) {
        if let Some(deployment) = deployment {
            let labelled = self.labelled.entry(deployment.clone()).or_default();
            labelled.insert(key.clone());
        }
    }

    /// Forgets the deployment that the label of an object named.
    pub(super) fn unlabel(&mut self, key: &Key, deployment: Option<&DeploymentId>) {
        let Some(deployment) = deployment else {
            return;
        };
        if let Some(labelled) = self.labelled.get_mut(deployment) {
            labelled.remove(key);
            if labelled.is_empty() {
                self.labelled.remove(deployment);
            }
        }
    }

    /// The objects that name this uid as their owner's.
    pub(super) fn owned_by(&self, uid: Uid) -> Vec<Key> {
        let first = (uid, Key::before_all_of(0, ""));
        let owned = self.owned.range(first..);
        let owned = owned.take_while(|(owner, _)| *owner == uid);
        owned.map(|(_, key)| key.clone()).collect()
    }
}
