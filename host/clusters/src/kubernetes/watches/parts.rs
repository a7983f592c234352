//! Parts of a Kind that are listed beside its watch: objects that are needed whole and were passed over.
//!
//! ```text
//! objects that are needed ─▶ by name, where they are few ─▶ else their namespace ─▶ else the whole Kind
//! ```
//!
//! The watch goes on from where it is with whole objects, so that nothing is missed between. A part costs a
//! request for each name, or the objects of its namespace; the whole Kind is listed where it has few more than
//! that, or where many namespaces need it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::Instant;

use super::WatchState;
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::jitter::Backoff;
use crate::kubernetes::list::Part;

/// Objects of one namespace that are listed by name.
const NAMES_MAX: usize = 4;
/// Namespaces of one Kind that are listed one by one.
const NAMESPACES_MAX: usize = 16;

/// The parts that are asked for, by namespace.
#[derive(Debug, Default)]
pub(super) struct Parts {
    by_namespace: BTreeMap<Arc<str>, State>,
}

#[derive(Debug)]
struct State {
    is_running: bool,
    /// The time of its next list.
    at: Instant,
    backoff: Backoff,
    /// The reason why it could not be listed the last time.
    failure: Option<ApiError>,
}

impl Parts {
    pub(super) fn are_listed(&self) -> bool {
        self.by_namespace.is_empty()
    }

    /// The reason why one of them could not be listed. None of those that nobody asks for any more.
    pub(super) fn failure(&self) -> Option<&ApiError> {
        let mut parts = self.by_namespace.values();
        parts.find_map(|it| it.failure.as_ref())
    }
}

/// Objects that are needed whole and are not, of one Kind.
pub(in crate::kubernetes) trait Needed {
    /// Their names in a namespace.
    fn names(&self, namespace: &str) -> Vec<Arc<str>>;
    /// Number of all objects of the namespace.
    fn objects_in(&self, namespace: &str) -> usize;
    /// Number of all objects of the Kind.
    fn objects(&self) -> usize;
    /// Returns whether all of them have versions that tell which is newer.
    fn are_ordered(&self) -> bool;
}

impl WatchState {
    /// Notes that objects of a namespace are needed whole that are not.
    pub(in crate::kubernetes) fn need(&mut self, namespace: Arc<str>) {
        let parts = self.parts.by_namespace.entry(namespace);
        parts.or_insert_with(|| State {
            is_running: false,
            at: Instant::now(),
            backoff: Backoff::default(),
            failure: None,
        });
    }

    /// The parts whose lists are to begin now. Where the whole Kind costs less, it is asked for, and there are
    /// none.
    pub(in crate::kubernetes) fn parts_to_list(
        &mut self,
        needed: &impl Needed,
        now: Instant,
    ) -> Vec<(Arc<str>, Part)> {
        // The list that is read now may have them, and more may be needed at its end.
        if !self.is_listed() || self.is_asked {
            return Vec::new();
        }
        let waiting = self.parts.by_namespace.iter();
        let due = waiting.filter(|(_, it)| !it.is_running && it.at <= now);
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

    /// Notes that the list of a part ended. Where objects of it are still needed, it is listed again.
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

    /// The time at which the list of a part is to begin.
    pub(in crate::kubernetes) fn next_part_at(&self) -> Option<Instant> {
        if !self.is_listed() || self.is_asked {
            return None;
        }
        let parts = self.parts.by_namespace.values();
        parts.filter(|it| !it.is_running).map(|it| it.at).min()
    }
}
