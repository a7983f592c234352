//! Parts of a Kind that are listed beside its watch: objects whose bodies are needed and were not read.
//!
//! ```text
//! needed objects ─▶ by name, if they are few ─▶ else their namespace ─▶ else all objects of the Kind
//! ```
//!
//! The watch switches to complete objects at the same version, so that no change is missed. A part costs a request
//! for each name, or a list of its namespace. The Kind is listed in full if it has few more objects than the parts,
//! or if many namespaces have needed objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_cluster_index::Needed;
use tokio::time::Instant;

use super::WatchState;
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::jitter::Backoff;
use crate::kubernetes::list::Part;

/// Objects of one namespace that are listed by name.
const NAMES_MAX: usize = 4;
/// Namespaces of one Kind that are listed one by one.
const NAMESPACES_MAX: usize = 16;

/// The requested parts, by namespace.
#[derive(Debug, Default)]
pub(super) struct Parts {
    by_namespace: BTreeMap<Arc<str>, PartState>,
}

#[derive(Debug)]
struct PartState {
    is_running: bool,
    /// The time of its next list.
    at: Instant,
    backoff: Backoff,
    /// The reason why its last list failed.
    failure: Option<ApiError>,
}

impl Parts {
    pub(super) fn are_listed(&self) -> bool {
        self.by_namespace.is_empty()
    }

    /// The reason why a requested part could not be listed.
    pub(super) fn failure(&self) -> Option<&ApiError> {
        let mut parts = self.by_namespace.values();
        parts.find_map(|part| part.failure.as_ref())
    }
}

impl WatchState {
    /// Notes that the bodies of objects of a namespace are needed.
    pub(in crate::kubernetes) fn need(&mut self, namespace: Arc<str>) {
        let parts = self.parts.by_namespace.entry(namespace);
        parts.or_insert_with(|| PartState {
            is_running: false,
            at: Instant::now(),
            backoff: Backoff::default(),
            failure: None,
        });
    }

    /// The parts whose lists begin now. If a list of the Kind costs less, it is requested, and there are no parts.
    pub(in crate::kubernetes) fn parts_to_list(
        &mut self,
        needed: &impl Needed,
        now: Instant,
    ) -> Vec<(Arc<str>, Part)> {
        // The running list may contain them, and more may be needed at its end.
        if !self.is_listed() || self.is_asked {
            return Vec::new();
        }
        let waiting = self.parts.by_namespace.iter();
        let due = waiting.filter(|(_, part)| !part.is_running && part.at <= now);
        let due: BTreeSet<Arc<str>> = due.map(|(namespace, _)| Arc::clone(namespace)).collect();
        let mut parts = Vec::new();
        let (mut requests, mut objects) = (0_usize, 0_usize);
        for namespace in due {
            let names = needed.names(&namespace);
            if names.is_empty() {
                self.parts.by_namespace.remove(&namespace);
            } else if names.len() <= NAMES_MAX {
                requests += names.len();
                parts.push((namespace, Part::Names(names)));
            } else {
                requests += 1;
                objects += needed.objects_in(&namespace);
                parts.push((namespace, Part::Namespace));
            }
        }
        if parts.is_empty() {
            return parts;
        }
        let is_most = objects > 0 && objects.saturating_mul(2) > needed.objects();
        if is_most
            || requests > NAMESPACES_MAX * NAMES_MAX
            || parts.len() > NAMESPACES_MAX
            || !needed.are_ordered()
        {
            self.parts.by_namespace.retain(|_, it| it.is_running);
            self.ask_for_all();
            return Vec::new();
        }
        self.follow_whole();
        for (namespace, _) in &parts {
            if let Some(state) = self.parts.by_namespace.get_mut(namespace) {
                state.is_running = true;
            }
        }
        parts
    }

    /// Notes that the list of a part ended. If its objects are still needed, the part is listed again.
    pub(in crate::kubernetes) fn part_ended(
        &mut self,
        namespace: &str,
        result: Result<(), ApiError>,
        is_needed: bool,
    ) {
        if !is_needed {
            self.parts.by_namespace.remove(namespace);
        } else if let Some(state) = self.parts.by_namespace.get_mut(namespace) {
            state.failure = result.err();
            state.is_running = false;
            state.at = Instant::now() + state.backoff.next();
        }
    }

    /// The time at which the next list of a part begins.
    pub(in crate::kubernetes) fn next_part_at(&self) -> Option<Instant> {
        if !self.is_listed() || self.is_asked {
            return None;
        }
        let parts = self.parts.by_namespace.values();
        parts.filter(|it| !it.is_running).map(|it| it.at).min()
    }
}
