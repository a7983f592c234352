//! A runtime inside the store, so that its callers may block.

use std::sync::mpsc;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Error, Result};

/// The number of threads that run the calls. They wait for etcd nearly all of the time.
const THREADS: usize = 2;

/// A runtime that can be dropped anywhere, also inside another runtime.
pub(super) struct OwnRuntime {
    runtime: Option<Runtime>,
}

/// Spawns tasks on the runtime of a store. A task ends with the runtime.
#[derive(Clone)]
pub(super) struct Spawner(Handle);

impl Spawner {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.spawn(task));
    }
}

impl OwnRuntime {
    pub(super) fn new() -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(THREADS).thread_name("etcd");
        let runtime = builder.enable_all().build();
        let runtime = runtime.map_err(|error| Error::Backend(Box::new(error)))?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Starts a task that ends with the runtime.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            drop(runtime.spawn(task));
        }
    }

    pub(super) fn spawner(&self) -> Result<Spawner> {
        let runtime = self.runtime.as_ref();
        let runtime = runtime.ok_or_else(|| Error::Backend("the store is closed".into()))?;
        Ok(Spawner(runtime.handle().clone()))
    }

    /// Blocks until `future` has completed. The future does not run on the caller's thread, which
    /// may belong to another runtime.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            // Sending cannot fail, because the caller waits for the result.
            let _ = sender.send(future.await);
        });
        let ended = |_| Error::Backend("a call to etcd ended without an answer".into());
        receiver.recv().map_err(ended)?
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
