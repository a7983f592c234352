//! Controllers, which change the context of an instance before its resources are sent.

use std::collections::BTreeMap;

use kindsight_appcontext::Records;
use kindsight_grpc::Controllers;
use kindsight_lifecycle::{NotPrepared, Preparation};
use kindsight_model::ContextId;
use kindsight_store::chain;
use tokio::runtime::Handle;

/// The controllers of the configuration.
pub(super) struct CalledControllers {
    pub(super) controllers: Controllers,
    pub(super) records: Records,
    /// The executor that does the calls.
    pub(super) runtime: Handle,
}

impl Preparation for CalledControllers {
    fn prepare(
        &self,
        instance: &ContextId,
        intents: &BTreeMap<String, String>,
    ) -> Result<(), NotPrepared> {
        if let Some(unknown) = intents.keys().find(|name| !self.controllers.has(name)) {
            let why = format!(
                "the group names the controller `{unknown}`, and the configuration has no such controller"
            );
            return Err(NotPrepared::Refused(why));
        }
        if self.controllers.is_empty() {
            return Ok(());
        }
        let asked = self.records.asked(instance);
        let asked = asked.map_err(|error| NotPrepared::Unreachable(chain(&error)))?;
        if asked.is_some() {
            // Another orchestrator has called its own controllers.
            return Ok(());
        }
        let updated = self.controllers.update(instance, intents, &self.runtime);
        updated.map_err(|failed| {
            tracing::warn!(context = %instance, error = %failed, "a controller failed");
            NotPrepared::Refused(failed.to_string())
        })
    }
}
