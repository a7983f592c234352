//! The lines of each part of a batch.

use std::sync::Arc;

use kindsight_model::{
    ClusterName, Coverage, CoverageEntry, CoverageRow, KindCoverage, RecordSubject,
};
use kindsight_status::{
    AppView, ApplicationKey, ChangedSubject, ClusterView, ConnectionView, ContextView,
    HistoryChange, StoreAway, Transition,
};

use super::plan::{RowsLeft, Step, plan};
use super::sent::SentApplication;
use super::{CHUNK_BYTES, Feed, FeedScope, Item, PlacementItem};
use crate::batch::StoresChange;
use crate::wire::{
    ApplicationLine, ConnectionLine, GoneLine, HistoryLine, Line, PlacementLine, RecordLine, RowOp,
    RowsLine, StaleLine, StoresLine,
};

/// Typical size of a row without its object and manifest, in bytes.
const ROW_BYTES: usize = 512;

impl Feed {
    pub(super) fn write_item(&mut self, item: Item) {
        match item {
            Item::Connection(cluster) => self.write_connection(&cluster),
            Item::Application(key) => self.write_application(key),
            Item::Placement(placement) => self.write_placement(&placement),
            Item::Rows(left) => {
                let rows = Some(self.rows(left));
                self.lines.write(&Line {
                    rows,
                    ..Line::default()
                });
            }
            Item::History(line) => self.lines.write(&line),
            Item::Record(subject) => self.write_record(&subject),
            Item::Stores => self.write_stores(),
            Item::End => self.write_end(),
        }
    }

    /// Writes the connection to a cluster, if it differs. A cluster whose owner changed affects all its placements.
    pub(super) fn write_connection(&mut self, cluster: &ClusterName) {
        let view = self
            .model
            .inspect(|snapshot| snapshot.connection(cluster).cloned());
        let view = view.filter(|view| self.has(view));
        let known = self.sent.connections.get(cluster);
        let is_same = match (known, &view) {
            (None, None) => true,
            (Some(known), Some(view)) => Arc::ptr_eq(known, view),
            _ => false,
        };
        if is_same {
            return;
        }
        if self.scope == FeedScope::Own && known.is_some() != view.is_some() {
            self.forget_placements(cluster);
        }
        self.lines.write(&Line {
            connection: Some(ConnectionLine::of(cluster, view.as_deref())),
            ..Line::default()
        });
        match view {
            Some(view) => self.sent.connections.insert(cluster.clone(), view),
            None => self.sent.connections.remove(cluster),
        };
    }

    /// Forgets what was sent about the applications in a cluster that this host begins or ends to own.
    fn forget_placements(&mut self, cluster: &ClusterName) {
        let is_in = |view: &ContextView| {
            let mut placements = view.clusters();
            placements.any(|placement| placement.cluster() == cluster)
        };
        for (key, sent) in &mut self.sent.applications {
            if is_in(&sent.view) {
                sent.view = Arc::default();
                sent.history = None;
                self.dirty.add(ChangedSubject::Application(key.clone()));
            }
        }
    }

    fn has(&self, view: &ConnectionView) -> bool {
        self.scope == FeedScope::Every || !view.owner.is_remote
    }

    /// Returns whether the placements of a cluster are sent. A cluster without a connection is not configured any more,
    /// or only another orchestrator reports on it.
    fn has_cluster(&self, cluster: &ClusterName) -> bool {
        self.scope == FeedScope::Every || self.sent.connections.contains_key(cluster)
    }

    /// Returns whether a transition is sent: of the application itself, or of a resource in a cluster that is sent.
    fn is_history_sent(&self, transition: &Transition) -> bool {
        let resource = transition.resource.as_ref();
        resource.is_none_or(|resource| self.has_cluster(&resource.cluster))
    }

    /// Returns whether any placement of an application is sent, or the application has none on a host that sends all
    /// clusters. Two hosts that follow each other would otherwise keep an application without placements alive.
    fn has_part_of(&self, view: &ContextView) -> bool {
        let mut placements = view.clusters();
        self.scope == FeedScope::Every || placements.any(|it| self.has_cluster(it.cluster()))
    }

