//! Coverages. They are large and few, so lines name them by a slot.

use std::sync::Arc;

use kindsight_model::{Coverage, KindCoverage, KindState, Scope};
use serde::{Deserialize, Serialize};

/// A coverage and its slot, which later lines of the epoch name. The coverage replaces an earlier coverage of the slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CoverageSlot {
    /// The slot.
    pub slot: usize,
    /// The state of every Kind without a row.
    #[serde(default)]
    pub others: String,
    /// The states of Kinds and groups.
    #[serde(default)]
    pub rows: Vec<CoverageState>,
    /// The reason why objects of any Kind may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Arc<str>>,
}

/// The state of a Kind in one scope, or of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CoverageState {
    /// API group; empty for the core group.
    #[serde(default)]
    pub group: Arc<str>,
    /// Kind; none for a group that names none of its Kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Arc<str>>,
    /// Namespace; none for the cluster scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Arc<str>>,
    /// The word of the state. An unknown word counts as `unavailable`, which proves nothing.
    pub state: String,
    /// Start of the state, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Cause of the state, as text for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
}

/// The coverage of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CoverageLine {
    /// The slot of the coverage.
    pub slot: usize,
    /// True before the reports of the same moment: only states that are worse than before hold already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worse_only: bool,
}

impl CoverageSlot {
    /// The line of a coverage.
    pub fn new(slot: usize, coverage: &Coverage) -> Self {
        let mut left_out = None;
        let mut rows = Vec::new();
        for row in coverage.rows() {
            let Some(group) = row.group else {
                left_out = Some(row.coverage.cause().into());
                continue;
            };
            rows.push(CoverageState {
                group: group.into(),
                kind: row.kind.map(Arc::from),
                namespace: row.namespace.map(Arc::from),
                state: row.coverage.state.to_string(),
                since_ms: row.coverage.since_ms,
                cause: row.coverage.cause,
            });
        }
        Self {
            slot,
            others: coverage.others().state.to_string(),
            rows,
            left_out,
        }
    }
}

impl From<CoverageSlot> for Coverage {
    fn from(line: CoverageSlot) -> Self {
        let mut coverage = Self::of_others(state(&line.others));
        for row in line.rows {
            let found = KindCoverage {
                state: state(&row.state),
                since_ms: row.since_ms,
                cause: row.cause,
            };
            let Some(kind) = &row.kind else {
                coverage.set_group(&row.group, found);
                continue;
            };
            let scope = row
                .namespace
                .as_deref()
                .map_or(Scope::Cluster, Scope::Namespace);
            coverage.set(&row.group, kind, scope, found);
        }
        if let Some(reason) = line.left_out {
            coverage.leave_out(reason);
        }
        coverage
    }
}

/// The state of a word. A state of another release proves nothing about an absence.
fn state(word: &str) -> KindState {
    let mut all = KindState::ALL.iter();
    let known = all.find(|state| state.as_str() == word);
    known.copied().unwrap_or(KindState::Unavailable)
}
