//! Metrics: the registry, and the sources of its values.
//!
//! Only this module uses `prometheus-client`. Requests, handled events and calls of stores are recorded when they end
//! ([`Recorded`]). Collectors read all other values at the scrape, from counters that the other crates keep for their
//! own work. The number of series is limited; docs/metrics.md lists all metrics.

mod applications;
mod clusters;
mod health_scopes;
mod host;
mod interpreters;
mod inventory;
mod notify;
mod recorded;
mod replica;
mod samples;
mod store;
mod text;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use kindsight_interpreter::Interpreters;
use kindsight_model::SubjectSet;
use kindsight_pipeline::{BundleQueue, QueuedEvent, Unsynced};
use kindsight_read_model::ReadModel;
use kindsight_rest::{AnsweredRequest, Metrics, Slots};
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::registry::Registry;
use tokio::sync::mpsc;

use crate::other_systems::OtherSystems;
use crate::replica::ReplicaState;
use applications::ApplicationCollector;
use clusters::ClusterCollector;
use health_scopes::HealthScopeCollector;
use host::{MemoryCollector, QueueCollector, StateCollector};
use interpreters::InterpreterCollector;
use inventory::InventoryCollector;
use notify::NotifyCollector;
pub(crate) use recorded::Recorded;
use replica::ReplicaCollector;
pub(crate) use store::metered;

/// The prefix of the names of all metrics.
const PREFIX: &str = "kindsight";

/// The label of values that are added up because of a limit on the number of series.
const OTHER: &str = "other";

/// The metrics of one server.
pub(crate) struct ServerMetrics {
    registry: Registry,
    recorded: Recorded,
}

/// The parts of a server whose values are read at a scrape.
pub(crate) struct MetricsSources {
    pub(crate) read_model: ReadModel,
    pub(crate) interpreters: Arc<Interpreters>,
    /// The reports that wait to be stored.
    pub(crate) bundles: BundleQueue,
    /// The queue of events of the pipeline.
    pub(crate) events_tx: mpsc::Sender<QueuedEvent>,
    pub(crate) slots: Slots,
    /// The clusters that were not listed yet.
    pub(crate) unsynced: Arc<Unsynced>,
    pub(crate) others: OtherSystems,
    /// The connection of a replica to its upstream host.
    pub(crate) replica: Option<ReplicaState>,
    /// Adds a series for each application.
    pub(crate) names_applications: bool,
    /// The time, in Unix milliseconds.
    pub(crate) clock: fn() -> i64,
}

impl ServerMetrics {
    pub(crate) fn new(recorded: Recorded, sources: MetricsSources) -> Self {
        let MetricsSources {
            read_model,
            interpreters,
            bundles,
            events_tx,
            slots,
            unsynced,
            others,
            replica,
            names_applications,
            clock,
        } = sources;
        let mut registry = Registry::with_prefix(PREFIX);
        recorded.register(&mut registry);
        registry.register_collector(Box::new(InterpreterCollector(Arc::clone(&interpreters))));
        registry.register_collector(Box::new(QueueCollector {
            interpreters: Arc::clone(&interpreters),
            bundles,
            events_tx,
            slots,
        }));
        registry.register_collector(Box::new(MemoryCollector {
            interpreters,
            read_model: read_model.clone(),
        }));
        registry.register_collector(Box::new(StateCollector {
            read_model: read_model.clone(),
            unsynced,
        }));
        registry.register_collector(Box::new(ClusterCollector {
            read_model: read_model.clone(),
            clock,
        }));
        registry.register_collector(Box::new(ApplicationCollector {
            all: read_model.visible_to(&SubjectSet::Everything),
            names_applications,
        }));
        if let Some(health) = others.aai {
            registry.register_collector(Box::new(InventoryCollector(health)));
        }
        if let Some(state) = replica {
            registry.register_collector(Box::new(ReplicaCollector { state, clock }));
        }
        registry.register_collector(Box::new(NotifyCollector(others.notifications)));
        registry.register_collector(Box::new(HealthScopeCollector {
            healths: others.scopes,
            names_scopes: names_applications,
        }));
        Self { registry, recorded }
    }
}

impl Metrics for ServerMetrics {
    fn answered(&self, request: &AnsweredRequest<'_>) {
        self.recorded.answered(request);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a text does not fail.
        let _ = encode_registry(&mut text, &self.registry);
        text::with_counter_suffix(&text)
    }
}

/// The label for the item at `position`: its name, or [`OTHER`] beyond the limit.
fn label(position: usize, max: usize, name: &str) -> &str {
    if position < max { name } else { OTHER }
}
