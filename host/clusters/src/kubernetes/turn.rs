//! Turns of clusters: only a few clusters list their Kinds at a time, at their start and after an outage.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};

/// Number of clusters that have a turn at the same moment.
const TURNS_MAX: usize = 8;
/// Time after which a turn ends although its cluster is not listed yet. The lists continue.
const TURN_MAX: Duration = Duration::from_secs(3);

/// Limit on the number of clusters that list at a time, shared by all sources of a host. Clusters get their turns in
/// the order of their requests.
#[derive(Debug, Clone)]
pub struct ListTurns(Arc<Semaphore>);

/// The turns of one cluster, one after the other. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct ClusterTurns(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    all: ListTurns,
    /// True while a session starts. Its lists need no turns of their own.
    is_starting: watch::Sender<bool>,
    /// The last turn. Locked while the cluster waits for a turn, so that all its lists wait for the same turn.
    last: Mutex<Weak<Place>>,
}

/// One of the places of the limit. It is free once all its users have dropped it.
#[derive(Debug)]
struct Place {
    /// Never `None`: the semaphore is not closed.
    _permit: Option<OwnedSemaphorePermit>,
    ends_at: Instant,
}

/// The turn of a session that starts.
pub(super) struct Start {
    turns: ClusterTurns,
    place: Arc<Place>,
}

/// The turn of a list; without a place if the session of the list is starting.
pub(super) struct ListTurn(Option<Arc<Place>>);

impl Default for ListTurns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TURNS_MAX)))
    }
}

impl ListTurns {
    /// The turns of one more cluster.
    pub(super) fn of_cluster(&self) -> ClusterTurns {
        ClusterTurns(Arc::new(Shared {
            all: self.clone(),
            is_starting: watch::Sender::new(false),
            last: Mutex::default(),
        }))
    }
}

impl ClusterTurns {
    /// Waits for the turn of a session.
    pub(super) async fn start(&self) -> Start {
        let mut last = self.0.last.lock().await;
        let place = self.next(&mut last).await;
        self.0.is_starting.send_replace(true);
        Start {
            turns: self.clone(),
            place,
        }
    }

    /// Notes that the session has listed all Kinds.
    pub(super) fn started(&self) {
        self.0.is_starting.send_replace(false);
    }

    /// A turn for a list that does not have to wait; `None` if it has to wait.
    pub(super) fn try_list(&self) -> Option<ListTurn> {
        if *self.0.is_starting.borrow() {
            return Some(ListTurn(None));
        }
        let mut last = self.0.last.try_lock().ok()?;
        if let Some(place) = running(&last) {
            return Some(ListTurn(Some(place)));
        }
        let permit = Arc::clone(&self.0.all.0).try_acquire_owned().ok()?;
        Some(ListTurn(Some(begin(Some(permit), &mut last))))
    }

    /// Waits for a turn for a list. Lists of the same cluster share a turn.
    pub(super) async fn list(&self) -> ListTurn {
        let mut last = self.0.last.lock().await;
        let place = match running(&last) {
            Some(place) => place,
            None => self.next(&mut last).await,
        };
        ListTurn(Some(place))
    }

    /// Waits for the next place.
    async fn next(&self, last: &mut Weak<Place>) -> Arc<Place> {
        let permit = Arc::clone(&self.0.all.0).acquire_owned().await;
        begin(permit.ok(), last)
    }
}

/// The place of a turn that has not ended.
fn running(last: &Weak<Place>) -> Option<Arc<Place>> {
    last.upgrade()
        .filter(|place| place.ends_at > Instant::now())
}

/// Begins a turn.
fn begin(permit: Option<OwnedSemaphorePermit>, last: &mut Weak<Place>) -> Arc<Place> {
    let place = Arc::new(Place {
        _permit: permit,
        ends_at: Instant::now() + TURN_MAX,
    });
    *last = Arc::downgrade(&place);
    place
}

impl Start {
    /// Runs a session. Its turn ends with the session, once the session has listed all Kinds, or after [`TURN_MAX`].
    pub(super) async fn during<T>(self, session: impl Future<Output = T>) -> T {
        let mut is_starting = self.turns.0.is_starting.subscribe();
        let started = async move {
            // The sender lives as long as the session.
            let _ = is_starting.wait_for(|is_starting| !is_starting).await;
        };
        let end = with_place(self.place, started, session).await;
        self.turns.started();
        end
    }
}

