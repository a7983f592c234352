//! The interface to the interpreters, which judge the objects of requests.

use std::pin::Pin;

use kindsight_model::{Object, Verdict};

/// The interpreters, as far as the REST API needs them. The server passes an implementation in
/// [`AppState`](crate::AppState).
pub trait Judge: Send + Sync {
    /// Judges each object as of `now_ms`, in Unix milliseconds: one verdict each, in the same order.
    /// Never fails: the verdict on an object that cannot be judged is `Unknown`, with the reason.
    ///
    /// The future is dropped when the client disconnects or the request takes too long.
    fn judge(
        &self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Pin<Box<dyn Future<Output = Vec<Verdict>> + Send + '_>>;
}
