//! Judging for the REST room, which knows nothing of interpreters; and the clock.

use std::pin::Pin;
use std::sync::Arc;

use kindsight_interpreter::Interpreters;
use kindsight_model::Object;
use kindsight_rest::{Judge, Judged};
use tokio::task::spawn_blocking;

/// The time now, in Unix milliseconds: the one place where the product reads the clock.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Hands objects from a request to the interpreters, on a thread that may block.
pub(crate) struct Court(pub(crate) Arc<Interpreters>);

impl Judge for Court {
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Judged>> + Send + '_>> {
        let interpreters = Arc::clone(&self.0);
        let objects: Arc<[Object]> = objects.into();
        Box::pin(async move {
            let judging = spawn_blocking(move || {
                let judged = interpreters.judge(&objects, now_ms);
                let pairs = objects.iter().zip(judged);
                pairs
                    .map(|(object, verdict)| Judged::new(object, &verdict))
                    .collect()
            });
            judging.await.unwrap_or_default()
        })
    }
}
