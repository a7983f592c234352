//! The task that follows the read model and updates A&AI.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, DigName, RecordSubject, SubjectSet};
use kindsight_read_model::{ChangedSubjects, ReadModel, VisibleModel};
use kindsight_status::{ApplicationKey, ChangedSubject, ConnectionState, StatusQuery};
use kindsight_store::{Error as StoreError, Lease, Leased, Store, chain};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Failure};
use crate::health::{Counted, Health};
use crate::item::ItemKey;
use crate::ledger::{Entry, Ledger};
use crate::limits::{AWAY_RETRY_MAX, GATHER, LEASE_RETRY, RECHECK, RETRY_MIN, STOP_WAIT};
use crate::plan::{Heard, plan};
use crate::queue::Queue;
use crate::settings::AaiSettings;
use crate::update::{Done, update};

/// The name of the lease: one server at a time updates A&AI.
const LEASE: &str = "aai";

/// Returns whether all Kinds of a cluster were listed since the start.
pub type IsListed = Arc<dyn Fn(&ClusterName) -> bool + Send + Sync>;

/// The task that updates A&AI.
pub struct Updater {
    settings: Arc<AaiSettings>,
    read_model: ReadModel,
    store: Arc<dyn Store>,
    is_listed: IsListed,
    health: Health,
}

/// The end of the time with a lease.
enum End {
    Shutdown,
    LeaseLost,
}

/// The state while this server has the lease.
struct Session {
    queue: Queue,
    ledger: Ledger,
    client: Arc<Client>,
    running: Option<JoinHandle<Done>>,
    /// The time until which no update begins, and the next wait, while A&AI is away.
    away: Option<(Instant, Duration)>,
    /// Applications whose plan keeps items because a cluster is not heard.
    unheard: BTreeSet<DigName>,
}

impl Updater {
    /// The task for these settings. `store` keeps the ledger; servers that share it take turns.
    pub fn new(
        settings: AaiSettings,
        read_model: ReadModel,
        store: Arc<dyn Store>,
        is_listed: IsListed,
    ) -> Self {
        Self {
            settings: Arc::new(settings),
            read_model,
            store,
            is_listed,
            health: Health::default(),
        }
    }

