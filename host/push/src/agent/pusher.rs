//! The pusher: from the events of a source to requests.

use std::path::Path;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use jiff::Timestamp;
use kindsight_api::push::{AgentNeeds, FORMAT, PushParameters};
use kindsight_clusters::{
    ClusterEvent, ClusterSource, ConfirmationId, Confirmations, KubernetesCluster, Needs,
};
use kindsight_model::{ClusterName, InvolvedKinds};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::client::{PushClient, PushError};
use super::frames::Frames;
use super::ledger::Ledger;
use super::needs::NeedsChannels;
use super::options::{PushOptions, PushSetupError};
use super::spool::Spool;

/// Shortest time between two frames. A change that comes later is sent at once.
const GATHER: Duration = Duration::from_millis(100);
/// Time without a frame after which a heartbeat is sent.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// First and longest time until a failed request is repeated. Each is extended at random by up to its own length.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_LONGEST: Duration = Duration::from_secs(5);
/// Time for the last request of an agent that stops.
const LEAVE_MAX: Duration = Duration::from_secs(1);
/// Maximum number of events that are taken before the next frame.
const EVENTS_AT_A_TIME: usize = 256;
/// Maximum length of the host name in the name of an agent, in bytes.
const HOST_NAME_BYTES_MAX: usize = 100;

/// Sends the events of a source to the server.
pub struct Pusher {
    cluster: ClusterName,
    client: PushClient,
    spool: Spool,
    ledger: Ledger,
    frames: Frames,
    needs: NeedsChannels,
    confirmations: Confirmations,
    /// The last reported failure; none while the server answers.
    failure: Option<String>,
}

/// The requests and times of a running pusher.
struct Running {
    sending: Option<BoxFuture<'static, Result<u64, PushError>>>,
    asking: BoxFuture<'static, Result<Option<AgentNeeds>, PushError>>,
    confirming: FuturesUnordered<BoxFuture<'static, (ConfirmationId, Result<(), String>)>>,
    retries: Retries,
    needs_retries: Retries,
    /// The earliest time of the next request.
    send_at: Instant,
    heartbeat_at: Instant,
    framed_at: Instant,
}

impl std::fmt::Debug for Pusher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pusher")
            .field("cluster", &self.cluster)
            .finish_non_exhaustive()
    }
}

impl Pusher {
    /// Opens the spool, and reads the files of TLS. Returns the needs for the source of the cluster: the relations, the
    /// recorded deployments and the confirmations that the server sends. Blocks while it reads files.
    ///
    /// # Errors
    /// [`PushSetupError`].
    pub fn new(options: PushOptions) -> Result<(Self, Needs), PushSetupError> {
        let client = PushClient::new(&options)?;
        let PushOptions {
            cluster,
            spool_dir,
            spool_bytes_max,
            ..
        } = options;
        let failed = |source| PushSetupError::Spool {
            path: spool_dir.clone(),
            source,
        };
        let mut spool = Spool::open(&spool_dir, agent_name(), spool_bytes_max).map_err(failed)?;
        spool.begin_epoch(now_ms()).map_err(failed)?;
        let (needs, of_source) = NeedsChannels::open(cluster.clone(), &spool_dir);
        let pusher = Self {
            cluster,
            client,
            spool,
            ledger: Ledger::default(),
            frames: Frames::default(),
            needs,
            confirmations: of_source.confirmations.clone(),
            failure: None,
        };
        Ok((pusher, of_source))
    }

    /// The configuration of the source of the cluster, which follows the `[[application]]`s that the server selects.
    /// Called once, before [`Pusher::run`].
    pub fn configured(&mut self, cluster: KubernetesCluster) -> watch::Receiver<ClusterSource> {
        self.needs.configured(cluster)
    }

