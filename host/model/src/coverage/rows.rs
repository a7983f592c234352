//! The states of a coverage as rows, with their texts for readers.

use std::fmt;
use std::sync::Arc;

use super::{Coverage, KindCoverage, KindState, is_served_by};

/// The state of one Kind in one scope, of one group, or of a limit on the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageRow<'c> {
    /// API group; none for a limit on all objects of the cluster.
    pub group: Option<&'c str>,
    /// Kind; none for all Kinds of the group.
    pub kind: Option<&'c str>,
    /// Namespace; none for the cluster scope.
    pub namespace: Option<&'c str>,
    /// State, start and cause.
    pub coverage: KindCoverage,
}

impl Coverage {
    /// Each state by Kind, group and namespace, then the states of groups and the limit on the cluster.
    pub fn rows(&self) -> impl Iterator<Item = CoverageRow<'_>> {
        let table = &*self.0;
        let kinds = table.kinds.iter().flat_map(|(kind, groups)| {
            groups.iter().flat_map(move |(group, extents)| {
                let scopes = extents.iter();
                scopes.map(move |(namespace, coverage)| CoverageRow {
                    group: Some(group),
                    kind: Some(kind),
                    namespace,
                    coverage: coverage.clone(),
                })
            })
        });
        let groups = table.groups.iter().map(|(group, coverage)| CoverageRow {
            group: Some(group),
            kind: None,
            namespace: None,
            coverage: coverage.clone(),
        });
        let limit = table.left_out.iter().map(|reason| CoverageRow {
            group: None,
            kind: None,
            namespace: None,
            coverage: KindCoverage::caused(KindState::Incomplete, Arc::clone(reason)),
        });
        kinds.chain(groups).chain(limit)
    }

    /// The Kinds, groups and limits that make this coverage incomplete.
    pub fn not_covered(&self) -> impl Iterator<Item = CoverageRow<'_>> {
        self.rows().filter(|row| !row.coverage.state.is_covered())
    }

    /// The Kinds, groups and limits for which a report may lack objects that exist. A row without a group and a Kind
    /// concerns every Kind.
    pub fn lacking(&self) -> impl Iterator<Item = CoverageRow<'_>> {
        let others = CoverageRow {
            group: None,
            kind: None,
            namespace: None,
            coverage: self.0.others.clone(),
        };
        let rows = self.rows().chain([others]);
        rows.filter(|row| row.coverage.state.may_lack_objects())
    }

    /// Returns whether a report may lack objects of a Kind that exist in this namespace; in any namespace if it is
    /// `None`. If so, an object that is not in the report was perhaps not deleted.
    pub fn may_lack(&self, group: &str, kind: &str, namespace: Option<&str>) -> bool {
        let is_in = |row: &CoverageRow<'_>| match (row.namespace, namespace) {
            (Some(limited), Some(namespace)) => limited == namespace,
            _ => true,
        };
        self.lacking().any(|row| {
            row.group.is_none_or(|listed| is_served_by(group, listed))
                && row.kind.is_none_or(|listed| listed == kind)
                && is_in(&row)
        })
    }

    /// The Kinds and groups that the server has not answered yet.
    pub fn unanswered(&self) -> impl Iterator<Item = CoverageRow<'_>> {
        self.rows().filter(|row| !row.coverage.state.is_answered())
    }
}

impl CoverageRow<'_> {
    /// The name for readers: `Kind`, `Kind.group`, either with ` in namespace`, or a group; empty for a limit
    /// on all objects of the cluster.
    pub fn name(&self) -> String {
        let mut name = match (self.kind, self.group.unwrap_or_default()) {
            (None, group) => group.to_owned(),
            (Some(kind), "") => kind.to_owned(),
            (Some(kind), group) => format!("{kind}.{group}"),
        };
        if let Some(namespace) = self.namespace {
            name.push_str(" in ");
            name.push_str(namespace);
        }
        name
    }
}

impl fmt::Display for CoverageRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            name if name.is_empty() => f.write_str(self.coverage.cause()),
            name => write!(f, "{name}: {}", self.coverage.cause()),
        }
    }
}
