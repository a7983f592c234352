//! Reports of a session: when everything was seen, and when all of it was told.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::CoveredKinds;

use super::Session;
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::inventory::{GroupId, Report};
use crate::kubernetes::run::{Closed, Run};
use crate::{ApplicationReport, ClusterEvent};

impl Session {
    /// Reports what changed, once everything was seen.
    pub(super) async fn report<E: From<ClusterEvent>>(
        &mut self,
        run: &mut Run<E>,
    ) -> Result<(), Closed> {
        let trouble = self.trouble(run);
        self.list_parts();
        let is_seen = self.is_synced || trouble.is_none() && self.watches.are_listed();
        // What a report of a monitor is compared with may not be seen yet.
        if is_seen && self.watches.are_widened() {
            self.settle_deployments(run).await?;
        }
        // By now objects may be needed whole that were not.
        self.list_parts();
        let is_first = trouble.is_none() && self.watches.are_listed() && !self.is_synced;
        let mut reports = Vec::new();
        if is_first {
            self.is_synced = true;
            // What may not be seen any more is not gone either.
            let is_hidden = self.watches.forbidden().any(|it| run.used.contains(it));
            let is_hidden = is_hidden || self.is_cut_anew(run);
            self.is_sorted_anew = is_hidden || self.is_sorted_otherwise(run);
            let known: BTreeSet<&GroupId> = self.inventory.group_ids().collect();
            let gone = run.known.iter().filter(|it| !known.contains(it));
            reports.extend(gone.filter_map(empty_report));
        }
        if self.is_synced {
            reports.append(&mut self.take_reports());
            // Once all was told, what moves is told object by object.
            if self.is_sorted_anew {
                reports.iter_mut().for_each(Report::sort_anew);
            }
            for report in &reports {
                self.note_shown(report, run);
            }
            run.report(reports).await?;
            // What the objects of reports name may have to be read first.
            self.list_parts();
        }
        match trouble {
            Some(why) => {
                self.is_stale = true;
                run.stale(&why).await?;
            }
            None if self.is_told() => {
                self.note_told(run);
                if std::mem::take(&mut self.is_stale) {
                    run.synced().await?;
                }
            }
            None => {}
        }
        Ok(())
    }

    /// The reason why what is known of the cluster may be out of date.
    fn trouble<E>(&self, run: &Run<E>) -> Option<String> {
        let states = &self.deployments.states;
        self.watches.trouble(|watch, kind, failure| {
            let is_refused = matches!(failure, ApiError::Forbidden(_) | ApiError::NotFound(_));
            // Nothing of it was seen yet, so that it is not known what is gone.
            let is_awaited = !self.is_synced && !is_refused && run.used.contains(kind);
            is_awaited || self.inventory.is_used(watch) || states.is_told_by(watch)
        })
    }

    /// Returns whether all that the cluster said was reported: nothing is being listed, and no application waits
    /// for objects that are to be read.
    pub(super) fn is_told(&self) -> bool {
        self.is_synced && self.watches.are_listed() && !self.inventory.is_any_waiting()
    }

    /// Notes by what everything was told, for the next session.
    fn note_told<E>(&mut self, run: &mut Run<E>) {
        self.is_sorted_anew = false;
        run.sorted_by = Some(self.sorted_by());
        run.cut = self.cut();
        let used = self
            .watches
            .iter()
            .filter(|(id, _)| self.inventory.is_used(*id));
        run.used = used.map(|(_, kind)| Arc::clone(kind)).collect();
    }
}

/// The report that nothing is left of an application.
fn empty_report(id: &GroupId) -> Option<Report> {
    let GroupId::Application { application, app } = id else {
        return None;
    };
    Some(Report::Application(ApplicationReport {
        application: application.clone(),
        app: Arc::clone(app),
        objects: Vec::new(),
        hooks: BTreeSet::new(),
        rejected: Vec::new(),
        related: Vec::new(),
        covered: CoveredKinds::partial(),
        taken: Vec::new(),
        is_sorted_anew: false,
    }))
}
