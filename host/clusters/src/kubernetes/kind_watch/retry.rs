//! Repeated requests for one Kind: backoff, and the confirmation of refusals.
//!
//! The response 403 or 404 is an answer only if a repeated request gets it too, ten seconds later and without a
//! failed probe in between: a starting API server sends both before it has loaded its rules.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_cluster_index::ApiKind;
use tokio::time::Instant;

use crate::kubernetes::connection::{ApiError, ResponseClass};
use crate::kubernetes::health::{HealthMark, ServerHealth};
use crate::kubernetes::jitter::{Backoff, jittered};
use crate::kubernetes::news::News;

/// Time between a refusal and the request that confirms it.
#[cfg(not(test))]
const CONFIRM_AFTER: Duration = Duration::from_secs(10);
#[cfg(test)]
pub(in crate::kubernetes) const CONFIRM_AFTER: Duration = Duration::from_millis(300);
/// Longest wait that a server can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(5);

/// A Kind in a namespace, or in the entire cluster.
type Watched = (Arc<ApiKind>, Option<Arc<str>>);

/// Confirmed refusals of a cluster. They outlive sessions: new credentials of the same rights change no state.
#[derive(Debug, Clone, Default)]
pub(in crate::kubernetes) struct Refusals(Arc<Mutex<BTreeMap<Watched, ResponseClass>>>);

/// The requests of one watch.
pub(in crate::kubernetes) struct Retry {
    watched: Watched,
    backoff: Backoff,
    refusal: Option<Refusal>,
    confirmed: Refusals,
    health: ServerHealth,
    /// Time until an answered refusal is requested again.
    recheck_every: Duration,
}

/// The first of several equal refusals.
struct Refusal {
    class: ResponseClass,
    at: Instant,
    health: HealthMark,
}

/// The wait before a repeated request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) time: Duration,
    /// True if a change of the requested objects ends the wait.
    pub(super) is_interruptible: bool,
    /// True if the wait ends when the server answers again.
    pub(super) ends_on_recovery: bool,
}

impl Wait {
    /// A wait that lasts its time.
    pub(super) fn of(time: Duration) -> Self {
        Self {
            time,
            is_interruptible: false,
            ends_on_recovery: false,
        }
    }
}

impl Refusals {
    fn has(&self, watched: &Watched, class: ResponseClass) -> bool {
        let by_watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_watched.get(watched) == Some(&class)
    }

    fn set(&self, watched: &Watched, class: Option<ResponseClass>) {
        let mut by_watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match class {
            Some(class) => by_watched.insert(watched.clone(), class),
            None => by_watched.remove(watched),
        };
    }
}

impl Retry {
    pub(in crate::kubernetes) fn new(
        watched: Watched,
        confirmed: Refusals,
        health: ServerHealth,
        recheck_every: Duration,
    ) -> Self {
        Self {
            watched,
            backoff: Backoff::default(),
            refusal: None,
            confirmed,
            health,
            recheck_every,
        }
    }

    /// Returns whether no request failed since the last success.
    pub(super) fn is_fresh(&self) -> bool {
        self.backoff.is_fresh() && self.refusal.is_none()
    }

    /// Notes a success.
    pub(super) fn succeeded(&mut self) {
        self.backoff = Backoff::default();
        self.refusal = None;
        self.confirmed.set(&self.watched, None);
    }

    /// The wait before a request that no failure precedes.
    pub(super) fn pause(&mut self) -> Wait {
        Wait::of(self.backoff.next())
    }

    /// Notes a failure. Returns the news of it, and the wait before the next request.
    pub(super) fn failed(&mut self, error: ApiError) -> (News, Wait) {
        let class = error.response();
        let answered = Wait {
            is_interruptible: true,
            ..Wait::of(jittered(self.recheck_every))
        };
        if class.needs_confirmation() {
            if self.is_confirmed(class) {
                self.confirmed.set(&self.watched, Some(class));
                return (News::Failed(error), answered);
            }
            return (News::Refused(error), Wait::of(jittered(CONFIRM_AFTER)));
        }
        self.refusal = None;
        if class == ResponseClass::NotListable {
            return (News::Failed(error), answered);
        }
        let asked = error.retry_after().unwrap_or_default();
        let time = self.backoff.next().max(asked.min(RETRY_AFTER_MAX));
        let wait = Wait {
            ends_on_recovery: matches!(error, ApiError::Unreachable(_)),
            ..Wait::of(time)
        };
        (News::Failed(error), wait)
    }

