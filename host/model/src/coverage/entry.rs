//! The written form of the states of a coverage, for files and for other hosts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Coverage, CoverageRow, KindCoverage, KindState, Scope};

/// The written form of one [`CoverageRow`]: the state of a Kind in one scope, of a group, or of a limit on the cluster.
///
/// The file of last-known state and the stream between hosts contain it. So a change of a member is a change of both
/// formats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CoverageEntry {
    /// Left out for a limit on all objects of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Arc<str>>,
    /// Left out for all Kinds of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Arc<str>>,
    /// Left out for the cluster without a limit on namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<Arc<str>>,
    state: KindState,
    /// Start of the state, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Arc<str>>,
}

impl From<CoverageRow<'_>> for CoverageEntry {
    fn from(row: CoverageRow<'_>) -> Self {
        Self {
            group: row.group.map(Arc::from),
            kind: row.kind.map(Arc::from),
            namespace: row.namespace.map(Arc::from),
            state: row.coverage.state,
            since_ms: row.coverage.since_ms,
            cause: row.coverage.cause,
        }
    }
}

/// Sets the state of each entry.
impl Extend<CoverageEntry> for Coverage {
    fn extend<I: IntoIterator<Item = CoverageEntry>>(&mut self, entries: I) {
        for entry in entries {
            let state = KindCoverage {
                state: entry.state,
                since_ms: entry.since_ms,
                cause: entry.cause,
            };
            let scope = entry.namespace.as_deref();
            let scope = scope.map_or(Scope::Cluster, Scope::Namespace);
            match (&entry.group, &entry.kind) {
                (Some(group), Some(kind)) => self.set(group, kind, scope, state),
                (Some(group), None) => self.set_group(group, state),
                (None, _) => self.leave_out(state.cause.unwrap_or_default()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_as_it_was_written() {
        let mut coverage = Coverage::default();
        let forbidden = KindCoverage {
            since_ms: Some(7),
            ..KindCoverage::caused(KindState::Forbidden, "why")
        };
        coverage.set("apps", "Deployment", Scope::Cluster, forbidden.clone());
        coverage.set("", "Secret", Scope::Namespace("web"), forbidden);
        coverage.set_group(
            "metrics.k8s.io",
            KindCoverage::caused(KindState::Unavailable, "503"),
        );
        coverage.leave_out("too many objects");
        let entries: Vec<CoverageEntry> = coverage.not_covered().map(CoverageEntry::from).collect();
        let json = serde_json::to_string(&entries).unwrap();
        let expected = r#"[{"group":"apps","kind":"Deployment","state":"forbidden","since-ms":7,"cause":"why"},{"group":"","kind":"Secret","namespace":"web","state":"forbidden","since-ms":7,"cause":"why"},{"group":"metrics.k8s.io","state":"unavailable","cause":"503"},{"state":"incomplete","cause":"too many objects"}]"#;
        assert_eq!(json, expected);
        let read: Vec<CoverageEntry> = serde_json::from_str(&json).unwrap();
        let mut again = Coverage::default();
        again.extend(read);
        assert_eq!(again, coverage);
    }
}