    /// Sends events until `shutdown` is cancelled or `events` is closed. Waits never block the source: changes are
    /// merged while the server does not answer and the spool is full.
    pub async fn run(
        mut self,
        mut events: mpsc::Receiver<ClusterEvent>,
        shutdown: CancellationToken,
    ) {
        let now = Instant::now();
        let mut running = Running {
            sending: None,
            asking: Box::pin(self.client.needs(None)),
            confirming: FuturesUnordered::new(),
            retries: Retries::default(),
            needs_retries: Retries::default(),
            send_at: now,
            heartbeat_at: now,
            framed_at: now,
        };
        loop {
            self.begin_request(&mut running);
            let wake_at = self.wake_at(&running);
            tokio::select! {
                () = shutdown.cancelled() => break,
                event = events.recv() => match event {
                    Some(event) => self.take_waiting(event, &mut events),
                    None => break,
                },
                answer = sent(&mut running.sending) => {
                    running.sending = None;
                    self.follow(answer, &mut running);
                }
                answer = &mut running.asking => self.take_needs(answer, &mut running),
                Some((id, answer)) = running.confirming.next() => {
                    // Everything that the source reported before its answer is in the channel.
                    while let Ok(event) = events.try_recv() {
                        self.ledger.take(event);
                    }
                    self.ledger.confirm(id, answer);
                }
                () = sleep_until(wake_at) => {}
            }
            self.write_due(&mut running);
        }
        self.leave().await;
    }

    fn take_waiting(&mut self, event: ClusterEvent, events: &mut mpsc::Receiver<ClusterEvent>) {
        self.ledger.take(event);
        for _ in 1..EVENTS_AT_A_TIME {
            match events.try_recv() {
                Ok(event) => self.ledger.take(event),
                Err(_) => break,
            }
        }
    }

    /// The time at which lines are written; none if there is no change, or no room for it.
    fn write_at(&self, running: &Running) -> Option<Instant> {
        let changed_at = self.ledger.changed_at()?;
        (!self.spool.is_full()).then(|| changed_at.max(running.framed_at + GATHER))
    }

    fn wake_at(&self, running: &Running) -> Instant {
        let request_at = match running.sending {
            Some(_) => None,
            None if self.spool.is_empty() => Some(running.heartbeat_at.max(running.send_at)),
            None => Some(running.send_at),
        };
        let times = [self.write_at(running), request_at].into_iter().flatten();
        times.fold(Instant::now() + HEARTBEAT, Instant::min)
    }

    /// Writes changes to the spool if it is time.
    fn write_due(&mut self, running: &mut Running) {
        let now = Instant::now();
        if self.write_at(running).is_none_or(|at| at > now) {
            return;
        }
        running.framed_at = now;
        let changed_at = self.ledger.changed_at().unwrap_or(now);
        let (spool, mut stored) = (&mut self.spool, Ok(()));
        let mut store = |frames: Vec<Vec<u8>>| {
            for frame in frames {
                if stored.is_ok() {
                    stored = spool.push(frame, changed_at);
                }
            }
            spool.is_full() || stored.is_err()
        };
        self.ledger
            .write(&mut self.frames, |frames| store(frames.take_complete()));
        store(self.frames.take_all());
        if let Err(error) = stored {
            tracing::error!(%error, "the spool cannot be written; a complete report follows");
            self.begin_epoch();
            running.framed_at = now + RETRY_LONGEST;
        }
    }

