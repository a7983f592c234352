//! The coverage in a header.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{HEADER_BYTES_MAX, REASON_BYTES_MAX, json_bytes};
use crate::{Coverage, CoverageRow, KindCoverage, KindState, Scope};

/// Maximum size of the coverage in a header, in bytes of JSON. The rest of [`HEADER_BYTES_MAX`] is for the parts, the
/// rejected objects and the hooks.
const COVERAGE_BYTES_MAX: usize = HEADER_BYTES_MAX / 2;

/// The state of the Kinds that a header has no space for.
const CUT: &str = "the cluster has more Kinds than the header of the monitor's report can list";

/// The state of each Kind, as the monitor knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stated {
    /// Kinds whose objects were all listed in the cluster, by group. They are listed apart because they are many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    complete: BTreeMap<String, BTreeSet<String>>,
    /// The state of every other Kind, group and limit; the ones that are not covered first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<Row>,
    /// The state of a Kind that is in neither list; absent if the monitor does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    others: Option<Row>,
}

/// A [`CoverageRow`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

impl Stated {
    /// States a coverage, as far as there is space. A Kind that is not stated counts as incomplete then.
    pub(crate) fn of(coverage: &Coverage) -> Self {
        let mut stated = Self {
            others: Row::of_others(coverage.others()),
            ..Self::default()
        };
        let mut space = COVERAGE_BYTES_MAX;
        let (covered, not_covered): (Vec<_>, Vec<_>) = coverage
            .rows()
            .partition(|row| row.coverage.state.is_covered());
        // Without a Kind, the row is about many Kinds.
        let (wide, narrow): (Vec<_>, Vec<_>) =
            not_covered.into_iter().partition(|row| row.kind.is_none());
        for row in wide.iter().chain(&narrow).chain(&covered) {
            let Some(rest) = space.checked_sub(stated.add(row)) else {
                stated.remove(row);
                let cut = KindCoverage::caused(KindState::Incomplete, CUT);
                stated.others = Row::of_others(&cut);
                break;
            };
            space = rest;
        }
        stated
    }

    /// Adds a row, and returns the bytes that it takes.
    fn add(&mut self, row: &CoverageRow<'_>) -> usize {
        if let Some((group, kind)) = plain(row) {
            let kinds = self.complete.entry(group.to_owned()).or_default();
            let is_first = kinds.is_empty();
            kinds.insert(kind.to_owned());
            return json_bytes(&kind) + if is_first { json_bytes(&group) + 3 } else { 0 };
        }
        let row = Row::of(row);
        let bytes = json_bytes(&row);
        self.coverage.push(row);
        bytes
    }

    /// Removes the row that was added last.
    fn remove(&mut self, row: &CoverageRow<'_>) {
        let Some((group, kind)) = plain(row) else {
            self.coverage.pop();
            return;
        };
        if let Some(kinds) = self.complete.get_mut(group) {
            kinds.remove(kind);
            if kinds.is_empty() {
                self.complete.remove(group);
            }
        }
    }

    /// The coverage.
    pub(crate) fn coverage(&self) -> Coverage {
        let others = self.others.as_ref().map(Row::coverage);
        let others = others.unwrap_or_else(|| KindCoverage::new(KindState::NotRequested));
        let mut coverage = Coverage::of_others_caused(others);
        for (group, kinds) in &self.complete {
            for kind in kinds {
                let complete = KindCoverage::new(KindState::Complete);
                coverage.set(group, kind, Scope::Cluster, complete);
            }
        }
        for row in &self.coverage {
            match (&row.group, &row.kind) {
                (Some(group), Some(kind)) => {
                    let namespace = row.namespace.as_deref();
                    let scope = namespace.map_or(Scope::Cluster, Scope::Namespace);
                    coverage.set(group, kind, scope, row.coverage());
                }
                (Some(group), None) => coverage.set_group(group, row.coverage()),
                (None, _) => coverage.leave_out(row.coverage().cause()),
            }
        }
        coverage
    }
}

/// Group and Kind of a row about a Kind whose objects were all listed in the cluster.
fn plain<'r>(row: &CoverageRow<'r>) -> Option<(&'r str, &'r str)> {
    let is_plain = row.coverage.state == KindState::Complete
        && row.coverage.cause.is_none()
        && row.namespace.is_none();
    is_plain.then_some((row.group?, row.kind?))
}

impl Row {
    fn of(row: &CoverageRow<'_>) -> Self {
        Self {
            group: row.group.map(str::to_owned),
            kind: row.kind.map(str::to_owned),
            namespace: row.namespace.map(str::to_owned),
            ..Self::of_state(&row.coverage)
        }
    }

    fn of_state(coverage: &KindCoverage) -> Self {
        let cause = coverage.cause.as_deref();
        let cause = cause.map(|cause| crate::clean(cause, REASON_BYTES_MAX).into_owned());
        Self {
            group: None,
            kind: None,
            namespace: None,
            state: coverage.state.as_str().to_owned(),
            cause,
        }
    }

    /// The row of all other Kinds; `None` if the monitor does not report them.
    fn of_others(others: &KindCoverage) -> Option<Self> {
        (others.state != KindState::NotRequested).then(|| Self::of_state(others))
    }

    /// The state of the row. A word of a later version counts as incomplete.
    fn coverage(&self) -> KindCoverage {
        let mut states = KindState::ALL.iter();
        let state = states.find(|state| state.as_str() == self.state);
        let cause = self.cause.as_deref();
        KindCoverage {
            cause: cause.map(|cause| crate::clean(cause, REASON_BYTES_MAX).into()),
            ..KindCoverage::new(state.copied().unwrap_or(KindState::Incomplete))
        }
    }
}
