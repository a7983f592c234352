//! The interpret API: judging objects that are sent with a request.

use std::pin::Pin;
use std::sync::Arc;

use kindsight_interpreter::Interpreters;
use kindsight_model::{Object, Verdict};
use kindsight_rest::Judge;
use tokio::task::spawn_blocking;

/// The interpreters, for the REST API, which knows nothing of them.
pub(crate) struct InterpretApi(pub(crate) Arc<Interpreters>);

impl Judge for InterpretApi {
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Verdict>> + Send + '_>> {
        let interpreters = Arc::clone(&self.0);
        let objects: Arc<[Object]> = objects.into();
        Box::pin(async move {
            let judging = spawn_blocking(move || interpreters.judge(&objects, now_ms));
            judging.await.unwrap_or_default()
        })
    }
}
