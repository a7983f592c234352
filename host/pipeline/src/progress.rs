//! Progress of swaps of interpreters, for other threads.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// The progress of the read model towards the published set. Read by commands, tests and metrics, from
/// any thread.
#[derive(Debug)]
pub struct Progress {
    objects: AtomicU64,
    generation: watch::Sender<u64>,
}

impl Progress {
    /// Marks the read model as judged by the set of this generation.
    pub(crate) fn new(generation: u64) -> Self {
        Self {
            objects: AtomicU64::new(0),
            generation: watch::Sender::new(generation),
        }
    }

    /// Objects judged again because of a swap, since the start.
    pub fn objects(&self) -> u64 {
        self.objects.load(Ordering::Relaxed)
    }

    /// Generation of the last set that judged the complete read model. A swap is done when this is its generation.
    pub fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    /// Waits until the set of this generation, or a later set, has judged the complete read model.
    pub async fn reached(&self, generation: u64) {
        let mut receiver = self.generation.subscribe();
        // It fails when the sender is gone, and that is this value.
        let _ = receiver.wait_for(|shown| *shown >= generation).await;
    }

    pub(crate) fn count(&self, objects: usize) {
        let objects = u64::try_from(objects).unwrap_or(u64::MAX);
        self.objects.fetch_add(objects, Ordering::Relaxed);
    }

    pub(crate) fn reach(&self, generation: u64) {
        self.generation.send_replace(generation);
    }
}
