//! Gaps in the coverage of a placement: relevant Kinds that the cluster has not answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{CoverageRow, KindCoverage, KindState, Origin, Presence, Scope};
use kindsight_status::Staleness;

use super::desired::{Desired, RelevantKind};
use super::held_report::HeldReport;
use super::{Environment, Placement};

/// Maximum number of Kinds that a reason names; the others are counted.
const KINDS_SHOWN_MAX: usize = 3;

/// Group and Kind of the reports of monitors.
const BUNDLE_STATE_GROUP: &str = "k8splugin.io";
const BUNDLE_STATE_KIND: &str = "ResourceBundleState";

/// The relevant Kinds; true for those with known objects.
type RelevantKinds = BTreeMap<RelevantKind, bool>;

/// The gaps that were found, by the name of the Kind.
#[derive(Default)]
struct Gaps(BTreeMap<String, KindCoverage>);

impl Placement {
    /// Start and reason of the gaps in the coverage of its relevant Kinds; none without any.
    pub(super) fn gap(&self, env: Environment<'_>) -> Option<Staleness> {
        let report = self.report.as_ref()?;
        if report.coverage.is_complete() {
            return None;
        }
        let mut gaps = Gaps::default();
        for ((group, kind, namespace), is_known) in self.relevant_kinds(report, env) {
            let scope = Scope::of(&namespace);
            let found = report.coverage.of(group.as_deref(), &kind, scope);
            let is_kept = is_known && found.state == KindState::Unserved;
            if is_kept || !found.state.is_answered() {
                gaps.add(group.as_deref(), Some(&kind), found);
            }
        }
        if let Desired::Observed(observed) = &self.desired {
            for (identity, found) in observed.uncertain(&report.coverage) {
                if found.state == KindState::Incomplete {
                    gaps.add(Some(&identity.group), Some(&identity.kind), found);
                }
            }
        }
        for row in report.coverage.unanswered() {
            let is_named = self.desired.is_observed() && env.is_awaited_by_interpreters(&row);
            if is_named || env.cluster.is_in_grace(env.now_ms) {
                gaps.add(row.group, row.kind, row.coverage);
            }
        }
        gaps.staleness(env.now_ms)
    }

    /// Start and reason of a gap in the coverage of the reports of monitors, if the report is one of a watched
    /// cluster: a later report cannot be read.
    pub(super) fn gap_of_monitor(&self, env: Environment<'_>) -> Option<Staleness> {
        let report = self.report.as_ref()?;
        let coverage = env.cluster.coverage()?;
        if report.origin != Origin::Monitor {
            return None;
        }
        let (group, kind) = (BUNDLE_STATE_GROUP, BUNDLE_STATE_KIND);
        let found = coverage.of(Some(group), kind, Scope::Cluster);
        if found.state.presence() == Presence::Current {
            return None;
        }
        let mut gaps = Gaps::default();
        gaps.add(Some(group), Some(kind), found);
        gaps.staleness(env.now_ms)
    }

    /// The Kinds that its objects, ownerReferences, manifests, last verdicts and relations name.
    fn relevant_kinds(&self, report: &HeldReport, env: Environment<'_>) -> RelevantKinds {
        let mut kinds = RelevantKinds::new();
        let named = report.named();
        for (gvk, namespace) in &named.objects {
            let group = Some(Arc::clone(&gvk.group));
            kinds.insert((group, Arc::clone(&gvk.kind), Arc::clone(namespace)), true);
        }
        for (kind, namespace) in &named.owners {
            let owner = (None, Arc::clone(kind), Arc::clone(namespace));
            kinds.entry(owner).or_insert(false);
        }
        for (gvk, namespace) in &named.objects {
            for (group, kind) in env.kinds.related_with(gvk) {
                let group = Some(Arc::clone(group));
                let related = (group, Arc::clone(kind), Arc::clone(namespace));
                kinds.entry(related).or_insert(false);
            }
        }
        match &self.desired {
            Desired::Sent { kinds: sent, .. } => {
                for kind in sent {
                    kinds.entry(kind.clone()).or_insert(false);
                }
            }
            Desired::Observed(observed) => {
                for (identity, _) in observed.uncertain(&report.coverage) {
                    let group = Some(Arc::clone(&identity.group));
                    let kind = Arc::clone(&identity.kind);
                    kinds.insert((group, kind, Arc::clone(&identity.namespace)), true);
                }
            }
        }
        kinds
    }
}

impl Environment<'_> {
    /// Returns whether a live interpreter names a Kind exactly that the cluster never answered.
    fn is_awaited_by_interpreters(&self, row: &CoverageRow<'_>) -> bool {
        let is_named = |(group, kind): (&Arc<str>, &Arc<str>)| {
            row.group == Some(&**group) && row.kind.is_none_or(|named| *named == **kind)
        };
        !self.cluster.has_answered(row) && self.kinds.exact().any(is_named)
    }
}

impl Gaps {
    fn add(&mut self, group: Option<&str>, kind: Option<&str>, coverage: KindCoverage) {
        let row = CoverageRow {
            group,
            kind,
            namespace: None,
            coverage,
        };
        let name = row.name();
        self.0.entry(name).or_insert(row.coverage);
    }

    fn staleness(self, now_ms: i64) -> Option<Staleness> {
        let shown = self.0.iter().take(KINDS_SHOWN_MAX);
        let shown: Vec<String> = shown
            .map(|(name, coverage)| format!("{name} ({})", coverage.cause()))
            .collect();
        let more = match self.0.len().saturating_sub(KINDS_SHOWN_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let since_ms = self
            .0
            .values()
            .filter_map(|coverage| coverage.since_ms)
            .min();
        (!self.0.is_empty()).then(|| Staleness {
            since_ms: since_ms.unwrap_or(now_ms),
            reason: format!(
                "the cluster has not answered for: {}{more}",
                shown.join(", ")
            )
            .into(),
        })
    }
}
