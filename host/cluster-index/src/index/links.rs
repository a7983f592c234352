//! Links between the objects of a cluster: uids, owners, and names of applications and deployments.

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use crate::uid::Uid;

impl ClusterIndex {
    /// Notes the uid of an object, and its owners.
    pub(super) fn link(&mut self, id: Id) {
        self.objects.note_uid(id);
        let owners = self.objects.get(id).map(Entry::owners);
        for owner in owners.into_iter().flatten() {
            self.owned.insert((*owner, id));
        }
    }

    /// Forgets the uid of an object, and its owners.
    pub(super) fn unlink(&mut self, id: Id) {
        self.objects.forget_uid(id);
        let owners = self.objects.get(id).map(Entry::owners);
        for owner in owners.into_iter().flatten() {
            self.owned.remove(&(*owner, id));
        }
    }

    /// Forgets that an object joins the only application of a name.
    pub(super) fn unfloat(&mut self, id: Id) {
        let Some(name) = self.objects.get(id).and_then(Entry::floats_to) else {
            return;
        };
        if let Some(floating) = self.floating.get_mut(&name) {
            floating.remove(&id);
            if floating.is_empty() {
                self.floating.remove(&name);
            }
        }
    }

    /// Notes the deployment and the health scopes that labels of an object name.
    pub(super) fn label(&mut self, id: Id) {
        self.label_scopes(id);
        let membership = self.objects.get(id).map(Entry::membership);
        if let Some(deployment) = membership.and_then(|membership| membership.deployment.as_deref())
        {
            let labelled = self.labelled.entry(deployment.clone()).or_default();
            labelled.insert(id);
        }
    }

    /// Forgets the deployment and the health scopes that labels of an object named.
    pub(super) fn unlabel(&mut self, id: Id) {
        self.unlabel_scopes(id);
        let membership = self.objects.get(id).map(Entry::membership);
        let Some(deployment) = membership.and_then(|membership| membership.deployment.as_deref())
        else {
            return;
        };
        if let Some(labelled) = self.labelled.get_mut(deployment) {
            labelled.remove(&id);
            if labelled.is_empty() {
                self.labelled.remove(deployment);
            }
        }
    }

    /// The objects that name this uid as their owner's.
    pub(super) fn owned_by(&self, uid: Uid) -> Vec<Id> {
        let owned = self.owned.range((uid, Id::FIRST)..);
        let owned = owned.take_while(|(owner, _)| *owner == uid);
        owned.map(|(_, id)| *id).collect()
    }
}
