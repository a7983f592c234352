//! The coverage of each watch: whether every object of its Kind is known, and why not.

use kindsight_model::{KindCoverage, KindState, Scope};

use super::{NOT_LISTED, WatchState};
use crate::kubernetes::connection::ResponseClass;

impl WatchState {
    /// The coverage of its Kind in its scope. During an outage, and for a moment after a lost
    /// connection, the previous state is kept.
    pub(in crate::kubernetes) fn coverage(&self) -> KindCoverage {
        if !self.has_failed() {
            if self.is_late() {
                return KindCoverage::caused(KindState::Unavailable, NOT_LISTED);
            }
            let mut listed = KindCoverage::new(self.listed_state());
            if let Some(skipped) = &self.skipped
                && skipped.state > listed.state
            {
                return skipped.clone();
            }
            if listed.state == KindState::Listing {
                listed.cause = self.refusal.as_ref().map(|error| error.to_string().into());
            }
            return listed;
        }
        let state = match &self.failure {
            Some(error) => match error.response() {
                ResponseClass::Forbidden => KindState::Forbidden,
                ResponseClass::Unserved => KindState::Unserved,
                ResponseClass::NotListable => KindState::NotListable,
                ResponseClass::Awaited | ResponseClass::TooOld | ResponseClass::Unauthorized => {
                    KindState::Unavailable
                }
            },
            // The request for a part is repeated until the watch itself gets an answer.
            None => KindState::Unavailable,
        };
        let cause = self.failure().map(ToString::to_string);
        KindCoverage::caused(state, cause.unwrap_or_default())
    }

    fn listed_state(&self) -> KindState {
        if self.extent.is_everything() {
            KindState::Complete
        } else if self.was_listed() {
            KindState::Selected
        } else {
            KindState::Listing
        }
    }

    /// The extent of the watch: a namespace or the entire cluster.
    pub(in crate::kubernetes) fn extent_of(&self) -> Scope<'_> {
        let namespace = self.namespace.as_deref();
        namespace.map_or(Scope::Cluster, Scope::Namespace)
    }
}
