//! The keys of an issuer in memory: fetched at intervals, and when a token names an unknown key.

use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use super::issuer_client::IssuerClient;
use super::key_set::KeySet;
use crate::verify::TokenError;

/// Interval at which the keys are fetched. A key that the issuer withdraws is accepted at most this long.
const FETCH_INTERVAL: Duration = Duration::from_mins(5);
/// Interval of fetches while the issuer fails.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum pause between two fetches, so that tokens with unknown keys cause no load.
const FETCH_PAUSE_MIN: Duration = Duration::from_secs(5);
/// Maximum time for which keys are used while the issuer cannot be reached.
const KEYS_AGE_MAX: Duration = Duration::from_hours(24);
/// Maximum time for which a token with an unknown key waits for a fetch.
const KEY_WAIT_MAX: Duration = Duration::from_secs(6);
/// Maximum number of tokens that wait for a fetch. Further tokens with unknown keys are refused as unavailable.
const WAITING_TOKENS_MAX: usize = 16;

/// The keys of one issuer. One task fetches them; requests read them and ask for a fetch.
pub(super) struct IssuerKeys {
    fetched: watch::Sender<Fetched>,
    wanted: Notify,
    waiting: Semaphore,
}

#[derive(Default)]
struct Fetched {
    /// The keys of the last successful fetch, and its time.
    keys: Option<(KeySet, Instant)>,
    /// The last fetch.
    last: Option<Fetch>,
}

struct Fetch {
    at: Instant,
    failure: Option<String>,
}

impl IssuerKeys {
    pub(super) fn new() -> Self {
        Self {
            fetched: watch::Sender::default(),
            wanted: Notify::new(),
            waiting: Semaphore::new(WAITING_TOKENS_MAX),
        }
    }

    /// Fetches the keys at the start, at intervals, and when a request wants it. The future does not end.
    pub(super) async fn follow(&self, client: &IssuerClient) {
        loop {
            let wait = self.fetch(client).await;
            sleep(FETCH_PAUSE_MIN).await;
            // Either the interval ends, or a token names an unknown key.
            let _ = timeout(wait.saturating_sub(FETCH_PAUSE_MIN), self.wanted.notified()).await;
        }
    }

    /// Fetches the keys once; returns the time until the next fetch.
    async fn fetch(&self, client: &IssuerClient) -> Duration {
        let fetched = client.fetch().await;
        let at = Instant::now();
        let failure = fetched.as_ref().err().map(ToString::to_string);
        let wait = failure.as_ref().map_or(FETCH_INTERVAL, |_| RETRY_INTERVAL);
        self.fetched.send_modify(|known| {
            known.log_change(failure.as_deref());
            if let Ok(keys) = fetched {
                known.keys = Some((keys, at));
            }
            known.last = Some(Fetch { at, failure });
        });
        wait
    }

    /// Finds the key of a token. If it is unknown, waits for a fetch, unless one ended a moment ago.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, TokenError> {
        let mut fetched = self.fetched.subscribe();
        if let Some(found) = fetched.borrow_and_update().find(id, algorithm) {
            return found;
        }
        let unavailable = |why: &str| TokenError::Unavailable(why.to_owned());
        let permit = self.waiting.try_acquire();
        let _permit = permit.map_err(|_| unavailable("too many tokens with unknown keys"))?;
        self.wanted.notify_one();
        // The search after it finds nothing if no fetch ended in time.
        let _ = timeout(KEY_WAIT_MAX, fetched.changed()).await;
        let found = fetched.borrow().find(id, algorithm);
        found.unwrap_or_else(|| Err(unavailable("the keys of the issuer have not arrived")))
    }
}

impl Fetched {
    /// Finds a key, or the reason why there is none. `None` if the issuer may have published the key since the last
    /// fetch.
    fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Option<Result<DecodingKey, TokenError>> {
        let keys = self.keys.as_ref();
        let current = keys.filter(|(_, fetched)| fetched.elapsed() < KEYS_AGE_MAX);
        if let Some(key) = current.and_then(|(keys, _)| keys.find(id, algorithm)) {
            return Some(Ok(key.clone()));
        }
        let last = self.last.as_ref();
        let recent = last.filter(|last| last.at.elapsed() < FETCH_PAUSE_MIN)?;
        Some(Err(match &recent.failure {
            Some(failure) => TokenError::Unavailable(failure.clone()),
            None => TokenError::Refused("the issuer does not publish its key".to_owned()),
        }))
    }

    /// Logs a failure once, and its end.
    fn log_change(&self, failure: Option<&str>) {
        let before = self.last.as_ref().and_then(|last| last.failure.as_deref());
        match failure {
            Some(reason) if before != failure => {
                tracing::warn!(reason, "the keys of the OIDC issuer cannot be fetched");
            }
            None if before.is_some() => tracing::info!("the OIDC issuer publishes its keys again"),
            _ => {}
        }
    }
}

#[cfg(test)]
impl IssuerKeys {
    /// Fetches the keys as the server does at its start.
    pub(super) async fn fetch_first(&self, client: &IssuerClient) {
        self.fetch(client).await;
    }

    /// Fetches the keys once a token wants it.
    pub(super) async fn fetch_when_wanted(&self, client: &IssuerClient) {
        self.wanted.notified().await;
        self.fetch(client).await;
    }

    /// Lets tokens with unknown keys cause a fetch at once.
    pub(super) fn end_pause(&self) {
        self.fetched.send_modify(|fetched| fetched.last = None);
    }

    /// The reason of the last failure.
    pub(super) fn failure(&self) -> Option<String> {
        self.fetched.borrow().last.as_ref()?.failure.clone()
    }
}
