//! Metrics of health scopes.

use std::collections::BTreeMap;
use std::fmt;

use kindsight_health_scope::{Health, ScopeHealths};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::samples::{gauges, number};

/// Maximum number of health scopes with series of their own, if these series are enabled. Further scopes, in order of
/// cluster and namespace, have none.
const SCOPES_LABELLED_MAX: usize = 1_000;

/// Counts the health scopes by health.
pub(super) struct HealthScopeCollector {
    pub(super) healths: ScopeHealths,
    /// Adds a series for each scope.
    pub(super) names_scopes: bool,
}

impl fmt::Debug for HealthScopeCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HealthScopeCollector")
    }
}

impl Collector for HealthScopeCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.healths.all(|_, _| true);
        let mut counts: BTreeMap<Health, usize> = Health::ALL.map(|health| (health, 0)).into();
        for scope in &all {
            *counts.entry(scope.health).or_default() += 1;
        }
        let to = &mut encoder;
        let counts = counts.into_iter();
        let counts = counts.map(|(health, count)| ([("health", health.as_str())], number(count)));
        gauges(to, "health_scopes", "Health scopes by health.", counts)?;
        let shown = if self.names_scopes {
            SCOPES_LABELLED_MAX
        } else {
            0
        };
        let scopes = all.iter().take(shown).map(|scope| {
            let place = &scope.place;
            let labels = [
                ("cluster", scope.cluster.to_string()),
                ("namespace", place.namespace.to_string()),
                ("scope", place.name.to_string()),
                ("health", scope.health.as_str().to_owned()),
            ];
            (labels, 1.0)
        });
        let help =
            "1 for the current health of each health scope, if `--metrics-applications` is set.";
        gauges(to, "health_scope_health", help, scopes)
    }
}
