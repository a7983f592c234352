//! Conclusions about vservers that the present reports lack.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, Coverage};
use kindsight_status::{ClusterView, ContextView, Report};

use super::{Heard, Planned};
use crate::item::Content;
use crate::settings::AaiSettings;

/// Conclusion about a vserver that the present reports lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// Its object does not exist.
    Deleted,
    /// The reports are current, and may lack objects of its Kind that exist.
    Uncertain,
    /// Its cluster is not heard.
    NotHeard,
}

/// The coverages that decide about the absent vservers of one application.
pub(super) struct Absences<'p> {
    settings: &'p AaiSettings,
    /// The coverage of each cluster without a report on the application.
    heard: &'p Heard,
    /// The coverages of the reports of each cluster; `None` if a report of the cluster is not current.
    reported: BTreeMap<&'p ClusterName, Option<Vec<&'p Coverage>>>,
}

impl<'p> Absences<'p> {
    pub(super) fn of(
        view: Option<&'p ContextView>,
        settings: &'p AaiSettings,
        heard: &'p Heard,
    ) -> Self {
        let mut reported = BTreeMap::new();
        for placement in view.into_iter().flat_map(ContextView::clusters) {
            let known = reported.entry(placement.cluster());
            let coverages = known.or_insert_with(|| Some(Vec::new()));
            if !is_current(placement) {
                *coverages = None;
            } else if let Some(coverages) = coverages {
                coverages.push(placement.coverage());
            }
        }
        Self {
            settings,
            heard,
            reported,
        }
    }

    /// Returns whether every report from a cluster with a place in A&AI is current.
    pub(super) fn are_reports_current(&self) -> bool {
        let mut reported = self.reported.iter();
        reported.all(|(cluster, coverages)| {
            coverages.is_some() || !self.settings.clusters.contains_key(*cluster)
        })
    }

    /// The conclusion about an absent vserver of a cluster.
    pub(super) fn conclude(&self, cluster: &ClusterName, item: &Planned) -> Absence {
        let is_uncertain = match (self.reported.get(cluster), self.heard.get(cluster)) {
            (Some(Some(coverages)), _) => {
                let mut coverages = coverages.iter();
                coverages.any(|coverage| self.may_lack(coverage, item))
            }
            (None, Some(coverage)) => self.may_lack(coverage, item),
            (Some(None), _) | (None, None) => return Absence::NotHeard,
        };
        if is_uncertain {
            Absence::Uncertain
        } else {
            Absence::Deleted
        }
    }

    /// Returns whether a report with this coverage may lack the object of a vserver. The Kind and the namespace of a
    /// vserver without an acknowledged content are not known.
    fn may_lack(&self, coverage: &Coverage, item: &Planned) -> bool {
        let place = match &item.content {
            Some(Content::Vserver(vserver)) => vserver.namespace_and_kind(),
            Some(Content::Vnf { .. }) | None => None,
        };
        let mut kinds = self.settings.reported_kinds();
        kinds.any(|(kind, group)| match place {
            Some((namespace, of)) => of == kind && coverage.may_lack(group, kind, Some(namespace)),
            None => coverage.may_lack(group, kind, None),
        })
    }
}

/// Returns whether the report of a placement is current.
pub(super) fn is_current(placement: &ClusterView) -> bool {
    matches!(placement.report(), Report::Received { stale: None })
}
