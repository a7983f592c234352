//! Inventories of this cluster for other clusters, and inventories of other clusters for this one.

use std::sync::Arc;

use super::Session;
use crate::kubernetes::known::Known;

impl Session {
    /// Enters the cluster among those whose inventories are passed on, or enters its changed address.
    pub(super) fn enter_inventories(&mut self, known: &mut Known) {
        let (name, endpoint) = (&self.cluster.name, self.endpoint.clone());
        match &known.inventories {
            Some(entered) => entered.move_to(endpoint),
            None => known.inventories = Some(self.needs.inventories.enter(name, endpoint)),
        }
        self.follow_inventories(known);
    }

    /// Takes the inventories that list resources of this cluster.
    pub(super) fn follow_inventories(&mut self, known: &mut Known) {
        let (received, uncompared) = {
            let exchange = self.inventories.borrow_and_update();
            (
                exchange.received(&self.cluster.name),
                Arc::clone(exchange.uncompared()),
            )
        };
        known.index.set_remote_inventories(&received, &uncompared);
    }

    /// Passes on the inventories that list resources of other clusters, if they changed.
    pub(super) fn pass_on_inventories(known: &mut Known) {
        if let Some(inventories) = known.index.take_remote_inventories()
            && let Some(entered) = &known.inventories
        {
            entered.publish(&inventories);
        }
    }
}
