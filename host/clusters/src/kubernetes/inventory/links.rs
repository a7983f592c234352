//! Links between the objects of a cluster: uids, owners, and names of applications and deployments.

use std::sync::Arc;

use kindsight_model::DeploymentId;

use super::{Inventory, Key};

impl Inventory {
    /// Notes the uid of an object, and its owners.
    pub(super) fn link(&mut self, key: &Key, uid: &Arc<str>, owners: &[Arc<str>]) {
        if !uid.is_empty() {
            self.by_uid.insert(Arc::clone(uid), key.clone());
        }
        for owner in owners {
            let owned = self.owned.entry(Arc::clone(owner)).or_default();
            owned.insert(key.clone());
        }
    }

    /// Forgets the uid of an object, and its owners.
    pub(super) fn unlink(&mut self, key: &Key, uid: &Arc<str>, owners: &[Arc<str>]) {
        if self.by_uid.get(uid) == Some(key) {
            self.by_uid.remove(uid);
        }
        for owner in owners {
            if let Some(owned) = self.owned.get_mut(owner) {
                owned.remove(key);
                if owned.is_empty() {
                    self.owned.remove(owner);
                }
            }
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
    pub(super) fn owned_by(&self, uid: &Arc<str>) -> Vec<Key> {
        let owned = self.owned.get(uid).into_iter().flatten();
        owned.cloned().collect()
    }
}
