//! The last events of ended streams, so that a client can resume after its last event.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use kindsight_model::SubjectSet;
use tokio::time::Instant;

use super::event_id::EventId;
use crate::limits::{RESUMABLE_FOR, RESUMABLE_MAX};

/// The last [`RESUMABLE_MAX`] streams that ended, oldest first.
#[derive(Debug, Default)]
pub(super) struct Resumable(Mutex<VecDeque<Ended>>);

/// A stream that ended.
#[derive(Debug)]
struct Ended {
    at: Instant,
    /// Path and query.
    name: String,
    /// The subjects that the reader might see. The state has data about them alone.
    visible: SubjectSet,
    /// Id of the last event.
    id: EventId,
    /// The state that the last event was made of.
    state: Arc<dyn Any + Send + Sync>,
}

impl Resumable {
    /// Keeps the last event of a stream.
    pub(super) fn keep(
        &self,
        of: (String, SubjectSet),
        id: EventId,
        state: Arc<dyn Any + Send + Sync>,
    ) {
        let (name, visible) = of;
        let ended = Ended {
            at: Instant::now(),
            name,
            visible,
            id,
            state,
        };
        self.change(|all| {
            if all.len() >= RESUMABLE_MAX {
                all.pop_front();
            }
            all.push_back(ended);
        });
    }

    /// The state that the event with this id was made of; none if it is no longer known, or was made for a reader with
    /// other rights. The client may resume with
    /// the same id several times.
    pub(super) fn find<S: Send + Sync + 'static>(
        &self,
        name: &str,
        visible: &SubjectSet,
        id: EventId,
    ) -> Option<Arc<S>> {
        let found = self.change(|all| {
            let found = all
                .iter()
                .find(|ended| ended.id == id && ended.name == name && ended.visible == *visible)?;
            Some(Arc::clone(&found.state))
        });
        found?.downcast().ok()
    }

    /// Applies `look` to the streams that ended recently, and forgets the others.
    fn change<R>(&self, look: impl FnOnce(&mut VecDeque<Ended>) -> R) -> R {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all
            .front()
            .is_some_and(|oldest| oldest.at.elapsed() >= RESUMABLE_FOR)
        {
            all.pop_front();
        }
        look(&mut all)
    }
}
