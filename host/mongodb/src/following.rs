//! Following of the states: a poll, and what differs from the one before.

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

/// The shortest time until a MongoDB that is away is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// States in a MongoDB, which may be away.
pub struct StatesSource {
    reader: Reader,
    every: Duration,
    clock: fn() -> i64,
    known: KnownStates,
    faults: Faults,
    away: Option<Away>,
}

/// A MongoDB that is away.
struct Away {
    since_ms: i64,
    reason: String,
    attempts: u32,
}

impl StatesSource {
    /// Reads the options, and connects to nothing yet. `clock` tells the time in Unix milliseconds. Needs a runtime
    /// of tokio.
    ///
    /// # Errors
    /// [`Error`] for options that can never be used. A MongoDB that is away is none.
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

    /// The members that the URI names, without its user and its options.
    pub fn members(&self) -> &str {
        &self.reader.connection.members
    }

    /// Sends [`StatesNews::All`] once everything was read, then what changes, until `shutdown` or until `news` is
    /// closed.
    ///
    /// An error is told as [`StatesNews::Away`] and tried again for ever; [`StatesNews::Back`] comes after what
    /// changed meanwhile.
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
        // Cancelled, or the channel is closed: nothing left to do in both cases.
        let _: Option<Result<(), SendError<E>>> = shutdown.run_until_cancelled(following).await;
    }

    /// Tells what differs; returns the time until the next poll.
    async fn take<E: From<StatesNews>>(
        &mut self,
        reading: Reading,
        news: &Sender<E>,
    ) -> Result<Duration, SendError<E>> {
        let is_first = !self.known.is_known();
        if is_first || self.away.is_some() {
            self.tell_begin(&reading);
        }
        self.faults.tell(reading.faults);
        for item in self.known.take(reading.states, &reading.unreadable) {
            news.send(item.into()).await?;
        }
        if self.away.take().is_some() {
            news.send(StatesNews::Back.into()).await?;
        }
        Ok(self.every)
    }

    fn tell_begin(&self, reading: &Reading) {
        let count = |is_so: fn(&RecordSubject) -> bool| {
            reading.states.keys().filter(|it| is_so(it)).count()
        };
        tracing::info!(
            members = self.members(),
            groups = count(|it| matches!(it, RecordSubject::Group(_))),
            clusters = count(|it| matches!(it, RecordSubject::Cluster(_))),
            logical_clouds = count(|it| matches!(it, RecordSubject::LogicalCloud(_))),
            database = self.reader.database(),
            every = ?self.every,
            "states are read from MongoDB"
        );
    }

    /// Tells that it is away; returns the time until the next try.
    async fn fail<E: From<StatesNews>>(
        &mut self,
        failure: Failure,
        news: &Sender<E>,
    ) -> Result<Duration, SendError<E>> {
        let (is_told, attempts, since_ms) = match &self.away {
            Some(away) => (away.reason == failure.reason, away.attempts, away.since_ms),
            None => (false, 0, (self.clock)()),
        };
        if !is_told {
            let (members, reason) = (self.members(), &failure.reason);
            tracing::warn!(
                members,
                reason,
                "MongoDB is away; the states that were last read from it are shown"
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

/// The time after a number of tries: it doubles up to a limit, and is by up to a half longer at random.
fn pause(attempts: u32) -> Duration {
    let doubled = RETRY.saturating_mul(2_u32.saturating_pow(attempts.min(10)));
    let time = doubled.min(RETRY_MAX);
    // The seed of a hasher is all the randomness that this needs.
    let random = RandomState::new().hash_one(0_u8) % 512;
    let part = u32::try_from(random).unwrap_or_default();
    time.saturating_add(time.saturating_mul(part) / 1024)
}
