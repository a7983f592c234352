//! The interpret API: judging objects that are sent with a request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kindsight_interpreter::Interpreters;
use kindsight_model::{Object, Verdict};
use kindsight_rest::Judge;
use kindsight_rest::spawn_blocking;
use tokio::sync::Semaphore;

/// Maximum number of requests that are judged at a time, including those whose client has gone: each
/// takes a thread that waits for the workers, and other work needs some too. As many as the REST API
/// lets in; further ones wait.
const REQUESTS_MAX: usize = 16;

/// The interpreters for the REST API, whose crate does not depend on interpreters.
pub(crate) struct InterpretApi {
    interpreters: Arc<Interpreters>,
    requests: Arc<Semaphore>,
}

impl InterpretApi {
    pub(crate) fn new(interpreters: Arc<Interpreters>) -> Self {
        Self {
            interpreters,
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
        }
    }

    async fn judge_sent(&self, objects: Vec<Object>, now_ms: i64) -> Vec<Verdict> {
        let Ok(permit) = Arc::clone(&self.requests).acquire_owned().await else {
            return Vec::new();
        };
        let interpreters = Arc::clone(&self.interpreters);
        let objects: Arc<[Object]> = objects.into();
        let waiting = Waiting::default();
        let is_gone = Arc::clone(&waiting.is_gone);
        let judging = spawn_blocking(move || {
            // Held until the thread is free again.
            let _permit = permit;
            interpreters.judge_sent(&objects, now_ms, &is_gone)
        });
        judging.await.unwrap_or_default()
    }
}

/// A waiting client. Once this value is dropped, the client's objects are no longer judged.
#[derive(Default)]
struct Waiting {
    is_gone: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }
}

impl Judge for InterpretApi {
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Verdict>> + Send + '_>> {
        Box::pin(self.judge_sent(objects, now_ms))
    }
}
