//! The link to an etcd: one client whose calls have a deadline.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use etcd_client::{
    Certificate, Client, ConnectOptions, Error as ClientError, Identity, KvClient, ResponseHeader,
    TlsOptions,
};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use super::failure::Failure;
use super::key_space::KeySpace;
use crate::{Error, EtcdOptions, Result, Revision};

/// The time between two keep-alive pings on a connection. Members reject pings that are more
/// frequent than every 5 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The time within which a member must answer a ping.
const KEEP_ALIVE_ANSWER_MAX: Duration = Duration::from_secs(5);
/// The longest time for connecting to one member.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// The first pause between two attempts of a call. It doubles with each attempt.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest pause between two attempts of a call.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// The largest answer, in bytes. A page is far smaller, but a single value may have this size.
pub(super) const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The client of one store, and the state that its calls share.
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) keys: KeySpace,
    pub(super) deadline: Duration,
    /// The greatest revision in any member's answer.
    seen: AtomicU64,
    /// Notified when a call got no answer, so that the watch checks whether the member is still
    /// there.
    pub(super) doubt: Notify,
}

impl Link {
    /// Connects and authenticates.
    pub(super) async fn connect(endpoints: &[String], options: &EtcdOptions) -> Result<Self> {
        let connect = connect_options(options)?;
        let scheme = if options.ca.is_some() {
            "https"
        } else {
            "http"
        };
        let urls: Vec<String> = endpoints
            .iter()
            .map(|endpoint| format!("{scheme}://{endpoint}"))
            .collect();
        let until = Instant::now() + options.deadline;
        let mut pause = PAUSE;
        let client = loop {
            let tried = timeout_at(until, Client::connect(&urls, Some(connect.clone()))).await;
            let failure = match tried {
                Ok(Ok(client)) => break client,
                Ok(Err(error)) => Failure::from(error),
                Err(_) => Failure::Unanswered(no_answer(options.deadline)),
            };
            wait_to_try_again(failure, until, &mut pause).await?;
        };
        Ok(Self {
            client,
            keys: KeySpace::new(&options.key_prefix),
            deadline: options.deadline,
            seen: AtomicU64::new(0),
            doubt: Notify::new(),
        })
    }

