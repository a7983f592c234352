//! The parts that pass the state on to other systems. Each of them is off by default.

use std::sync::Arc;

use kindsight_aai::Health;
use kindsight_health_scope::ScopeHealths;
use kindsight_leases::Ownership;
use kindsight_lifecycle::Sender;
use kindsight_notify::{Notifications, Notifier};
use kindsight_pipeline::Unsynced;
use kindsight_read_model::ReadModel;

use crate::settings::Settings;
use crate::tasks::Tasks;
use crate::{health_scopes, inventory, notifications};

/// The states of the parts that write to other systems, for the REST API and for metrics.
#[derive(Clone)]
pub(crate) struct OtherSystems {
    /// The updates of A&AI, if it is configured.
    pub(crate) aai: Option<Health>,
    /// The receivers of notifications, if there are any.
    pub(crate) notifications: Option<Notifications>,
    /// The health of health scopes.
    pub(crate) scopes: ScopeHealths,
}

impl OtherSystems {
    /// Begins the configured parts. Writes to clusters go through `sender`. `ownership` has the clusters that this host
    /// owns, if it shares clusters.
    pub(crate) fn begin(
        tasks: &Tasks,
        settings: &Settings,
        notifier: Option<Notifier>,
        (read_model, unsynced): (&ReadModel, &Arc<Unsynced>),
        sender: &Arc<dyn Sender>,
        ownership: Option<&Ownership>,
    ) -> Self {
        Self {
            aai: inventory::begin(tasks, settings, read_model, unsynced),
            notifications: notifications::begin(tasks, notifier),
            scopes: health_scopes::begin(tasks, settings, read_model, sender, ownership),
        }
    }
}