impl ListTurn {
    /// Runs a list. Its turn ends with the list, or [`TURN_MAX`] after the turn began.
    pub(super) async fn during<T>(self, list: impl Future<Output = T>) -> T {
        match self.0 {
            Some(place) => with_place(place, std::future::pending(), list).await,
            None => list.await,
        }
    }
}

/// Runs work, and drops a place at the end of the work, at the end of the turn, or once `early` ends.
async fn with_place<T>(
    place: Arc<Place>,
    early: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> T {
    let release = async move {
        tokio::select! {
            () = sleep_until(place.ends_at) => {}
            () = early => {}
        }
        drop(place);
        std::future::pending().await
    };
    tokio::select! {
        done = work => done,
        never = release => never,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::JoinSet;
    use tokio::time::sleep;

    use super::*;

    /// Lets one list of this many clusters hang.
    async fn hang(all: &ListTurns, clusters: usize) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..clusters {
            let turn = all.of_cluster().list().await;
            tasks.spawn(turn.during(pending()));
        }
        tasks
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_clusters_list_at_a_time_and_one_that_hangs_makes_room() {
        let all = ListTurns::default();
        let hanging = hang(&all, TURNS_MAX - 1).await;
        let (last, next) = (all.of_cluster(), all.of_cluster());
        let turn = last.try_list().unwrap();
        assert!(next.try_list().is_none(), "there is no room");
        let began = Instant::now();
        turn.during(sleep(Duration::from_secs(1))).await;
        drop(next.list().await);
        assert_eq!(began.elapsed(), Duration::from_secs(1), "a list has ended");
        let again = hang(&all, 1).await;
        drop(next.list().await);
        assert_eq!(began.elapsed(), TURN_MAX, "the first turns have ended");
        drop((hanging, again));
    }

    #[tokio::test(start_paused = true)]
    async fn lists_of_a_cluster_share_a_turn_until_it_ends() {
        let all = ListTurns::default();
        let cluster = all.of_cluster();
        let first = cluster.list().await;
        sleep(TURN_MAX / 2).await;
        let second = cluster.try_list().unwrap();
        assert_eq!(all.0.available_permits(), TURNS_MAX - 1);
        let mut lists = JoinSet::new();
        lists.spawn(async move {
            tokio::join!(
                first.during(pending::<()>()),
                second.during(pending::<()>())
            )
        });
        sleep(TURN_MAX / 2).await;
        tokio::task::yield_now().await;
        assert_eq!(all.0.available_permits(), TURNS_MAX, "both have made room");
        let third = cluster.try_list().unwrap();
        assert_eq!(all.0.available_permits(), TURNS_MAX - 1, "another turn");
        drop((lists, third));
    }

    #[tokio::test(start_paused = true)]
    async fn lists_of_a_session_that_starts_do_not_wait_for_a_second_turn() {
        let all = ListTurns::default();
        let cluster = all.of_cluster();
        let start = cluster.start().await;
        let turns = cluster.clone();
        let mut session = JoinSet::new();
        session.spawn(start.during(async move {
            sleep(TURN_MAX * 2).await;
            turns.started();
            pending::<()>().await;
        }));
        sleep(TURN_MAX + Duration::from_secs(1)).await;
        assert_eq!(
            all.0.available_permits(),
            TURNS_MAX,
            "the start has made room"
        );
        let hanging = hang(&all, TURNS_MAX).await;
        assert!(cluster.try_list().is_some());
        sleep(TURN_MAX).await;
        let others = hang(&all, TURNS_MAX).await;
        assert!(
            cluster.try_list().is_none(),
            "the session has listed all Kinds"
        );
        drop((session, hanging, others));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_makes_room_once_it_has_listed_all_kinds_and_if_it_is_cancelled() {
        let all = ListTurns::default();
        let cluster = all.of_cluster();
        let start = cluster.start().await;
        let turns = cluster.clone();
        let mut session = Box::pin(start.during(async move {
            turns.started();
            pending::<()>().await;
        }));
        let waited = tokio::time::timeout(Duration::from_millis(1), &mut session).await;
        assert!(waited.is_err());
        assert_eq!(all.0.available_permits(), TURNS_MAX);
        drop(session);
        drop(cluster.start().await.during(pending::<()>()));
        assert_eq!(all.0.available_permits(), TURNS_MAX);
    }
}
