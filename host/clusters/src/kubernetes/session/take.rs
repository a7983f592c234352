//! The news of watches, taken into the inventory.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::decode::{Body, Decoded, Decoder, Detail};
use crate::kubernetes::list::PartList;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::news::{News, WatchNews};
use crate::kubernetes::watches::Needed as _;

/// Time from the news of a Kind that came or went until the Kinds are asked for: servers tell late.
const DISCOVER_AFTER: Duration = Duration::from_secs(1);

impl Session {
    /// Takes in what a watch tells.
    pub(super) fn take(&mut self, news: WatchNews) -> Result<(), SessionEnd> {
        let WatchNews { watch, what } = news;
        let Some(state) = self.watches.get_mut(watch) else {
            // Of a Kind that is not served any more.
            return Ok(());
        };
        if state.kind.is_of_kinds()
            // A list may have what came after the Kinds were asked for.
            && matches!(what, News::Applied(_) | News::Deleted(_) | News::ListEnds)
        {
            self.discover_at = self.discover_at.min(Instant::now() + DISCOVER_AFTER);
        }
        let pass = state.pass;
        if let Some(refused) = what.unauthorized() {
            // Another server may serve any group but this, and refuse what the server itself accepts.
            if state.kind.gvk.group.is_empty() {
                return Err(SessionEnd::Failed(refused.of_cluster()));
            }
            self.probe.ask_soon();
        }
        match what {
            News::ListBegins(list) => state.begin(list),
            News::Listed(objects) => {
                for object in objects {
                    self.apply(watch, pass, object);
                }
            }
            News::ListEnds => {
                state.end();
                self.sweep(watch, pass);
            }
            News::PartListed(objects) => {
                for object in objects {
                    self.inventory.complete(watch, object);
                }
            }
            News::PartEnds { namespace, result } => {
                let is_needed = !self.inventory.needed(watch).names(&namespace).is_empty();
                state.part_ended(&namespace, result, is_needed);
            }
            News::Applied(object) => match object.body {
                Body::BundleState(_) => self.deployments.states.apply(watch, pass, *object),
                _ => self.inventory.follow(watch, pass, *object),
            },
            News::Deleted(object) => match object.body {
                Body::BundleState(_) => self.deployments.states.remove(watch, &object),
                _ => self.inventory.remove(watch, &object),
            },
            News::Following => state.follow(),
            News::Failed(error) => {
                if matches!(error, ApiError::NotFound(_)) {
                    // The Kind may have gone with its definition.
                    let soon = Instant::now() + DISCOVER_AFTER;
                    self.discover_at = self.discover_at.min(soon);
                }
                let told = error.to_string();
                if state.fail(error) {
                    tracing::debug!(cluster = %self.cluster.name, kind = %state.kind.gvk, told, "watch failed");
                }
            }
        }
        if let Some(state) = self.watches.get_mut(watch) {
            self.inventory.set_complete(watch, state.is_complete());
        }
        self.ask_for_states();
        Ok(())
    }

    /// Takes in an object of a list of all.
    fn apply(&mut self, watch: WatchId, pass: u64, object: Decoded) {
        match object.body {
            Body::BundleState(_) => self.deployments.states.apply(watch, pass, object),
            _ => self.inventory.apply(watch, pass, object),
        }
    }

    /// Forgets the objects of a Kind that this pass did not see.
    pub(super) fn sweep(&mut self, watch: WatchId, pass: u64) {
        self.deployments.states.sweep(watch, pass);
        self.inventory.sweep(watch, pass);
    }

    /// Asks for the reports of monitors that are needed and were not read.
    pub(super) fn ask_for_states(&mut self) {
        for wanted in self.deployments.take_wanted() {
            if let Some(state) = self.watches.get_mut(wanted) {
                state.ask_for_all();
            }
        }
    }

    /// Begins to list what is needed whole and was passed over.
    pub(super) fn list_parts(&mut self) {
        for (watch, namespace) in self.inventory.take_wanted() {
            if let Some(state) = self.watches.get_mut(watch) {
                state.need(namespace);
            }
        }
        let now = Instant::now();
        let rules = self.cluster.options.rules();
        for (watch, state) in self.watches.iter_mut() {
            let needed = self.inventory.needed(watch);
            for (namespace, part) in state.parts_to_list(&needed, now) {
                let list = PartList {
                    watch,
                    kind: Arc::clone(&state.kind),
                    namespace,
                    part,
                    filter: state.filter(),
                    client: self.client.clone(),
                    decoder: Decoder::new(&state.kind, &rules, Detail::Whole, state.labels()),
                    news: self.news_tx.clone(),
                    permits: Arc::clone(&self.permits),
                };
                self.running.push(Box::pin(list.run()));
            }
        }
    }
}
