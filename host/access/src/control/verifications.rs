//! The number of tokens that other issuers verify at a time.

use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::Refusal;

/// Maximum number of tokens that other issuers verify at a time. Further requests are refused as busy.
const VERIFICATIONS_MAX: usize = 64;
/// Maximum number of tokens of open streams among them. All streams are verified at the same moment after a change of the
/// roles, so the other places remain for requests.
pub(super) const OF_STREAMS_MAX: usize = 32;
/// The longest time for which an open stream waits for its verification. The stream then ends, so that no stream stays
/// open for long without a verification.
const TURN_WAIT_MAX: Duration = Duration::from_secs(10);

/// The sender of a credential.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sender {
    /// A request from this address, whose failed attempts are limited. It does not wait for its verification.
    Request(IpAddr),
    /// An open stream, whose credential was accepted before. It waits for its turn.
    Stream,
}

/// The places for verifications.
pub(super) struct Verifications {
    all: Semaphore,
    of_streams: Semaphore,
}

/// A place for one verification. Dropping it frees the place.
pub(super) struct Place<'a> {
    _place: SemaphorePermit<'a>,
    _of_stream: Option<SemaphorePermit<'a>>,
}

impl Default for Verifications {
    fn default() -> Self {
        Self {
            all: Semaphore::new(VERIFICATIONS_MAX),
            of_streams: Semaphore::new(OF_STREAMS_MAX),
        }
    }
}

impl Verifications {
    /// Takes a place. A stream waits at most [`TURN_WAIT_MAX`] for it.
    ///
    /// # Errors
    /// [`Refusal::Unavailable`] if there is no place.
    pub(super) async fn begin(&self, sender: Sender) -> Result<Place<'_>, Refusal> {
        let place = match sender {
            Sender::Request(_) => self.of_request(),
            Sender::Stream => timeout(TURN_WAIT_MAX, self.of_stream())
                .await
                .ok()
                .flatten(),
        };
        place.ok_or(Refusal::Unavailable)
    }

    fn of_request(&self) -> Option<Place<'_>> {
        Some(Place {
            _place: self.all.try_acquire().ok()?,
            _of_stream: None,
        })
    }

    /// Waits for the turn of a stream. The semaphores are never closed.
    async fn of_stream(&self) -> Option<Place<'_>> {
        let of_stream = self.of_streams.acquire().await.ok()?;
        Some(Place {
            _place: self.all.acquire().await.ok()?,
            _of_stream: Some(of_stream),
        })
    }
}
