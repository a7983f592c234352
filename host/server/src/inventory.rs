//! The task that updates the inventory A&AI.

use std::sync::Arc;

use kindsight_aai::{Health, IsListed, Updater};
use kindsight_model::ClusterName;
use kindsight_pipeline::Unsynced;
use kindsight_read_model::ReadModel;

use crate::settings::Settings;
use crate::tasks::Tasks;

/// Begins to update A&AI, if the settings have it. Returns the state of the updates.
pub(crate) fn begin(
    tasks: &Tasks,
    settings: &Settings,
    read_model: &ReadModel,
    unsynced: &Arc<Unsynced>,
) -> Option<Health> {
    let aai = settings.aai.clone()?;
    let unsynced = Arc::clone(unsynced);
    let is_listed: IsListed =
        Arc::new(move |cluster: &ClusterName| !unsynced.borrow().contains(cluster));
    let store = Arc::clone(&settings.store);
    let updater = Updater::new(aai, read_model.clone(), store, is_listed);
    let health = updater.health();
    tasks.spawn("updater of A&AI", updater.run(tasks.shutdown()));
    Some(health)
}
