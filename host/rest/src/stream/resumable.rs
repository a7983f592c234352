//! What was sent last to the streams that ended, so that a client that comes back goes on from there.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

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
    /// Generation of the last event.
    generation: u64,
    /// The state that the last event was made of.
    state: Arc<dyn Any + Send + Sync>,
}

impl Resumable {
    /// Keeps what a stream was sent last.
    pub(super) fn keep(&self, name: String, generation: u64, state: Arc<dyn Any + Send + Sync>) {
        let ended = Ended {
            at: Instant::now(),
            name,
            generation,
            state,
        };
        self.change(|all| {
            if all.len() >= RESUMABLE_MAX {
                all.pop_front();
            }
            all.push_back(ended);
        });
    }

    /// The state that was sent with this generation; none where that is not known any more. It stays, for
    /// others that got the same.
    pub(super) fn find<S: Send + Sync + 'static>(
        &self,
        name: &str,
        generation: u64,
    ) -> Option<Arc<S>> {
        let found = self.change(|all| {
            let mut all = all.iter().rev();
            let found = all.find(|it| it.generation == generation && it.name == name)?;
            Some(Arc::clone(&found.state))
        });
        found?.downcast().ok()
    }

    /// Looks at those that are not too old. What is too old goes at the next look.
    fn change<R>(&self, look: impl FnOnce(&mut VecDeque<Ended>) -> R) -> R {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all
            .front()
            .is_some_and(|it| it.at.elapsed() >= RESUMABLE_FOR)
        {
            all.pop_front();
        }
        look(&mut all)
    }
}