    /// Reads, with repeated attempts until the deadline, since another member may answer.
    pub(super) async fn read<T, F>(&self, call: impl Fn(KvClient) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let begin = Instant::now();
        let until = begin + self.deadline;
        let mut pause = PAUSE;
        // A member that hangs must not use up all the time.
        let mut try_until = begin + self.deadline / 2;
        loop {
            let failure = match self.once(try_until, &call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            self.again(failure, until, &mut pause).await?;
            try_until = until;
        }
    }

    /// Writes once. Repeats the write only if it is certain that nothing was sent.
    pub(super) async fn write<T, F>(
        &self,
        until: Instant,
        call: impl Fn(KvClient) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut pause = PAUSE;
        loop {
            match self.once(until, &call).await {
                Ok(answer) => return Ok(answer),
                Err(failure @ Failure::Unanswered(_)) => return Err(failure),
                Err(failure) => self.again(failure, until, &mut pause).await?,
            }
        }
    }

    async fn once<T, F>(&self, until: Instant, call: impl Fn(KvClient) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let client = self.client.kv_client();
        let client = client.max_decoding_message_size(ANSWER_BYTES_MAX);
        let failure = match timeout_at(until, call(client)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => Failure::from(error),
            Err(_) => Failure::Unanswered(no_answer(self.deadline)),
        };
        if matches!(failure, Failure::Unanswered(_) | Failure::NotSent(_)) {
            self.doubt.notify_one();
        }
        Err(failure)
    }

    /// Pauses before another attempt, and gets a new token if the old one has expired.
    ///
    /// # Errors
    /// The failure, if another attempt does not help or the deadline has passed.
    async fn again(
        &self,
        failure: Failure,
        until: Instant,
        pause: &mut Duration,
    ) -> Result<(), Failure> {
        let is_worth_it = matches!(
            failure,
            Failure::NotSent(_) | Failure::Unanswered(_) | Failure::OldToken(_)
        );
        if !is_worth_it || Instant::now() + *pause >= until {
            return Err(failure);
        }
        sleep(*pause).await;
        *pause = (*pause * 2).min(PAUSE_MAX);
        if matches!(failure, Failure::OldToken(_)) {
            let refreshed = timeout_at(until, self.client.refresh_token()).await;
            refreshed.map_err(|_| Failure::Unanswered(no_answer(self.deadline)))??;
        }
        Ok(())
    }

    /// Records the revision of an answer, and returns it.
    pub(super) fn revision(&self, header: Option<&ResponseHeader>) -> Revision {
        let revision = header.map_or(0, |header| number(header.revision()));
        self.seen.fetch_max(revision, Ordering::SeqCst);
        Revision::new(revision)
    }

    /// Forgets the recorded revision, because the etcd may have been reset to an earlier state.
    pub(super) fn forget(&self) {
        self.seen.store(0, Ordering::SeqCst);
    }

    /// A revision that the etcd has reached.
    pub(super) fn seen(&self) -> Revision {
        Revision::new(self.seen.load(Ordering::SeqCst))
    }
}

async fn wait_to_try_again(failure: Failure, until: Instant, pause: &mut Duration) -> Result<()> {
    let is_worth_it = matches!(failure, Failure::NotSent(_) | Failure::Unanswered(_));
    if !is_worth_it || Instant::now() + *pause >= until {
        return Err(failure.into_error());
    }
    sleep(*pause).await;
    *pause = (*pause * 2).min(PAUSE_MAX);
    Ok(())
}

/// Converts a revision from its wire type. Revisions are never negative.
pub(super) fn number(revision: i64) -> u64 {
    u64::try_from(revision).unwrap_or_default()
}

/// Converts a revision to its wire type.
pub(super) fn on_the_wire(revision: Revision) -> i64 {
    i64::try_from(revision.number()).unwrap_or(i64::MAX)
}

pub(super) fn no_answer(deadline: Duration) -> String {
    format!("no answer within {deadline:?}")
}

/// Rejects incomplete options, because the connection would be less secure than the operator
/// intended.
fn check(options: &EtcdOptions) -> Result<()> {
    let refused = |reason: &str| {
        Err(Error::Denied {
            reason: reason.to_owned(),
        })
    };
    if options.cert.is_some() != options.key.is_some() {
        return refused("a certificate requires its key, and a key requires its certificate");
    }
    if options.cert.is_some() && options.ca.is_none() {
        return refused(
            "a client certificate requires TLS, and TLS requires the CA file of the etcd",
        );
    }
    if options.user.is_some() != options.password.is_some() {
        return refused("a user requires a password, and a password requires a user");
    }
    Ok(())
}

fn connect_options(options: &EtcdOptions) -> Result<ConnectOptions> {
    check(options)?;
    let mut connect = ConnectOptions::new()
        .with_require_leader(true)
        .with_keep_alive(KEEP_ALIVE, KEEP_ALIVE_ANSWER_MAX)
        // Members treat pings on an idle connection as an attack.
        .with_keep_alive_while_idle(false)
        .with_connect_timeout(CONNECT_MAX.min(options.deadline));
    if let (Some(user), Some(password)) = (&options.user, &options.password) {
        connect = connect
            .with_user(user, password)
            .with_auto_token_refresh(true);
    }
    let Some(ca) = &options.ca else {
        return Ok(connect);
    };
    let mut tls = TlsOptions::new().ca_certificate(Certificate::from_pem(pem(ca)?));
    if let (Some(cert), Some(key)) = (&options.cert, &options.key) {
        tls = tls.identity(Identity::from_pem(pem(cert)?, pem(key)?));
    }
    Ok(connect.with_tls(tls))
}

fn pem(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Open {
        path: path.to_owned(),
        source,
    })
}
