//! One simulated cluster: its objects, and its behaviour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::faults::{Fault, Faults};
use crate::gate::{Binding, Stall};
use crate::history::{Change, History, ObjectId};
use crate::kinds::{Content, KINDS, KindId};
use crate::objects;
use crate::seed::{PODS_PER_UNIT, Seed};

/// Contents of a unit, each with its number of objects.
const UNIT: [(Content, u32); 7] = [
    (Content::Deployments, 1),
    (Content::ReplicaSets, 1),
    (Content::Pods, PODS_PER_UNIT),
    (Content::Services, 1),
    (Content::EndpointSlices, 1),
    (Content::ConfigMaps, 1),
    (Content::Widgets, 1),
];

/// An object as it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimulatedObject {
    /// The application that the object belongs to.
    pub application: String,
    /// The Kind.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// False for a Deployment without all replicas, and for a Pod that is not ready.
    pub is_healthy: bool,
}

/// A simulated cluster.
#[derive(Debug)]
pub struct SimulatedCluster {
    seed: Seed,
    history: Mutex<History>,
    faults: Faults,
    stall: Stall,
    connections: Mutex<Vec<Weak<Binding>>>,
    requests: AtomicU64,
    probes: AtomicU64,
    watches: AtomicU64,
}

impl SimulatedCluster {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            history: Mutex::new(History::new(seed)),
            faults: Faults::default(),
            stall: Stall::default(),
            connections: Mutex::default(),
            requests: AtomicU64::new(0),
            probes: AtomicU64::new(0),
            watches: AtomicU64::new(0),
        }
    }

    /// The seed of the cluster.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Changes the status of a Deployment or a Pod: a healthy object becomes unhealthy, and the reverse. The number
    /// chooses the object. A deleted object does not change.
    pub fn change_status(&self, number: u64) {
        let units = u64::from(self.seed.units);
        let place = number % (units * (1 + u64::from(PODS_PER_UNIT))).max(1);
        let (content, place) = match place.checked_sub(units) {
            None => (Content::Deployments, place),
            Some(place) => (Content::Pods, place),
        };
        let id = ObjectId {
            kind: KindId::of(content),
            number: u32::try_from(place).unwrap_or(u32::MAX),
        };
        self.history().change(id, Change::Status);
    }

    /// Deletes all objects of a unit.
    pub fn delete_unit(&self, unit: u32) {
        self.change_unit(unit, Change::Deleted);
    }

    /// Creates the deleted objects of a unit, with other uids.
    pub fn create_unit(&self, unit: u32) {
        self.change_unit(unit, Change::Created);
    }

    /// All objects of applications as they are now, sorted.
    pub fn objects(&self) -> Vec<SimulatedObject> {
        let history = self.history();
        let mut found = Vec::new();
        for (content, each) in UNIT {
            let kind = KindId::of(content);
            let ids = (0..self.seed.units * each).map(|number| ObjectId { kind, number });
            let states = ids.filter_map(|id| Some((id, history.at(id, history.now())?)));
            found.extend(states.map(|(id, state)| SimulatedObject {
                application: self.seed.application(objects::unit(id)),
                kind: kind.kind().kind,
                name: objects::key(&self.seed, id).1,
                is_healthy: objects::is_healthy(id, state),
            }));
        }
        found.sort();
        found
    }

    /// Forgets all versions before the current version: watches and lists from earlier versions get the status 410.
    pub fn compact(&self) {
        let mut history = self.history();
        let now = history.now();
        history.compact(now);
    }

    /// Answers a number of requests with an error, after the errors that were demanded before.
    pub fn fail_next(&self, fault: Fault, requests: u32) {
        self.faults.add(fault, requests);
    }

    /// Ends all demanded errors.
    pub fn stop_failing(&self) {
        self.faults.clear();
    }

    /// Closes all connections of the cluster at once, without an end of their answers.
    pub fn reset_connections(&self) {
        for connection in self.connections().drain(..) {
            if let Some(connection) = connection.upgrade() {
                connection.reset.cancel();
            }
        }
    }

    /// Stops all connections: they stay open without an answer.
    pub fn stall(&self) {
        self.stall.begin();
    }

    /// Continues the stopped connections.
    pub fn resume(&self) {
        self.stall.end();
    }

    /// Number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Number of requests for `/readyz` so far.
    pub fn probes(&self) -> u64 {
        self.probes.load(Ordering::Relaxed)
    }

    /// Number of open watches.
    pub fn watches(&self) -> u64 {
        self.watches.load(Ordering::Relaxed)
    }

    pub(crate) fn watch_opens(&self) {
        self.watches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn watch_ends(&self) {
        self.watches.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn count_request(&self, is_probe: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.probes
            .fetch_add(u64::from(is_probe), Ordering::Relaxed);
    }

    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn gate(&self) -> &Stall {
        &self.stall
    }

    pub(crate) fn add_connection(&self, connection: &Arc<Binding>) {
        let mut connections = self.connections();
        connections.retain(|known| known.strong_count() > 0);
        connections.push(Arc::downgrade(connection));
    }

    fn connections(&self) -> MutexGuard<'_, Vec<Weak<Binding>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn change_unit(&self, unit: u32, change: Change) {
        let mut history = self.history();
        for (content, each) in UNIT {
            let kind = KindId::of(content);
            for number in unit * each..(unit + 1) * each {
                history.change(ObjectId { kind, number }, change);
            }
        }
    }
}

/// The objects of a unit as an API server would store them, with their paths. A test creates them in a real cluster.
pub(crate) fn manifests(seed: &Seed) -> Vec<(String, serde_json::Value)> {
    let history = History::new(*seed);
    let mut found = Vec::new();
    for (content, _) in [(Content::Namespaces, 1)].into_iter().chain(UNIT) {
        let kind = KindId::of(content);
        for number in 0..objects::count(seed, kind) {
            let id = ObjectId { kind, number };
            let (namespace, name) = objects::key(seed, id);
            let is_own = !namespace.is_empty() || name.starts_with("team-");
            let state = history.at(id, history.now());
            let Some(state) = state.filter(|_| is_own) else {
                continue;
            };
            let kind = &KINDS[kind.0];
            let root = match kind.group {
                "" => format!("/api/{}", kind.version),
                group => format!("/apis/{group}/{}", kind.version),
            };
            let namespace = match &*namespace {
                "" => String::new(),
                namespace => format!("/namespaces/{namespace}"),
            };
            let collection = format!("{root}{namespace}/{}", kind.plural);
            let item = objects::item(seed, id, state);
            found.push((collection, objects::whole(kind, item).into()));
        }
    }
    found
}
