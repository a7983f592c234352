//! Metrics of applications and their resources.

use std::collections::BTreeMap;
use std::fmt;

use kindsight_model::Phase;
use kindsight_read_model::VisibleModel;
use kindsight_status::{ApplicationPhases, ApplicationQuery};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::label;
use super::samples::{gauge, gauges, number};

/// Maximum number of applications with series of their own, if these series are enabled. Further applications, in order
/// of their names, are added up.
pub(super) const APPLICATIONS_LABELLED_MAX: usize = 10_000;

/// Counts applications and resources by phase. The counts of each view are precomputed, and are added up without a
/// lock.
pub(super) struct ApplicationCollector {
    /// Every application: the route of metrics needs the right to see everything.
    pub(super) all: VisibleModel,
    /// Adds a series for each application.
    pub(super) names_applications: bool,
}

impl fmt::Debug for ApplicationCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApplicationCollector")
    }
}

type ByPhase = BTreeMap<Phase, usize>;

/// Counts of all applications.
struct Counts {
    applications: ByPhase,
    resources: ByPhase,
    stale: usize,
    by_name: BTreeMap<(String, Phase), usize>,
}

impl Counts {
    /// Every phase with the count 0, so that no series is missing.
    fn new() -> Self {
        let none: ByPhase = Phase::ALL.iter().map(|phase| (*phase, 0)).collect();
        Self {
            applications: none.clone(),
            resources: none,
            stale: 0,
            by_name: BTreeMap::new(),
        }
    }

    fn add(&mut self, application: &ApplicationPhases<'_>) {
        let phase = application.phase;
        *self.applications.entry(phase).or_default() += 1;
        self.stale += usize::from(application.is_stale);
        for (phase, count) in application.resources.iter() {
            *self.resources.entry(phase).or_default() += count as usize;
        }
    }

    fn add_name(&mut self, position: usize, application: &ApplicationPhases<'_>) {
        let name = application.name.to_string();
        let label = label(position, APPLICATIONS_LABELLED_MAX, &name);
        let key = (label.to_owned(), application.phase);
        *self.by_name.entry(key).or_default() += 1;
    }
}

fn by_phase(counts: ByPhase) -> impl Iterator<Item = ([(&'static str, &'static str); 1], f64)> {
    let counts = counts.into_iter();
    counts.map(|(phase, count)| ([("phase", phase.as_str())], number(count)))
}

impl Collector for ApplicationCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut counts = Counts::new();
        // A query without names finds what there is.
        if let Ok(all) = self.all.applications(&ApplicationQuery::default()) {
            for (position, application) in all.phases().enumerate() {
                counts.add(&application);
                if self.names_applications {
                    counts.add_name(position, &application);
                }
            }
        }
        let to = &mut encoder;
        let help = "Applications by the phase according to all their resources.";
        gauges(to, "applications", help, by_phase(counts.applications))?;
        let help = "Applications with a stale report of a cluster.";
        gauge(to, "applications_stale", help, number(counts.stale))?;
        let help = "Resources of applications by phase.";
        gauges(to, "resources", help, by_phase(counts.resources))?;
        let by_name = counts.by_name.iter().map(|((name, phase), count)| {
            let labels = [("application", name.as_str()), ("phase", phase.as_str())];
            (labels, number(*count))
        });
        let help =
            "1 for the current phase of each application, if `--metrics-applications` is set.";
        gauges(to, "application_phase", help, by_name)
    }
}