    /// Begins the next request if it is time: the first frame, or a heartbeat.
    fn begin_request(&mut self, running: &mut Running) {
        let now = Instant::now();
        if running.sending.is_some() || running.send_at > now {
            return;
        }
        let (frame, changed_at) = match self.spool.read_first() {
            Ok(Some(frame)) => frame,
            Ok(None) if running.heartbeat_at <= now => (Vec::new(), now),
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "the spool cannot be read; a complete report follows");
                self.begin_epoch();
                return;
            }
        };
        running.heartbeat_at = now + HEARTBEAT;
        self.client.refresh();
        let parameters = self.parameters(changed_at.elapsed(), false);
        running.sending = Some(Box::pin(self.client.push(&parameters, frame)));
    }

    fn parameters(&self, lag: Duration, leaving: bool) -> PushParameters {
        PushParameters {
            format: FORMAT,
            agent: self.spool.agent().to_owned(),
            epoch: self.spool.epoch(),
            sequence: self.spool.first(),
            lag_ms: u64::try_from(lag.as_millis()).unwrap_or(u64::MAX),
            leaving,
        }
    }

    /// Follows the answer to a frame or a heartbeat.
    fn follow(&mut self, answer: Result<u64, PushError>, running: &mut Running) {
        let wait = match answer {
            Ok(expected) | Err(PushError::Sequence(expected)) => {
                if self.spool.acknowledge(expected) {
                    self.answered(running);
                    return;
                }
                self.begin_epoch();
                running.retries.next()
            }
            Err(PushError::Busy(wait)) => wait,
            Err(error) => {
                if matches!(error, PushError::NewEpoch(_) | PushError::Refused(..)) {
                    self.begin_epoch();
                }
                // A server that restarted needs a complete report at once.
                let is_first = matches!(error, PushError::NewEpoch(_)) && running.retries.is_fresh;
                self.failed(&error);
                let wait = running.retries.next();
                if is_first { Duration::ZERO } else { wait }
            }
        };
        running.send_at = Instant::now() + wait;
    }

    fn answered(&mut self, running: &mut Running) {
        if self.failure.take().is_some() {
            tracing::info!(cluster = %self.cluster, "the server takes the reports");
        }
        running.retries = Retries::default();
        running.send_at = Instant::now();
        if self.spool.is_empty() {
            self.ledger.settle();
        }
    }

    /// Logs a failure, once for each reason.
    fn failed(&mut self, error: &PushError) {
        let text = error.to_string();
        if self.failure.as_ref() != Some(&text) {
            tracing::warn!(cluster = %self.cluster, error = text, "the reports are not taken; trying again");
            self.failure = Some(text);
        }
    }

    /// Begins a complete report.
    fn begin_epoch(&mut self) {
        self.frames = Frames::default();
        if let Err(error) = self.spool.begin_epoch(now_ms()) {
            tracing::warn!(%error, "the epoch cannot be kept for the next start");
        }
        self.ledger.begin_epoch();
    }

    /// Passes the needs of the server on, and asks again.
    fn take_needs(&mut self, answer: Result<Option<AgentNeeds>, PushError>, running: &mut Running) {
        let wait = match answer {
            Ok(needs) => {
                running.needs_retries = Retries::default();
                for (id, kinds) in needs.map_or_else(Vec::new, |needs| self.needs.take(needs)) {
                    running.confirming.push(self.confirm(id, kinds));
                }
                self.ledger
                    .retain_deployments(|id| self.needs.is_recorded(id));
                Duration::ZERO
            }
            Err(PushError::Busy(wait)) => wait,
            Err(error) => {
                self.failed(&error);
                running.needs_retries.next()
            }
        };
        let request = self.client.needs(self.needs.revision());
        running.asking = Box::pin(async move {
            sleep(wait).await;
            request.await
        });
    }

    /// Asks the source to confirm.
    fn confirm(
        &self,
        id: ConfirmationId,
        kinds: InvolvedKinds,
    ) -> BoxFuture<'static, (ConfirmationId, Result<(), String>)> {
        let (confirmations, cluster) = (self.confirmations.clone(), self.cluster.clone());
        Box::pin(async move {
            let answer = confirmations.confirm([(cluster, kinds)].into()).await;
            (id, answer)
        })
    }

    /// Lets another agent take the place of this one at once.
    async fn leave(self) {
        let parameters = self.parameters(Duration::ZERO, true);
        // Without an answer, the server waits until this agent has been silent for a while.
        let _ = timeout(LEAVE_MAX, self.client.push(&parameters, Vec::new())).await;
    }
}

/// Waits for the answer to the request in progress; for ever without a request.
async fn sent(
    sending: &mut Option<BoxFuture<'static, Result<u64, PushError>>>,
) -> Result<u64, PushError> {
    match sending {
        Some(request) => request.await,
        None => std::future::pending().await,
    }
}

/// Times between attempts.
struct Retries {
    waits: ExponentialBackoff,
    is_fresh: bool,
}

impl Default for Retries {
    fn default() -> Self {
        let waits = ExponentialBuilder::new()
            .with_min_delay(RETRY_FIRST)
            .with_max_delay(RETRY_LONGEST)
            .without_max_times()
            .with_jitter();
        Self {
            waits: waits.build(),
            is_fresh: true,
        }
    }
}

impl Retries {
    fn next(&mut self) -> Duration {
        self.is_fresh = false;
        self.waits.next().unwrap_or(RETRY_LONGEST)
    }
}

/// A name of an agent: the name of its host, and random digits.
fn agent_name() -> String {
    let host = std::fs::read_to_string(Path::new("/etc/hostname")).unwrap_or_default();
    let is_legal = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
    let host: String = host
        .chars()
        .filter(is_legal)
        .take(HOST_NAME_BYTES_MAX)
        .collect();
    let host = if host.is_empty() { "agent" } else { &host };
    format!("{host}-{:08x}", fastrand::u32(..))
}

fn now_ms() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default()
}
