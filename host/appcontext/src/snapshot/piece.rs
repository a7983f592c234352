//! One app in one cluster, as it was last joined.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::ContextId;
use kindsight_store::Store;

use super::decode;
use super::image::AppInCluster;
use super::sources::{FoundReport, Sources};
use super::{ClusterSnapshot, StoredBundle};
use crate::bundle::{self, Mark};
use crate::keys::ContextKeys;
use crate::{Result, Unreadable};

/// An app in a cluster.
#[derive(Default)]
pub(super) struct Piece {
    /// True if the piece changed since it was last joined.
    pub(super) must_join: bool,
    /// The contexts that it refers to.
    pub(super) references: BTreeSet<ContextId>,
    /// `None` if rsync added it for a later instance.
    pub(super) snapshot: Option<ClusterSnapshot>,
    report: KnownReport,
    /// The fault of a report that was stored in parts and is not complete.
    pub(super) incomplete: Option<Unreadable>,
}

/// The report that was last passed on.
#[derive(Default, PartialEq, Eq)]
enum KnownReport {
    #[default]
    Unknown,
    Absent,
    Damaged,
    Hash(u64),
}

impl KnownReport {
    fn of(found: &FoundReport<'_>) -> Self {
        match found {
            FoundReport::Absent => Self::Absent,
            FoundReport::Damaged => Self::Damaged,
            FoundReport::Found(_, report) => Self::Hash(report.hash),
        }
    }
}

impl Piece {
    /// Notes a report that the caller wrote.
    pub(super) fn note_own(&mut self, found: &FoundReport<'_>) {
        self.report = KnownReport::of(found);
        self.incomplete = None;
    }

    /// Joins an app in a cluster. Returns its report if it differs from the last one.
    pub(super) fn join(
        &mut self,
        store: &dyn Store,
        sources: &Sources<'_>,
        place: &AppInCluster,
    ) -> Result<Option<StoredBundle>> {
        let mut next = sources.cluster(place);
        if let (Some(next), Some(before)) = (&mut next, &self.snapshot)
            && next.resources == before.resources
        {
            next.resources = Arc::clone(&before.resources);
        }
        self.snapshot = next;
        self.must_join = false;
        if self.snapshot.is_none() {
            // If the app in the cluster appears again, its report is passed on again.
            self.report = KnownReport::Unknown;
            self.incomplete = None;
            return Ok(None);
        }
        let found = sources.report(place);
        let known = KnownReport::of(&found);
        if known == self.report {
            return Ok(None);
        }
        self.incomplete = None;
        let report = self.report(store, sources, place, &found)?;
        self.report = known;
        Ok(report)
    }

    /// A report with its text. `None` if the text was deleted meanwhile, which the store's watch
    /// reports later.
    fn report(
        &mut self,
        store: &dyn Store,
        sources: &Sources<'_>,
        place: &AppInCluster,
        found: &FoundReport<'_>,
    ) -> Result<Option<StoredBundle>> {
        let (id, text) = match found {
            FoundReport::Absent => return Ok(Some(StoredBundle::Absent)),
            FoundReport::Damaged => return Ok(Some(StoredBundle::Damaged)),
            FoundReport::Found(id, report) => (*id, report.text.clone()),
        };
        let text = if text.is_some() {
            text
        } else {
            let key = ContextKeys::new(id).stored_cluster(&place.0, &place.1);
            let stored = store.get(&key.bundle())?;
            stored.and_then(|stored| decode::value::<String>(&stored).ok().map(Arc::from))
        };
        let Some(text) = text else {
            return Ok(None);
        };
        let Some(mark) = Mark::of(&text) else {
            return Ok(Some(StoredBundle::Json(text)));
        };
        if let Some(whole) = whole(store, sources, place, &mark)? {
            return Ok(Some(StoredBundle::Json(whole.into())));
        }
        let status = sources.status_id.as_ref().unwrap_or(&sources.own.id);
        self.incomplete = Some(Unreadable {
            key: ContextKeys::new(status)
                .stored_cluster(&place.0, &place.1)
                .bundle(),
            why: format!(
                "the report is larger than one key takes, and its whole is not there: items of {} are missing",
                mark.lists()
            ),
        });
        Ok(Some(StoredBundle::Json(text)))
    }
}

/// Reads the complete report, if a context has an excerpt.
fn whole(
    store: &dyn Store,
    sources: &Sources<'_>,
    (app, cluster): &AppInCluster,
    mark: &Mark,
) -> Result<Option<String>> {
    for id in sources.status_id.iter().chain([&sources.own.id]) {
        let keys = ContextKeys::new(id).stored_cluster(app, cluster);
        if let Some(whole) = bundle::whole(store, &keys, mark)? {
            return Ok(Some(whole));
        }
    }
    Ok(None)
}
