//! The health of a scope and of its workloads, from the view of the application that the scope selects.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{ClusterName, Gvk, Phase, clean};
use kindsight_status::{ContextView, ResourceView, Role};

use crate::scope::{HealthScope, WorkloadRef};

/// Maximum number of workloads in a status, the worst first. The others are counted. With the longest texts, they take
/// about 250 KB of the 1.5 MiB that an object may have.
pub const WORKLOADS_SHOWN_MAX: usize = 250;
/// Maximum length of a message in a status, in bytes.
const MESSAGE_BYTES_MAX: usize = 512;

/// The health of a scope or of a workload, in the words of OAM. From best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Health {
    /// Every workload works.
    Healthy,
    /// A workload becomes ready, is stopped on purpose, or is being removed.
    Progressing,
    /// A workload does not work, is missing, or has a problem.
    Unhealthy,
    /// It cannot be said.
    Unknown,
}

impl Health {
    /// Every health.
    pub const ALL: [Self; 4] = [
        Self::Healthy,
        Self::Progressing,
        Self::Unhealthy,
        Self::Unknown,
    ];

    /// The word in the status and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Progressing => "progressing",
            Self::Unhealthy => "unhealthy",
            Self::Unknown => "unknown",
        }
    }

    /// The word in the status of OAM's runtime, which has no word for progress.
    pub(crate) fn oam(self) -> &'static str {
        match self {
            Self::Healthy => "HEALTHY",
            Self::Progressing | Self::Unhealthy => "UNHEALTHY",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// The word as the reason of a condition.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::Progressing => "Progressing",
            Self::Unhealthy => "Unhealthy",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<Phase> for Health {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Ready | Phase::Present => Self::Healthy,
            Phase::Suspended | Phase::Pending | Phase::Terminating => Self::Progressing,
            Phase::Degraded | Phase::NotPresent | Phase::Failed => Self::Unhealthy,
            Phase::Unknown => Self::Unknown,
        }
    }
}

/// The health of one workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadHealth {
    /// The workload.
    pub workload: WorkloadRef,
    /// Its health.
    pub health: Health,
    /// The state in its verdict.
    pub state: Arc<str>,
    /// The reason in its verdict; may be empty.
    pub reason: Arc<str>,
    /// For users; may be empty.
    pub message: Arc<str>,
}

/// The content of the status of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeStatus {
    /// Its health.
    pub health: Health,
    /// The reason, for users.
    pub message: String,
    /// Number of workloads of each health.
    pub counts: BTreeMap<Health, usize>,
    /// The worst workloads, at most [`WORKLOADS_SHOWN_MAX`], the worst first.
    pub workloads: Vec<WorkloadHealth>,
    /// Start of the staleness of the report, in Unix milliseconds; `None` if it is current.
    pub(crate) stale_since_ms: Option<i64>,
    /// False if the cluster has not reported on the scope.
    pub(crate) is_reported: bool,
}

impl ScopeStatus {
    /// The status of a scope in a cluster. `view` is the application that the scope selects, if there is one.
    ///
    /// Called after each change of the scope or of the application. The roll-up of the application decides. A listed
    /// workload that the application does not have makes the scope unknown.
    pub fn of(scope: &HealthScope, cluster: &ClusterName, view: Option<&ContextView>) -> Self {
        let part = view.and_then(|view| view.rollup_in(cluster));
        let placed = view.into_iter().flat_map(ContextView::clusters);
        let placed = placed.filter(|placed| placed.cluster() == cluster);
        let rows = placed.flat_map(|placed| placed.resources().iter());
        let mut all: Vec<WorkloadHealth> = rows.filter(|row| counts(row)).map(workload).collect();
        let unfound = unfound(scope, &all);
        all.extend(unfound);
        let stale = part.as_ref().and_then(|part| part.stale.as_ref());
        let rolled_up = part
            .as_ref()
            .map_or(Health::Unknown, |part| part.phase.into());
        let mut counts: BTreeMap<Health, usize> = Health::ALL.map(|health| (health, 0)).into();
        for found in &all {
            *counts.entry(found.health).or_default() += 1;
        }
        all.sort_by(|left, right| key(left).cmp(&key(right)));
        let (health, message) = match (stale, all.first()) {
            (Some(stale), _) => (
                Health::Unknown,
                format!("the report is stale: {}", stale.reason),
            ),
            (None, None) => (Health::Unknown, nothing(scope).to_owned()),
            (None, Some(worst)) => {
                let is_unfound = worst.health == Health::Unknown;
                let health = if is_unfound {
                    Health::Unknown
                } else {
                    rolled_up
                };
                (health, because(health, worst, all.len()))
            }
        };
        all.truncate(WORKLOADS_SHOWN_MAX);
        Self {
            health,
            message: clean(&message, MESSAGE_BYTES_MAX).into_owned(),
            counts,
            workloads: all,
            stale_since_ms: stale.map(|stale| stale.since_ms),
            is_reported: part.is_some(),
        }
    }
}

