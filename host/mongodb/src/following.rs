//! Follows the states: polls them, and sends the differences from the previous poll.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use kindsight_model::{RecordSubject, StatesNews};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::SendError;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::faults::Faults;
use crate::limits::RETRY_MAX;
use crate::options::{Error, MongodbOptions};
use crate::reading::{Reader, Reading};
use crate::states::KnownStates;

/// The shortest time until an unavailable MongoDB is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// States in a MongoDB that may be unavailable.
pub struct StatesSource {
    reader: Reader,
    every: Duration,
    clock: fn() -> i64,
    known: KnownStates,
    faults: Faults,
    away: Option<Away>,
}

/// A MongoDB that is unavailable.
struct Away {
    since_ms: i64,
    reason: String,
    attempts: u32,
}

impl StatesSource {
    /// Parses the options without connecting. `clock` returns the time in Unix milliseconds. Needs
    /// a tokio runtime.
    ///
    /// # Errors
    /// [`Error`] for options that can never be used. An unavailable MongoDB is not an error.
    pub async fn new(options: &MongodbOptions, clock: fn() -> i64) -> Result<Self, Error> {
        let connection = Connection::open(options).await?;
        Ok(Self {
            reader: Reader::new(connection, options.deadline),
            every: options.every,
            clock,
            known: KnownStates::default(),
            faults: Faults::default(),
            away: None,
        })
    }

    /// The members in the URI, without its user and its options.
    pub fn members(&self) -> &str {
        &self.reader.connection.members
    }

    /// Sends [`StatesNews::All`] once everything was read, then each change, until `shutdown` is
    /// cancelled or `news` is closed.
    ///
    /// After an error, sends [`StatesNews::Away`] and tries again without end. After a recovery,
    /// sends the changes that happened in between, then [`StatesNews::Back`].
    pub async fn follow<E: From<StatesNews>>(
        mut self,
        news: Sender<E>,
        shutdown: CancellationToken,
    ) {
        let following = async {
            loop {
                let pause = match self.reader.read().await {
                    Ok(reading) => self.take(reading, &news).await?,
                    Err(failure) => self.fail(failure, &news).await?,
                };
                sleep(pause).await;
            }
        };
        // In both cases, cancelled or channel closed, there is nothing left to do.
        let _: Option<Result<(), SendError<E>>> = shutdown.run_until_cancelled(following).await;
    }

    /// Sends the differences. Returns the time until the next poll.
    async fn take<E: From<StatesNews>>(
        &mut self,
        reading: Reading,
        news: &Sender<E>,
    ) -> Result<Duration, SendError<E>> {
        let is_first = !self.known.is_known();
        if is_first || self.away.is_some() {
            self.log_begin(&reading);
        }
        self.faults.log(reading.faults);
        for item in self.known.take(reading.states, &reading.unreadable) {
            news.send(item.into()).await?;
        }
        if self.away.take().is_some() {
            news.send(StatesNews::Back.into()).await?;
        }
        Ok(self.every)
    }

    fn log_begin(&self, reading: &Reading) {
        let count = |is_so: fn(&RecordSubject) -> bool| {
            reading
                .states
                .keys()
                .filter(|subject| is_so(subject))
                .count()
        };
        tracing::info!(
            members = self.members(),
            groups = count(|subject| matches!(subject, RecordSubject::Group(_))),
            clusters = count(|subject| matches!(subject, RecordSubject::Cluster(_))),
            logical_clouds = count(|subject| matches!(subject, RecordSubject::LogicalCloud(_))),
            database = self.reader.database(),
            every = ?self.every,
            "reading states from MongoDB"
        );
    }

    /// Sends and logs that MongoDB is unavailable. Returns the time until the next attempt.
    async fn fail<E: From<StatesNews>>(
        &mut self,
        failure: Failure,
        news: &Sender<E>,
    ) -> Result<Duration, SendError<E>> {
        let (is_known, attempts, since_ms) = match &self.away {
            Some(away) => (away.reason == failure.reason, away.attempts, away.since_ms),
            None => (false, 0, (self.clock)()),
        };
        if !is_known {
            let (members, reason) = (self.members(), &failure.reason);
            tracing::warn!(
                members,
                reason,
                "cannot read states from MongoDB; the last states that were read are still shown"
            );
            let away = StatesNews::Away {
                since_ms,
                reason: failure.reason.as_str().into(),
            };
            news.send(away.into()).await?;
        }
        self.away = Some(Away {
            since_ms,
            reason: failure.reason,
            attempts: attempts.saturating_add(1),
        });
        Ok(pause(attempts))
    }
}

/// The pause after a number of attempts. It doubles up to a limit, plus a random part of up to a
/// half.
fn pause(attempts: u32) -> Duration {
    let doubled = RETRY.saturating_mul(2_u32.saturating_pow(attempts.min(10)));
    let time = doubled.min(RETRY_MAX);
    // The seed of a hasher provides enough randomness for this.
    let random = RandomState::new().hash_one(0_u8) % 512;
    let part = u32::try_from(random).unwrap_or_default();
    time.saturating_add(time.saturating_mul(part) / 1024)
}
