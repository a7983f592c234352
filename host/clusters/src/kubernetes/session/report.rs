//! Reports of a session: changed objects, changed coverage, and the moment when every Kind was listed.

use std::collections::BTreeSet;

use kindsight_cluster_index::{ApiKind, ScopeId};
use tokio::time::Instant;

use super::Session;
use crate::ClusterEvent;
use crate::kubernetes::known::Known;
use crate::kubernetes::run::{Closed, EventSender};
use crate::kubernetes::watches::WatchState;

impl Session {
    /// Sends the changes since the last call: worse coverage, then reports, then better coverage. The first session
    /// waits until every Kind was listed or could not be listed.
    pub(super) async fn report<E: From<ClusterEvent>>(
        &mut self,
        known: &mut Known,
        events: &mut EventSender<E>,
    ) -> Result<(), Closed> {
        self.is_coverage_due |= !self.is_synced;
        let lost = self.probe.outage().map(str::to_owned);
        self.watches.follow_outage(lost.is_some());
        self.list_parts(known);
        let may_sync = self.is_synced || lost.is_none() && self.are_listed();
        // The objects that are compared with a monitor's report may not be listed yet.
        if may_sync && self.watches.are_widened() {
            self.settle_deployments(known, events).await?;
        }
        // Some deployments may need the bodies of their objects.
        self.list_parts(known);
        if !self.is_synced && may_sync && self.are_listed() {
            self.is_synced = true;
            known.is_listed = true;
        }
        if self.is_synced && self.is_coverage_due {
            self.leave_old_scopes(known);
        }
        self.follow_coverage(known);
        events.cover_worse(&self.coverage).await?;
        if known.is_listed {
            Self::pass_on_inventories(known);
            let reports = self.take_reports(known);
            let missing = known.index.take_missing();
            events.report(reports, missing).await?;
            // A report that waits for objects relies on the coverage too.
            if !known.index.is_any_waiting() {
                events.cover(self.coverage.clone()).await?;
            }
            // The bodies of related objects may have to be read first.
            self.list_parts(known);
        }
        match lost {
            Some(why) => {
                self.is_stale = true;
                events.stale(&why).await
            }
            None if self.is_stale && self.is_reported(known) => {
                self.is_stale = false;
                self.turns.started();
                events.synced().await
            }
            None => Ok(()),
        }
    }

    /// Returns whether the changes since the last report are only later versions of reported objects. Anything else
    /// may come with further changes: a deleted object with the object that replaces it.
    pub(super) fn is_update(&self, known: &Known) -> bool {
        self.is_synced && !self.is_coverage_due && known.index.are_updates()
    }

    /// Returns whether every Kind was listed or could not be listed, or the time for that is over.
    fn are_listed(&self) -> bool {
        self.watches.are_listed() || self.list_until <= Instant::now()
    }

    /// Returns whether everything that the cluster sent was reported.
    pub(super) fn is_reported(&self, known: &Known) -> bool {
        self.is_synced && !known.index.is_any_waiting() && !self.watches.are_lost()
    }

    /// Removes the Kinds and namespaces that are not watched any more. An object remains while another watch of its Kind
    /// and namespace has never been listed: the credentials may not allow the list, and only the list shows whether
    /// the object still exists.
    fn leave_old_scopes(&self, known: &mut Known) {
        let watched: BTreeSet<ScopeId> = self.watches.iter().map(|watch| watch.scope).collect();
        let unlisted = self.watches.iter();
        let unlisted = unlisted.filter(|watch| !watch.was_listed() && !self.is_removed(watch));
        let unlisted: Vec<&WatchState> = unlisted.collect();
        let is_awaited = |kind: &ApiKind, namespace: &str| {
            unlisted.iter().any(|watch| {
                let only = watch.namespace();
                watch.kind.is_same_kind(kind) && only.is_none_or(|only| **only == *namespace)
            })
        };
        let is_watched = |scope: ScopeId| watched.contains(&scope);
        known.index.retain(is_watched, is_awaited);
    }
}
