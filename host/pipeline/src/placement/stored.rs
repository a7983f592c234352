//! Reports of the store: those of before the start, and those of another orchestrator's watcher.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use kindsight_model::{
    Connectivity, Coverage, CoveredKinds, DeploymentId, Object, Rejected, decode_status,
};
use kindsight_status::Staleness as Shown;

use super::Placement;
use super::staleness::Staleness;
use crate::judge::Judge;

/// Hashes reports, to recognize an unchanged one. Seeded anew in each process, since clusters choose them.
static REPORT_HASHER: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);

/// The reason of a report in whose place something is stored that is no report.
const DAMAGED: &str =
    "what is stored as the report of the cluster cannot be read; the last readable one is shown";

/// The reason of a report that was deleted from the store.
const GONE: &str = "the report of the cluster is no longer stored; the last one is shown";

/// The store's side of a placement.
#[derive(Default)]
pub(super) struct Stored {
    /// The hash of the last report that was seen in the store.
    seen: Option<u64>,
    /// The hash of the last bundle that the cluster itself reported.
    live: Option<u64>,
    /// The outcome of the orchestrator's last attempt to reach the cluster.
    connectivity: Option<Connectivity>,
    /// The last report of the cluster itself, while one of the store is shown in its place.
    aside: Option<Box<LiveReport>>,
}

/// A report of the cluster itself.
pub(crate) struct LiveReport {
    objects: Arc<[Object]>,
    related: Arc<[Object]>,
    rejected: Arc<[Rejected]>,
    coverage: Coverage,
    covered: Arc<CoveredKinds>,
    covers_every_kind: bool,
    report_faults: Vec<Arc<str>>,
    unreadable: BTreeMap<String, Arc<str>>,
}

impl Stored {
    /// Notes a report of the cluster itself; with the bundle where it is one.
    pub(super) fn reported(&mut self, status_json: Option<&str>) {
        self.live = status_json.map(|json| REPORT_HASHER.hash_one(json));
        self.aside = None;
    }
}

impl Placement {
    /// Takes over a report of the store, unless it is unchanged, or the cluster itself has reported in this
    /// process and is heard. Returns whether it did.
    pub(super) fn take_stored(
        &mut self,
        deployment: &DeploymentId,
        json: &str,
        now_ms: i64,
    ) -> bool {
        let hash = REPORT_HASHER.hash_one(json);
        let seen = self.stored.seen.replace(hash);
        if seen == Some(hash) || self.stored.live == Some(hash) {
            return false;
        }
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        if is_live && !self.staleness.is_unreachable() {
            return false;
        }
        if is_live {
            // It is not told again where the cluster is heard again and nothing changed.
            self.stored.aside = self.live();
        }
        self.discard_recheck();
        // It is newer than what the orchestrator last said of the cluster.
        self.staleness.reached();
        match decode_status(deployment.clone(), json.as_bytes()) {
            Ok(bundle) => {
                self.take(bundle);
                self.staleness.remember();
                self.stored_is_readable();
            }
            Err(error) => {
                let fault: Arc<str> = format!("stored report: {error}").into();
                self.staleness.unreadable(now_ms, &fault);
                self.report_faults = vec![fault];
            }
        }
        true
    }

    /// Marks the last report of the store as stale: it is no longer there, or what is there cannot be read.
    pub(super) fn lose_stored(&mut self, is_damaged: bool, now_ms: i64) {
        let was_seen = self.stored.seen.take().is_some();
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        if !is_live && (was_seen || is_damaged) {
            let reason = if is_damaged { DAMAGED } else { GONE };
            self.staleness.unreadable(now_ms, &reason.into());
        }
    }

    /// Handles that what is shown can be read. A report of the cluster itself that cannot be is marked on.
    fn stored_is_readable(&mut self) {
        if self.unreadable.is_empty() {
            self.staleness.readable();
        }
    }

    /// Returns whether the cluster itself has reported in this process.
    pub(crate) fn was_heard(&self) -> bool {
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        is_live || self.stored.aside.is_some()
    }

    /// The last report of the cluster itself; none where there was none, or one of the store is shown.
    pub(crate) fn live(&self) -> Option<Box<LiveReport>> {
        if self.staleness.is_remembered() {
            return None;
        }
        let objects = self.reported.as_ref()?;
        Some(Box::new(LiveReport {
            objects: Arc::clone(objects),
            related: Arc::clone(&self.related),
            rejected: Arc::clone(&self.rejected),
            coverage: self.coverage.clone(),
            covered: Arc::clone(&self.covered),
            covers_every_kind: self.covers_every_kind,
            report_faults: self.report_faults.clone(),
            unreadable: self.unreadable.clone(),
        }))
    }

    /// Takes over what the cluster reported for another instance of the same group: it is about both, and is not
    /// told again.
    pub(crate) fn join(&mut self, live: Box<LiveReport>, judge: Judge<'_>, now_ms: i64) {
        self.stored.aside = Some(live);
        self.bring_back_live(judge, now_ms);
    }

    /// Shows the last report of the cluster itself again, which was heard in full and did not report anew.
    /// Returns whether a report of the store was shown in its place.
    pub(crate) fn bring_back_live(&mut self, judge: Judge<'_>, now_ms: i64) -> bool {
        let Some(live) = self.stored.aside.take() else {
            return false;
        };
        self.discard_recheck();
        self.reported = Some(live.objects);
        self.related = live.related;
        self.rejected = live.rejected;
        self.coverage = live.coverage;
        self.covered = live.covered;
        self.covers_every_kind = live.covers_every_kind;
        self.report_faults = live.report_faults;
        self.unreadable = live.unreadable;
        self.staleness.is_live();
        self.stored_is_readable();
        self.judge(judge, now_ms);
        true
    }

    /// Takes over what the orchestrator stored about its connection to the cluster. What the cluster itself says
    /// counts more while it is heard.
    pub(super) fn take_connectivity(&mut self, connectivity: Option<Connectivity>, now_ms: i64) {
        let before = std::mem::replace(&mut self.stored.connectivity, connectivity);
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        match connectivity {
            Some(Connectivity::Retrying) if before != connectivity && !is_live => {
                self.staleness.retrying(now_ms);
            }
            Some(Connectivity::Retrying) => {}
            _ => self.staleness.reached(),
        }
    }

    /// The outcome of the last attempt to reach the cluster: our own where it reports itself, else the
    /// orchestrator's. While our own cannot reach it, the report is stale.
    pub(super) fn connectivity(&self) -> Connectivity {
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        if is_live {
            return Connectivity::Available;
        }
        self.stored.connectivity.unwrap_or(Connectivity::Unknown)
    }

    /// Marks the report as stale since the store that it comes from is away. Returns whether that changes
    /// anything; what the cluster itself reported is as current as before.
    pub(crate) fn store_away(&mut self, cause: &Shown) -> bool {
        let is_live = self.reported.is_some() && !self.staleness.is_remembered();
        !is_live && self.mark(|staleness| staleness.store_away(cause))
    }

    /// Handles that the store is reached again. Returns whether that changes anything.
    pub(crate) fn store_back(&mut self) -> bool {
        self.mark(Staleness::store_back)
    }
}
