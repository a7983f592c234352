//! The link to an etcd: one client, and calls with a deadline.

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

/// The time between two questions over a connection whether the member is still there. Members refuse
/// to be asked more often than every 5 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The time a member has to answer that.
const KEEP_ALIVE_ANSWER_MAX: Duration = Duration::from_secs(5);
/// The longest that connecting to one member takes.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// The first pause between two tries of a call, which doubles.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest pause between two tries of a call.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// The largest answer, in bytes. A page is far smaller, a single value may have this size.
pub(super) const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The client of one store, with what its calls share.
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) keys: KeySpace,
    pub(super) deadline: Duration,
    /// The greatest revision that a member has answered.
    seen: AtomicU64,
    /// Told when a call got no answer, so that the watch asks whether the member is there.
    pub(super) doubt: Notify,
}

impl Link {
    /// Connects, and shows who it is.
    pub(super) async fn connect(endpoints: &[String], options: &EtcdOptions) -> Result<Self> {
        let connect = connect_options(options)?;
        let scheme = if options.ca.is_some() {
            "https"
        } else {
            "http"
        };
        let urls: Vec<String> = endpoints
            .iter()
            .map(|it| format!("{scheme}://{it}"))
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

    /// Reads, again and again until the deadline: a member may be away while another is there.
    pub(super) async fn read<T, F>(&self, call: impl Fn(KvClient) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let begin = Instant::now();
        let until = begin + self.deadline;
        let mut pause = PAUSE;
        // A member that hangs must not take the whole time.
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

    /// Writes once, and once more only where it is certain that nothing was sent.
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

    /// Pauses before another try, with a new token where the old one has ended.
    ///
    /// # Errors
    /// The failure, where another try does not help or the time is up.
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

    /// Notes the revision of an answer, and answers it.
    pub(super) fn revision(&self, header: Option<&ResponseHeader>) -> Revision {
        let revision = header.map_or(0, |it| number(it.revision()));
        self.seen.fetch_max(revision, Ordering::SeqCst);
        Revision::new(revision)
    }

    /// Forgets how far the etcd was: it may be an earlier state of it now.
    pub(super) fn forget(&self) {
        self.seen.store(0, Ordering::SeqCst);
    }

    /// A revision that etcd has reached.
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

/// A revision on the wire, which is never negative.
pub(super) fn number(revision: i64) -> u64 {
    u64::try_from(revision).unwrap_or_default()
}

/// A revision for the wire.
pub(super) fn on_the_wire(revision: Revision) -> i64 {
    i64::try_from(revision.number()).unwrap_or(i64::MAX)
}

pub(super) fn no_answer(deadline: Duration) -> String {
    format!("no answer within {deadline:?}")
}

/// Refuses options of which one is missing: a connection must not be less safe than it was meant.
fn check(options: &EtcdOptions) -> Result<()> {
    let refused = |reason: &str| {
        Err(Error::Denied {
            reason: reason.to_owned(),
        })
    };
    if options.cert.is_some() != options.key.is_some() {
        return refused("a certificate needs its key, and a key its certificate");
    }
    if options.cert.is_some() && options.ca.is_none() {
        return refused(
            "a certificate is shown over TLS alone, which needs the authorities of the etcd",
        );
    }
    if options.user.is_some() != options.password.is_some() {
        return refused("a user needs a password, and a password a user");
    }
    Ok(())
}

fn connect_options(options: &EtcdOptions) -> Result<ConnectOptions> {
    check(options)?;
    let mut connect = ConnectOptions::new()
        .with_require_leader(true)
        .with_keep_alive(KEEP_ALIVE, KEEP_ALIVE_ANSWER_MAX)
        // Members take questions over an idle connection for an attack.
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
