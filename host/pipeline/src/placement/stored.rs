//! Reports that an `AppContext` stores: from before the start, or from the watcher of another orchestrator.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use kindsight_model::{Connectivity, DeploymentId, Origin, Report, decode_status};

use super::change::SILENT;
use super::freshness::Freshness;
use super::held_report::HeldReport;
use super::verdicts::Verdicts;
use super::{Placement, Work};

/// Hashes reports, to recognize an unchanged one. Each process has its own seed, because clusters choose the
/// reports.
static REPORT_HASHER: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);

/// Reason of a stored value that is not a report.
const DAMAGED: &str =
    "what is stored as the report of the cluster cannot be read; the last readable one is shown";

/// Reason of a report that was deleted from the store.
const GONE: &str = "the report of the cluster is no longer stored; the last one is shown";

/// Reason of a report of a cluster that its orchestrator cannot reach.
const RETRYING: &str = "the orchestrator cannot reach the cluster and tries again; the last report that it stored is shown";

/// The side of the store of a placement.
#[derive(Default)]
pub(super) struct Stored {
    /// The hash of the last report that was seen in the store.
    seen: Option<u64>,
    /// The hash of the last bundle that the cluster itself reported.
    live: Option<u64>,
    /// True if any report had the list of any Kind: then reports without it cover every Kind too.
    covers_every_kind: bool,
    /// The reason why the last stored report cannot be read.
    fault: Option<Arc<str>>,
    /// The outcome of the orchestrator's last attempt to reach the cluster.
    connectivity: Option<Connectivity>,
    /// The last report of the cluster itself, while a report of the store is shown in its place.
    aside: Option<Box<LiveReport>>,
}

/// A report of the cluster itself, with the faults of reports after it.
#[derive(Clone)]
pub(crate) struct LiveReport {
    report: HeldReport,
    unreadable: BTreeMap<String, Arc<str>>,
    /// Since when the cluster no longer reports on the app, in Unix milliseconds.
    silent_ms: Option<i64>,
}

impl Stored {
    /// The connectivity that the orchestrator last stored.
    pub(super) fn connectivity(&self) -> Option<Connectivity> {
        self.connectivity
    }

    /// Notes a report of the cluster itself.
    pub(super) fn reported(&mut self, report: &Report) {
        let status = report.status_json.as_deref();
        self.live = status.map(|json| REPORT_HASHER.hash_one(json));
        if report.origin == Origin::Monitor {
            self.covers_every_kind = report.coverage.is_every_kind();
        }
        self.aside = None;
        self.fault = None;
    }

    /// The reason why the last stored report cannot be read.
    pub(super) fn fault(&self) -> Option<&Arc<str>> {
        self.fault.as_ref()
    }

    /// Puts a report aside until the cluster is heard.
    pub(super) fn put_aside(&mut self, live: Box<LiveReport>) {
        self.aside = Some(live);
    }

    /// Forgets the report that was put aside.
    pub(super) fn forget_aside(&mut self) {
        self.aside = None;
    }
}

impl Placement {
    /// Completes the report of a monitor with the coverage that its earlier reports had.
    pub(crate) fn complete(&self, report: &mut Report) {
        if self.stored.covers_every_kind {
            report.cover_every_kind();
        }
    }