    /// Waits until the server answers again.
    pub(super) fn recovery(&self) -> impl Future<Output = ()> + use<> {
        let health = self.health.clone();
        async move { health.recovery().await }
    }

    /// Returns whether an earlier refusal confirms this one.
    fn is_confirmed(&mut self, class: ResponseClass) -> bool {
        if self.confirmed.has(&self.watched, class) {
            return true;
        }
        let (at, health) = (Instant::now(), self.health.mark());
        let first = self.refusal.get_or_insert(Refusal { class, at, health });
        if first.class != class || first.health != health {
            *first = Refusal { class, at, health };
        }
        at.duration_since(first.at) >= CONFIRM_AFTER
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::Gvk;

    use super::*;

    fn retry(confirmed: &Refusals, health: &ServerHealth) -> Retry {
        let pods = ApiKind {
            gvk: Gvk::new("", "v1", "Pod"),
            plural: "pods".to_owned(),
            is_namespaced: true,
        };
        let watched = (Arc::new(pods), None);
        let recheck_every = Duration::from_mins(5);
        Retry::new(watched, confirmed.clone(), health.clone(), recheck_every)
    }

    fn forbidden() -> ApiError {
        ApiError::Forbidden("no".to_owned())
    }

    /// Repeats a refusal after its wait. Returns whether it is an answer.
    async fn is_answer(retry: &mut Retry, wait: Wait, error: ApiError) -> (bool, Wait) {
        tokio::time::sleep(wait.time).await;
        let (news, wait) = retry.failed(error);
        (matches!(news, News::Failed(_)), wait)
    }

    #[tokio::test]
    async fn a_refusal_is_an_answer_once_a_healthy_server_repeats_it() {
        let (confirmed, health) = (Refusals::default(), ServerHealth::default());
        let mut first = retry(&confirmed, &health);
        let (news, wait) = first.failed(forbidden());
        assert!(matches!(news, News::Refused(_)) && wait.time >= CONFIRM_AFTER);
        health.failed();
        let (is_answered, wait) = is_answer(&mut first, wait, forbidden()).await;
        assert!(!is_answered, "the probe failed in between");
        let missing = ApiError::NotFound("no".to_owned());
        let (is_answered, wait) = is_answer(&mut first, wait, missing).await;
        assert!(!is_answered, "the response is another one");
        let (is_answered, wait) = is_answer(&mut first, wait, forbidden()).await;
        assert!(!is_answered, "the response is another one");
        let (is_answered, wait) = is_answer(&mut first, wait, forbidden()).await;
        assert!(is_answered && wait.is_interruptible && wait.time >= Duration::from_mins(5));
        // The next session knows it, until a request succeeds.
        let mut next = retry(&confirmed, &health);
        assert!(matches!(next.failed(forbidden()).0, News::Failed(_)));
        next.succeeded();
        assert!(matches!(next.failed(forbidden()).0, News::Refused(_)));
    }

    #[tokio::test]
    async fn a_busy_server_is_asked_again_when_it_says_so() {
        let mut retry = retry(&Refusals::default(), &ServerHealth::default());
        let busy = |seconds| ApiError::Failed {
            code: 429,
            message: "busy".to_owned(),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        let (news, wait) = retry.failed(busy(7));
        assert!(matches!(news, News::Failed(_)) && !wait.is_interruptible);
        assert_eq!(wait.time, Duration::from_secs(7));
        assert_eq!(retry.failed(busy(100_000)).1.time, RETRY_AFTER_MAX);
    }
}
