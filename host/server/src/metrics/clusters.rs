//! Metrics of clusters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kindsight_model::{AuditCounts, Coverage};
use kindsight_read_model::ReadModel;
use kindsight_status::{ConnectionState, ConnectionView};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::label;
use super::samples::{counters, gauges, number, seconds};

/// Maximum number of clusters with series of their own. Further clusters, in order of their names, are added up.
pub(super) const CLUSTERS_LABELLED_MAX: usize = 500;

/// Reads the connections to the clusters from the read model.
pub(super) struct ClusterCollector {
    pub(super) read_model: ReadModel,
    pub(super) clock: fn() -> i64,
}

impl fmt::Debug for ClusterCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterCollector")
    }
}

/// The values of one cluster, or of several together.
#[derive(Default)]
struct Values {
    stale: usize,
    /// The longest staleness, in milliseconds.
    stale_ms: i64,
    /// The oldest last event, in Unix milliseconds.
    heard_ms: Option<i64>,
    watches: usize,
    objects: usize,
    sessions: u64,
    watch_failures: u64,
    audit: AuditCounts,
    faults: usize,
    /// Number of Kinds by coverage.
    kinds: BTreeMap<&'static str, usize>,
}

impl Values {
    fn add(&mut self, connection: &ConnectionView, now_ms: i64) {
        if connection.state == ConnectionState::Stale {
            self.stale += 1;
            let stale_ms = now_ms.saturating_sub(connection.since_ms);
            self.stale_ms = self.stale_ms.max(stale_ms);
        }
        let heard_ms = [self.heard_ms, connection.heard_ms];
        self.heard_ms = heard_ms.into_iter().flatten().min();
        self.faults += connection.faults.len();
        if let Some(facts) = &connection.facts {
            self.watches += facts.watches;
            self.objects += facts.objects;
            self.sessions += facts.sessions;
            self.watch_failures += facts.watch_failures;
            self.add_audit(&facts.audit);
        }
        for row in connection.coverage.iter().flat_map(Coverage::rows) {
            let state = row.coverage.state.as_str();
            *self.kinds.entry(state).or_default() += 1;
        }
    }

    fn add_audit(&mut self, counts: &AuditCounts) {
        self.audit.same += counts.same;
        self.audit.drifted += counts.drifted;
        self.audit.inconclusive += counts.inconclusive;
        self.audit.objects += counts.objects;
        self.audit.drifts += counts.drifts;
    }
}

type ByName = BTreeMap<String, Values>;

/// The values of all clusters by their labels, with one value each.
fn each<'a, V>(
    all: &'a ByName,
    value: impl Fn(&Values) -> V + 'a,
) -> impl Iterator<Item = ([(&'static str, &'a str); 1], V)> {
    all.iter()
        .map(move |(name, values)| ([("cluster", name.as_str())], value(values)))
}

impl Collector for ClusterCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let now_ms = (self.clock)();
        // Only pointers are copied under the lock.
        let connections: Vec<_> = self.read_model.inspect(|snapshot| {
            let all = snapshot.connections();
            all.map(|(name, view)| (name.clone(), Arc::clone(view)))
                .collect()
        });
        let mut all = ByName::new();
        let mut states: BTreeMap<_, usize> = ConnectionState::ALL
            .iter()
            .map(|state| (state.as_str(), 0))
            .collect();
        for (position, (name, view)) in connections.iter().enumerate() {
            let name = name.to_string();
            let label = label(position, CLUSTERS_LABELLED_MAX, &name);
            all.entry(label.to_owned()).or_default().add(view, now_ms);
            *states.entry(view.state.as_str()).or_default() += 1;
        }
        let to = &mut encoder;
        let states = states.into_iter();
        let states = states.map(|(state, count)| ([("state", state)], number(count)));
        gauges(
            to,
            "clusters",
            "Configured clusters by the state of the connection.",
            states,
        )?;
        encode_staleness(to, &all)?;
        encode_watches(to, &all)?;
        encode_audits(to, &all)
    }
}

fn encode_staleness(to: &mut DescriptorEncoder<'_>, all: &ByName) -> fmt::Result {
    let help = "1 if the cluster cannot be reached, else 0.";
    gauges(
        to,
        "cluster_stale",
        help,
        each(all, |cluster| number(cluster.stale)),
    )?;
    let help = "Time since the cluster cannot be reached; 0 if it can be reached.";
    let stale = each(all, |cluster| seconds(cluster.stale_ms));
    gauges(to, "cluster_stale_seconds", help, stale)?;
    let help = "Time of the last event of the cluster, since 1970; none before the first event.";
    let heard = all.iter().filter_map(|(name, values)| {
        Some(([("cluster", name.as_str())], seconds(values.heard_ms?)))
    });
    gauges(to, "cluster_last_event_timestamp_seconds", help, heard)?;
    let help = "Faults that may affect every app of the cluster.";
    gauges(
        to,
        "cluster_faults",
        help,
        each(all, |cluster| number(cluster.faults)),
    )?;
    let help = "Kinds in their scopes by coverage: only `complete`, `presumed` and `selected` Kinds are known completely.";
    let kinds = all.iter().flat_map(|(name, values)| {
        let kinds = values.kinds.iter();
        kinds.map(|(state, count)| {
            (
                [("cluster", name.as_str()), ("coverage", *state)],
                number(*count),
            )
        })
    });
    gauges(to, "cluster_kinds", help, kinds)
}

fn encode_watches(to: &mut DescriptorEncoder<'_>, all: &ByName) -> fmt::Result {
    let help = "Watched Kinds.";
    gauges(
        to,
        "cluster_watches",
        help,
        each(all, |cluster| number(cluster.watches)),
    )?;
    let help = "Objects of applications in memory.";
    gauges(
        to,
        "cluster_objects",
        help,
        each(all, |cluster| number(cluster.objects)),
    )?;
    let help = "Sessions that the API server accepted: the first one and each reconnect.";
    counters(to, "cluster_sessions", help, each(all, |it| it.sessions))?;
    let help = "Failures of watches. A failure whose first repetition succeeds does not count.";
    let failures = each(all, |it| it.watch_failures);
    counters(to, "cluster_watch_failures", help, failures)
}

fn encode_audits(to: &mut DescriptorEncoder<'_>, all: &ByName) -> fmt::Result {
    let help = "Samples of the audit: without a drift (`same`), with one (`drift`), or without a result (`inconclusive`).";
    let samples = all.iter().flat_map(|(name, values)| {
        let counts = [
            ("same", values.audit.same),
            ("drift", values.audit.drifted),
            ("inconclusive", values.audit.inconclusive),
        ];
        counts.map(|(result, count)| ([("cluster", name.as_str()), ("result", result)], count))
    });
    counters(to, "audit_samples", help, samples)?;
    let help = "Objects in samples with a result.";
    let objects = each(all, |it| it.audit.objects);
    counters(to, "audit_objects", help, objects)?;
    let help = "Objects whose state in memory differed from the state at the API server. Their Kind is listed again.";
    counters(to, "audit_drifts", help, each(all, |it| it.audit.drifts))
}