    /// Returns whether it shows a report of the cluster itself that this process received.
    pub(super) fn is_live(&self) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| report.origin != Origin::Stored)
    }

    /// Takes over a report of the store. An unchanged report changes nothing. While the cluster is heard, its own
    /// report counts more. Returns whether it did.
    pub(super) fn take_stored(
        &mut self,
        deployment: &DeploymentId,
        json: &str,
        now_ms: i64,
    ) -> bool {
        let hash = REPORT_HASHER.hash_one(json);
        if self.stored.seen.replace(hash) == Some(hash) {
            return false;
        }
        let is_heard = !self.freshness.has(Freshness::Unreachable);
        if self.is_live() && (is_heard || self.stored.live == Some(hash)) {
            return false;
        }
        if self.is_live() {
            // The source does not send it again when the cluster is reached and nothing changed.
            self.stored.aside = self.live();
        }
        self.verdicts.discard_recheck();
        // It is newer than the connectivity that the orchestrator last stored.
        self.freshness.clear(Freshness::OrchestratorRetrying);
        match decode_status(deployment.clone(), json.as_bytes()) {
            Ok(bundle) => {
                let mut report = bundle.report;
                report.origin = Origin::Stored;
                self.complete(&mut report);
                self.stored.covers_every_kind = report.coverage.is_every_kind();
                self.report = Some(HeldReport::of(report, &self.desired));
                self.stored.fault = None;
                // It is newer than the last report of the cluster.
                self.freshness.clear(Freshness::ReporterBehind);
                self.report_is_readable();
            }
            Err(error) => {
                let fault: Arc<str> = format!("stored report: {error}").into();
                self.freshness
                    .set(Freshness::Unreadable, now_ms, Arc::clone(&fault));
                self.stored.fault = Some(fault);
            }
        }
        true
    }

    /// Marks the last report of the store as stale: it is no longer there, or it cannot be read.
    pub(super) fn lose_stored(&mut self, is_damaged: bool, now_ms: i64) {
        let was_seen = self.stored.seen.take().is_some();
        if !self.is_live() && (was_seen || is_damaged) {
            let reason = if is_damaged { DAMAGED } else { GONE };
            self.freshness.set(Freshness::Unreadable, now_ms, reason);
        }
    }

    /// Handles that the shown report can be read. A report of the cluster itself that cannot be read stays marked.
    fn report_is_readable(&mut self) {
        if self.unreadable.is_empty() {
            self.freshness.clear(Freshness::Unreadable);
        }
    }

    /// Returns whether the cluster itself has reported in this process.
    pub(crate) fn was_heard(&self) -> bool {
        self.is_live() || self.stored.aside.is_some()
    }

    /// The last report of the cluster itself; none if there was none, an earlier source of the cluster sent it, or a
    /// report of the store is shown.
    pub(crate) fn live(&self) -> Option<Box<LiveReport>> {
        let is_earlier = self.is_unconfirmed() || self.freshness.has(Freshness::NotConfigured);
        let is_shown = self.is_live() && !is_earlier;
        let report = self.report.clone().filter(|_| is_shown)?;
        Some(Box::new(LiveReport {
            report: report.unjudged(),
            unreadable: self.unreadable.clone(),
            silent_ms: self.freshness.since_ms(Freshness::ReporterBehind),
        }))
    }

    /// Forgets the reports of the cluster itself.
    pub(super) fn forget_live(&mut self) {
        self.stored.forget_aside();
        if self.is_live() {
            self.report = None;
            self.verdicts = Verdicts::default();
        }
    }

    /// Shows the report of the cluster itself again that was put aside.
    pub(super) fn bring_back_live(&mut self) -> Work {
        let Some(live) = self.stored.aside.take() else {
            return Work::Nothing;
        };
        self.verdicts.discard_recheck();
        let mut report = live.report;
        // The manifests may have changed since, or belong to another instance.
        report.complete_from(&self.desired);
        self.report = Some(report);
        self.unreadable = live.unreadable;
        self.stored.fault = None;
        for resolved in [
            Freshness::NotConfigured,
            Freshness::Unconfirmed,
            Freshness::OrchestratorRetrying,
            Freshness::StoreAway,
        ] {
            self.freshness.clear(resolved);
        }
        if let Some(silent_ms) = live.silent_ms {
            self.freshness
                .set(Freshness::ReporterBehind, silent_ms, SILENT);
        }
        self.report_is_readable();
        Work::Judge
    }

    /// Takes over the connectivity that the orchestrator stored. While the cluster itself reports, its own state
    /// counts more.
    pub(super) fn take_connectivity(&mut self, connectivity: Option<Connectivity>, now_ms: i64) {
        let before = std::mem::replace(&mut self.stored.connectivity, connectivity);
        match connectivity {
            Some(Connectivity::Retrying) if before != connectivity && !self.is_live() => {
                self.freshness
                    .set(Freshness::OrchestratorRetrying, now_ms, RETRYING);
            }
            Some(Connectivity::Retrying) => {}
            _ => {
                self.freshness.clear(Freshness::OrchestratorRetrying);
            }
        }
    }

    /// The outcome of the last attempt to reach the cluster: our own if the cluster reports itself, else the
    /// orchestrator's.
    pub(super) fn connectivity(&self) -> Connectivity {
        if self.is_live() {
            return Connectivity::Available;
        }
        self.stored.connectivity.unwrap_or(Connectivity::Unknown)
    }
}