/// Returns whether a resource is a workload of the scope: not a part of another one, and not a hook.
fn counts(row: &ResourceView) -> bool {
    match row.role {
        Role::Unsent => row.owner.is_none(),
        Role::Missing => true,
        Role::Sent | Role::SentHook | Role::Hook | Role::Gone => false,
    }
}

fn workload(row: &ResourceView) -> WorkloadHealth {
    let verdict = &row.verdict;
    WorkloadHealth {
        workload: WorkloadRef {
            api_version: api_version(&row.gvk).into(),
            kind: Arc::clone(&row.gvk.kind),
            name: Arc::clone(&row.name),
        },
        health: verdict.phase.into(),
        state: Arc::clone(&verdict.state),
        reason: Arc::clone(&verdict.reason),
        message: clean(&verdict.message, MESSAGE_BYTES_MAX).into(),
    }
}

fn api_version(gvk: &Gvk) -> String {
    if gvk.group.is_empty() {
        gvk.version.to_string()
    } else {
        format!("{}/{}", gvk.group, gvk.version)
    }
}

/// The listed workloads that the application does not have, neither as objects nor as missing ones: an entry that is
/// invalid, or that names a cluster-scoped object.
fn unfound(scope: &HealthScope, found: &[WorkloadHealth]) -> Vec<WorkloadHealth> {
    let group = |api_version: &str| api_version.split_once('/').map_or("", |it| it.0).to_owned();
    let key = |it: &WorkloadRef| {
        (
            group(&it.api_version),
            Arc::clone(&it.kind),
            Arc::clone(&it.name),
        )
    };
    let known: std::collections::BTreeSet<_> = found.iter().map(|it| key(&it.workload)).collect();
    let unfound = scope
        .workloads
        .iter()
        .filter(|listed| !known.contains(&key(listed)));
    let unfound = unfound.map(|listed| WorkloadHealth {
        workload: listed.clone(),
        health: Health::Unknown,
        state: "Unknown".into(),
        reason: "NotFound".into(),
        message: "the namespace of the scope has no such workload that kindsight watches".into(),
    });
    unfound.collect()
}

/// The order of workloads in a status: the worst first, then by name.
fn key(of: &WorkloadHealth) -> (std::cmp::Reverse<Health>, &str, &str, &str) {
    let WorkloadRef {
        api_version,
        kind,
        name,
    } = &of.workload;
    (std::cmp::Reverse(of.health), kind, name, api_version)
}

fn nothing(scope: &HealthScope) -> &'static str {
    if scope.application().is_none() {
        return "the name of the scope or of its namespace has more than 63 characters, so no application can have it";
    }
    "the scope selects no workload: list one in `spec.workloadRefs`, or label one with `healthscope.core.oam.dev/name`"
}

/// The reason of a health, which names the worst workload.
fn because(health: Health, worst: &WorkloadHealth, count: usize) -> String {
    if health == Health::Healthy {
        return match count {
            1 => "the workload is healthy".to_owned(),
            _ => format!("all {count} workloads are healthy"),
        };
    }
    let WorkloadRef { kind, name, .. } = &worst.workload;
    let texts = [&worst.reason, &worst.message].into_iter();
    let texts: Vec<&str> = texts
        .map(|text| &**text)
        .filter(|text| !text.is_empty())
        .collect();
    let state = &worst.state;
    if texts.is_empty() {
        return format!("{kind} {name} is {state}");
    }
    format!("{kind} {name} is {state}: {}", texts.join(": "))
}