    /// Writes an application, and queues its placements and its history in front of the rest of the batch.
    fn write_application(&mut self, key: ApplicationKey) {
        let known = self.sent.applications.get(&key);
        let position = known.and_then(|known| known.history);
        let (view, change, history) = self.model.application_since(&key, position);
        let change = change.only(|transition| self.is_history_sent(transition));
        let Some(view) = view.filter(|view| self.has_part_of(view)) else {
            if self.sent.applications.remove(&key).is_some() {
                self.gone.push(key);
            }
            return;
        };
        let before = known.map(|known| Arc::clone(&known.view));
        let of: Arc<str> = key.to_string().into();
        let placements = self.changed_placements(before.as_deref(), &view);
        let is_sent = placements.is_empty()
            && change == HistoryChange::default()
            && self.is_same_part(&of, before.as_ref(), &view);
        if !is_sent {
            let line = self.application_line(&of, &view);
            self.lines.write(&Line {
                application: Some(line),
                ..Line::default()
            });
            self.queue_history(&of, &change);
            self.queue_placements(&of, placements, (before.as_ref(), &view));
        }
        self.sent
            .applications
            .insert(key, SentApplication { view, history });
    }

    fn application_line(&self, of: &Arc<str>, view: &ContextView) -> ApplicationLine {
        ApplicationLine::of(Arc::clone(of), view, |cluster| self.has_cluster(cluster))
    }

    /// Returns whether two views of an application differ at most in placements that are not sent. The placements of other
    /// hosts are not sent back to them: two hosts would otherwise answer each other without an end.
    fn is_same_part(
        &self,
        of: &Arc<str>,
        before: Option<&Arc<ContextView>>,
        after: &Arc<ContextView>,
    ) -> bool {
        before.is_some_and(|before| {
            Arc::ptr_eq(before, after)
                || self.application_line(of, before) == self.application_line(of, after)
        })
    }

    fn queue_history(&mut self, of: &Arc<str>, change: &HistoryChange) {
        let lines = &mut self.lines;
        if let Some(history) = HistoryLine::of(of, change, |by| lines.number(by)) {
            let history = Some(history);
            self.queue.push_front(Item::History(Box::new(Line {
                history,
                ..Line::default()
            })));
        }
    }

    /// The positions of the sent placements that differ between two views.
    fn changed_placements(
        &self,
        before: Option<&ContextView>,
        after: &ContextView,
    ) -> Vec<(usize, usize)> {
        let mut changed = Vec::new();
        for (app, view) in after.apps.iter().enumerate() {
            let known = before.and_then(|before| before.app(view.name(), app));
            if known.is_some_and(|known| Arc::ptr_eq(known, view)) {
                continue;
            }
            for (at, placement) in view.clusters().iter().enumerate() {
                let is_same = || {
                    let known = known.and_then(|known| known_placement(known, at, placement));
                    known.is_some_and(|known| Arc::ptr_eq(known, placement))
                };
                if self.has_cluster(placement.cluster()) && !is_same() {
                    changed.push((app, at));
                }
            }
        }
        changed
    }

    fn queue_placements(
        &mut self,
        of: &Arc<str>,
        changed: Vec<(usize, usize)>,
        (before, after): (Option<&Arc<ContextView>>, &Arc<ContextView>),
    ) {
        for at in changed.into_iter().rev() {
            self.queue.push_front(Item::Placement(PlacementItem {
                of: Arc::clone(of),
                before: before.cloned(),
                after: Arc::clone(after),
                at,
            }));
        }
    }

    fn write_placement(&mut self, item: &PlacementItem) {
        let app = item.after.apps.get(item.at.0);
        let Some((app, view)) = app.and_then(|app| Some((app, app.clusters().get(item.at.1)?)))
        else {
            return;
        };
        let before = item.before.as_ref();
        let before = before
            .and_then(|before| find(before, item.at, &item.after))
            .cloned();
        let steps = plan(
            before.as_ref().map(|before| before.resources()),
            view.resources(),
        );
        let rows = steps.map(|steps| {
            self.rows(RowsLeft {
                before,
                after: Arc::clone(view),
                steps,
            })
        });
        let connection = self.sent.connections.get(view.cluster());
        let placement = PlacementLine {
            of: Arc::clone(&item.of),
            app: Arc::clone(app.name()),
            cluster: view.cluster().to_string().into(),
            fence: connection.map_or(0, |connection| connection.owner.fence),
            received: *view.report() != kindsight_status::Report::NotYet,
            stale: view.report().stale().map(|stale| StaleLine {
                since_ms: stale.since_ms,
                reason: Arc::clone(&stale.reason),
            }),
            faults: view.faults().to_vec(),
            cluster_faults: view.cluster_faults().to_vec(),
            unanswered: view.unanswered().to_vec(),
            lacking: lacking(view.coverage()),
            connectivity: view.connectivity(),
            last_instance: view.last_instance().cloned(),
            rows,
        };
        self.lines.write(&Line {
            placement: Some(placement),
            ..Line::default()
        });
    }