    /// The state of the updates, for metrics and answers.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Updates A&AI until `shutdown`. Completes a request that was begun.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), Infallible> {
        let mut has_failed = false;
        loop {
            let store = Arc::clone(&self.store);
            let leased = spawn_blocking(move || match store.lease(LEASE)? {
                Leased::Granted(lease) => {
                    let ledger = Ledger(lease.fenced(&store));
                    Ok(Some((ledger.read()?, ledger, lease)))
                }
                Leased::Held => Ok::<_, StoreError>(None),
            });
            match leased.await {
                Ok(Ok(Some((entries, ledger, lease)))) => {
                    has_failed = false;
                    let end = self.serve(entries, ledger, lease, &shutdown).await;
                    if matches!(end, End::Shutdown) {
                        return Ok(());
                    }
                }
                Ok(Err(error)) if !has_failed => {
                    has_failed = true;
                    let error = chain(&error);
                    tracing::warn!(error, "the ledger of A&AI cannot be read; trying again");
                }
                // Another server has the lease, or the error was logged.
                Ok(Ok(None) | Err(_)) | Err(_) => {}
            }
            tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                () = sleep(LEASE_RETRY) => {}
            }
        }
    }

    /// Updates A&AI while this server has the lease.
    async fn serve(
        &self,
        entries: Vec<(ItemKey, Entry)>,
        ledger: Ledger,
        lease: Lease,
        shutdown: &CancellationToken,
    ) -> End {
        let stop = shutdown.child_token();
        let mut session = Session {
            queue: Queue::default(),
            ledger,
            client: Arc::new(Client::new(
                Arc::clone(&self.settings),
                self.health.clone(),
                stop.clone(),
                lease.expiry().clone(),
            )),
            running: None,
            away: None,
            unheard: BTreeSet::new(),
        };
        session.queue.restore(entries);
        let ((), mut subscription) = self.read_model.subscribe(|_| ());
        let mut changed = ChangedSubjects::All;
        let mut recheck = Instant::now() + RECHECK;
        let end = 'serving: loop {
            let names = self.names(&changed, &session.queue);
            self.plan(&names, &mut session);
            session.queue.report(&self.health);
            let mut gathering = pin!(subscription.gathered(GATHER));
            changed = loop {
                if !session.client.has_lease() {
                    break 'serving End::LeaseLost;
                }
                session.begin_next();
                let wake = session.wake();
                let is_any_unsettled = session.unsettled().next().is_some();
                tokio::select! {
                    () = shutdown.cancelled() => break 'serving End::Shutdown,
                    gathered = &mut gathering => match gathered {
                        Some(gathered) => break gathered,
                        // The server stops.
                        None => break 'serving End::Shutdown,
                    },
                    done = finished(&mut session.running) => {
                        if self.finish(&mut session, done) {
                            break 'serving End::LeaseLost;
                        }
                    }
                    () = sleep_until(wake) => {}
                    () = sleep_until(recheck), if is_any_unsettled => {
                        recheck = Instant::now() + RECHECK;
                        let names = session.unsettled().cloned().collect();
                        self.plan(&names, &mut session);
                    }
                }
                session.queue.report(&self.health);
            };
        };
        // The lease ends next, so the running update sends no further request.
        stop.cancel();
        if let Some(running) = session.running.take() {
            // Its result is in the ledger, or is found by reading.
            let _ = timeout(STOP_WAIT, running).await;
        }
        drop(lease);
        end
    }

    /// The applications whose plan may have changed.
    fn names(&self, changed: &ChangedSubjects, queue: &Queue) -> BTreeSet<DigName> {
        let held = queue.applications().cloned();
        let ChangedSubjects::Some(subjects) = changed else {
            let known = self.read_model.inspect(|snapshot| {
                let contexts = snapshot.contexts().filter_map(|view| view.meta.clone());
                let found = snapshot.found().map(|(name, _)| name.clone());
                contexts.chain(found).collect::<BTreeSet<_>>()
            });
            return held.chain(known).collect();
        };
        let mut names = BTreeSet::new();
        for subject in subjects {
            match subject {
                ChangedSubject::Application(ApplicationKey::Found(name))
                | ChangedSubject::Record(RecordSubject::Group(name)) => {
                    names.insert(name.clone());
                }
                ChangedSubject::Application(key @ ApplicationKey::Context(_)) => {
                    match self.read_model.application(key) {
                        Some(view) => names.extend(view.meta.clone()),
                        // The name of a removed context is not known.
                        None => names.extend(queue.applications().cloned()),
                    }
                }
                ChangedSubject::Connection(cluster) => names.extend(queue.applications_in(cluster)),
                ChangedSubject::Record(_) | ChangedSubject::Store | ChangedSubject::StateStore => {}
            }
        }
        names
    }

    /// Makes the plans of applications from the present read model. A health scope has no plan: its objects belong to
    /// other applications.
    fn plan(&self, names: &BTreeSet<DigName>, session: &mut Session) {
        // Read before the applications, because the pipeline publishes the applications of a cluster before it publishes
        // that the cluster is connected.
        let heard = self.heard();
        let visible: VisibleModel = self.read_model.visible_to(&SubjectSet::Everything);
        for name in names {
            let subject = visible.dig(name, &StatusQuery::default());
            let subject = subject.ok().filter(|_| !name.is_health_scope());
            let held = session.queue.held(name);
            let (plan, is_unheard) = plan(name, subject.as_ref(), &held, &self.settings, &heard);
            if is_unheard {
                session.unheard.insert(name.clone());
            } else {
                session.unheard.remove(name);
            }
            session.queue.set(name, plan, Instant::now());
        }
    }

    /// The reported clusters that are connected and were listed completely, with their coverages.
    fn heard(&self) -> Heard {
        let connected: Vec<_> = self.read_model.inspect(|snapshot| {
            let connections = snapshot.connections();
            let connected =
                connections.filter(|(_, view)| view.state == ConnectionState::Connected);
            let reported = connected.filter(|(name, _)| self.settings.clusters.contains_key(*name));
            let reported = reported.map(|(name, view)| {
                let coverage = view.coverage.clone().unwrap_or_default();
                (name.clone(), coverage)
            });
            reported.collect()
        });
        let connected = connected.into_iter();
        connected
            .filter(|(name, _)| (self.is_listed)(name))
            .collect()
    }

    /// Notes the result of an update. Returns whether the lease was lost.
    fn finish(&self, session: &mut Session, done: Option<Done>) -> bool {
        let Some(done) = done else {
            tracing::error!("an update of A&AI panicked; the log says where");
            return false;
        };
        // The next owner of the lease repeats the update.
        if done.is_lease_lost {
            return true;
        }
        let now = Instant::now();
        match &done.result {
            Ok(()) => {
                session.away = None;
                if self.health.set_back() {
                    tracing::info!("A&AI answers again");
                }
            }
            Err(Failure::Away {
                reason,
                retry_after,
            }) => {
                self.health.count(Counted::Failure);
                let wait = session.away.map_or(RETRY_MIN, |(_, wait)| wait);
                let until = now + retry_after.map_or(wait, |asked| asked.max(wait));
                session.away = Some((until, AWAY_RETRY_MAX.min(wait * 2)));
                if self.health.set_away(reason) {
                    tracing::warn!(reason, "A&AI is away; updates wait for it");
                }
            }
            Err(Failure::Refused(text)) => {
                self.health.count(Counted::Refusal);
                session.away = None;
                self.health.set_back();
                if self.health.set_refusal(text) {
                    tracing::warn!(text, "A&AI refuses an object; trying again later");
                } else {
                    tracing::debug!(text, "A&AI refuses an object");
                }
            }
        }
        session.queue.done(&done.key, done.entry, &done.result, now);
        false
    }
}

impl Session {
    /// The applications to plan again without a change: their clusters may be heard now, or there is room for their items.
    fn unsettled(&self) -> impl Iterator<Item = &DigName> {
        self.unheard.iter().chain(self.queue.waiting_for_room())
    }

    /// Begins the next update, if it is due and none runs.
    fn begin_next(&mut self) {
        let now = Instant::now();
        let is_away = self.away.is_some_and(|(until, _)| until > now);
        if self.running.is_some() || is_away {
            return;
        }
        if let Some(job) = self.queue.take(now) {
            let (ledger, client) = (self.ledger.clone(), Arc::clone(&self.client));
            self.running = Some(spawn_blocking(move || update(job, &ledger, &client)));
        }
    }

    /// The time at which the next update may begin.
    fn wake(&self) -> Instant {
        // Far away: a running update wakes the task.
        let never = Instant::now() + AWAY_RETRY_MAX;
        let due = self.queue.next_due().filter(|_| self.running.is_none());
        let until = self.away.map(|(until, _)| until);
        due.map_or(never, |due| until.map_or(due, |until| until.max(due)))
    }
}

/// The result of the running update; pending while none runs. `None` if it panicked.
async fn finished(running: &mut Option<JoinHandle<Done>>) -> Option<Done> {
    match running {
        Some(handle) => {
            let done = handle.await.ok();
            *running = None;
            done
        }
        None => std::future::pending().await,
    }
}
