//! Reports on contexts that are not known yet.
//!
//! A cluster sends a report only once. One that arrives before its context is written is kept here, or it
//! would be missing until the next report.

use std::collections::VecDeque;

use kindsight_model::{Bundle, ClusterName, ContextId};

/// Maximum number of kept reports; of more, the oldest is dropped.
pub(crate) const UNCLAIMED_MAX: usize = 256;
/// Maximum size of all kept reports, in bytes; of more, the oldest is dropped.
const UNCLAIMED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reports that wait for their context, oldest first.
#[derive(Default)]
pub(crate) struct Unclaimed {
    reports: VecDeque<(ClusterName, Bundle)>,
    bytes: usize,
}

impl Unclaimed {
    /// Keeps a report; one of the same cluster on the same deployment is replaced.
    pub(crate) fn keep(&mut self, cluster: ClusterName, bundle: Bundle) {
        self.forget(|of, waiting| *of == cluster && waiting.deployment == bundle.deployment);
        self.bytes += bundle.status_json.len();
        self.reports.push_back((cluster, bundle));
        while self.reports.len() > UNCLAIMED_MAX || self.bytes > UNCLAIMED_BYTES_MAX {
            let Some((_, oldest)) = self.reports.pop_front() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.status_json.len());
        }
    }

    /// Removes and returns the reports on a context.
    pub(crate) fn claim(&mut self, id: &ContextId) -> Vec<(ClusterName, Bundle)> {
        self.forget(|_, waiting| waiting.deployment.context == *id)
    }

    /// Removes and returns the reports that match.
    pub(crate) fn forget(
        &mut self,
        matches: impl Fn(&ClusterName, &Bundle) -> bool,
    ) -> Vec<(ClusterName, Bundle)> {
        let reports = std::mem::take(&mut self.reports);
        let (taken, kept): (VecDeque<_>, VecDeque<_>) = reports
            .into_iter()
            .partition(|(cluster, it)| matches(cluster, it));
        self.reports = kept;
        let bytes: usize = taken.iter().map(|(_, it)| it.status_json.len()).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        taken.into()
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::decode_status;

    use super::*;

    fn bundle(deployment: &str) -> Bundle {
        decode_status(deployment.parse().unwrap(), b"{}").unwrap()
    }

    #[test]
    fn a_report_waits_for_its_context_and_the_newest_of_a_cluster_counts() {
        let mut unclaimed = Unclaimed::default();
        let cluster: ClusterName = "p+c".parse().unwrap();
        for deployment in ["7-a", "7-a", "7-b", "8-a"] {
            unclaimed.keep(cluster.clone(), bundle(deployment));
        }
        let claimed = unclaimed.claim(&"7".parse().unwrap());
        let claimed: Vec<String> = claimed
            .iter()
            .map(|(_, it)| it.deployment.to_string())
            .collect();
        assert_eq!(claimed, ["7-a", "7-b"]);
        assert!(unclaimed.claim(&"7".parse().unwrap()).is_empty());
        assert_eq!(unclaimed.reports.len(), 1);
        assert_eq!(unclaimed.bytes, 2);
    }

    #[test]
    fn only_so_many_reports_wait() {
        let mut unclaimed = Unclaimed::default();
        for id in 0..UNCLAIMED_MAX + 3 {
            unclaimed.keep("p+c".parse().unwrap(), bundle(&format!("{id}-a")));
        }
        assert_eq!(unclaimed.reports.len(), UNCLAIMED_MAX);
        assert_eq!(unclaimed.bytes, 2 * UNCLAIMED_MAX);
        assert!(unclaimed.claim(&"2".parse().unwrap()).is_empty());
        assert_eq!(unclaimed.claim(&"3".parse().unwrap()).len(), 1);
    }
}