    /// The rows for one line. The rest is queued as the next item.
    fn rows(&mut self, mut left: RowsLeft) -> RowsLine {
        let (mut ops, mut bytes) = (Vec::new(), 0);
        while bytes < CHUNK_BYTES
            && let Some(step) = left.steps.pop_front()
        {
            match step {
                Step::Keep(first, count) => ops.push(RowOp::Keep(first, count)),
                Step::Send(at, like) => {
                    if let Some((mut row, resource)) = left.row(at, like) {
                        let texts = [&resource.object, &resource.manifest].into_iter().flatten();
                        bytes += texts.map(|object| object.json.len()).sum::<usize>();
                        bytes += ROW_BYTES;
                        let by = resource.verdict.by.as_deref();
                        row.by = by.map(|by| self.lines.number(by));
                        ops.push(RowOp::Row(Box::new(row)));
                    }
                }
            }
        }
        let more = !left.steps.is_empty();
        if more {
            self.queue.push_front(Item::Rows(left));
        }
        RowsLine { ops, more }
    }

    fn write_record(&mut self, subject: &RecordSubject) {
        let record = self
            .model
            .inspect(|snapshot| snapshot.record(subject).cloned());
        let is_same = match (self.sent.records.get(subject), &record) {
            (None, None) => true,
            (Some(known), Some(record)) => Arc::ptr_eq(known, record),
            _ => false,
        };
        if is_same {
            return;
        }
        self.lines.write(&Line {
            record: Some(RecordLine::of(subject, record.as_deref())),
            ..Line::default()
        });
        match record {
            Some(record) => self.sent.records.insert(subject.clone(), record),
            None => self.sent.records.remove(subject),
        };
    }

    fn write_stores(&mut self) {
        let stores = self.model.inspect(|snapshot| StoresChange {
            contexts: snapshot.store_away().cloned(),
            states: snapshot.state_store_away().cloned(),
        });
        if stores == self.sent.stores {
            return;
        }
        let line = |away: &StoreAway| StaleLine {
            since_ms: away.since_ms,
            reason: Arc::clone(&away.reason),
        };
        self.lines.write(&Line {
            stores: Some(StoresLine {
                contexts: stores.contexts.as_ref().map(line),
                states: stores.states.as_ref().map(line),
            }),
            ..Line::default()
        });
        self.sent.stores = stores;
    }

    /// Writes the end of a batch. Applications that are gone come last, because records named them.
    fn write_end(&mut self) {
        for key in std::mem::take(&mut self.gone) {
            let of = key.to_string().into();
            self.lines.write(&Line {
                gone: Some(GoneLine { of }),
                ..Line::default()
            });
        }
        let end = Some(self.end());
        self.lines.write(&Line {
            end,
            ..Line::default()
        });
    }
}

/// The states for which a report may lack objects. Each line of a placement has them, so their texts are left out.
fn lacking(coverage: &Coverage) -> Vec<CoverageEntry> {
    let rows = coverage.lacking().map(|row| CoverageRow {
        coverage: KindCoverage::new(row.coverage.state),
        ..row
    });
    rows.map(CoverageEntry::from).collect()
}

/// The placement in an earlier view that has the place `at` in a later one.
fn find<'v>(
    before: &'v ContextView,
    (app, at): (usize, usize),
    after: &ContextView,
) -> Option<&'v Arc<ClusterView>> {
    let view = after.apps.get(app)?;
    let known = before.app(view.name(), app)?;
    known_placement(known, at, view.clusters().get(at)?)
}

/// The placement of an earlier app that has the place `at` in a later one. Nearly always, it has the same place in both.
fn known_placement<'v>(
    before: &'v AppView,
    at: usize,
    placement: &ClusterView,
) -> Option<&'v Arc<ClusterView>> {
    let is_placement = |known: &&Arc<ClusterView>| known.cluster() == placement.cluster();
    let same = before.clusters().get(at).filter(is_placement);
    same.or_else(|| before.clusters().iter().find(is_placement))
}
