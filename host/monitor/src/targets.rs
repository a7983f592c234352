//! The ResourceBundleStates of the cluster, and the order of their writes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use kindsight_clusters::StateMetadata;
use kindsight_model::DeploymentId;
use tokio::time::Instant;

use crate::MonitorIdentity;
use crate::state_name::StateName;
use crate::target::{Change, Target};

/// The ResourceBundleStates that the monitor writes.
#[derive(Debug)]
pub(crate) struct Targets {
    identity: MonitorIdentity,
    by_name: BTreeMap<StateName, Target>,
    by_deployment: BTreeMap<DeploymentId, BTreeSet<StateName>>,
    /// Deployments whose first object was added, or whose last object was removed.
    changed: BTreeSet<DeploymentId>,
    /// Objects without a label: they continue the report of their owner.
    parts: BTreeMap<StateName, StateMetadata>,
    /// The names of these objects, by the uid of each owner.
    parts_by_owner: BTreeMap<Arc<str>, BTreeSet<StateName>>,
    queue: BTreeSet<(Instant, StateName)>,
    queued: BTreeMap<StateName, Instant>,
    /// True once all objects were listed.
    is_listed: bool,
}

/// Another monitor that writes an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rival {
    pub(crate) state: StateName,
    pub(crate) uid: Arc<str>,
    /// The name of the other monitor.
    pub(crate) name: String,
}

impl Targets {
    pub(crate) fn new(identity: MonitorIdentity) -> Self {
        Self {
            identity,
            by_name: BTreeMap::new(),
            by_deployment: BTreeMap::new(),
            changed: BTreeSet::new(),
            parts: BTreeMap::new(),
            parts_by_owner: BTreeMap::new(),
            queue: BTreeSet::new(),
            queued: BTreeMap::new(),
            is_listed: false,
        }
    }

    /// Returns whether all objects were listed once.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// The deployments whose first object was added, or whose last object was removed, since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<DeploymentId> {
        mem::take(&mut self.changed)
    }

    /// Returns whether a deployment has an object.
    pub(crate) fn has(&self, deployment: &DeploymentId) -> bool {
        self.by_deployment.contains_key(deployment)
    }

    /// The objects of a deployment.
    pub(crate) fn of(&self, deployment: &DeploymentId) -> Vec<StateName> {
        let names = self.by_deployment.get(deployment);
        names.into_iter().flatten().cloned().collect()
    }

    pub(crate) fn get_mut(&mut self, name: &StateName) -> Option<&mut Target> {
        self.by_name.get_mut(name)
    }

    /// The names of the objects that continue the report of a target and have a status.
    pub(crate) fn parts_of(&self, name: &StateName) -> BTreeSet<String> {
        let Some(target) = self.by_name.get(name) else {
            return BTreeSet::new();
        };
        let owned = self.parts_by_owner.get(&target.uid).into_iter().flatten();
        let own = owned.filter(|part| {
            let has_status = |state: &StateMetadata| !state.status_managers.is_empty();
            part.namespace == name.namespace && self.parts.get(part).is_some_and(has_status)
        });
        own.map(|part| part.name.to_string()).collect()
    }

    /// Takes all objects. Returns the other monitors that wrote some of them.
    pub(crate) fn list(&mut self, states: Vec<StateMetadata>, now: Instant) -> Vec<Rival> {
        self.is_listed = true;
        let listed: BTreeSet<StateName> = states.iter().map(StateName::from).collect();
        let known = self.by_name.keys().chain(self.parts.keys());
        let gone: Vec<StateName> = known
            .filter(|name| !listed.contains(*name))
            .cloned()
            .collect();
        for name in gone {
            self.remove(&name);
        }
        let rivals = states
            .into_iter()
            .filter_map(|state| self.apply(state, now));
        rivals.collect()
    }

    /// Takes an object that was added or changed. Returns another monitor that wrote it.
    pub(crate) fn apply(&mut self, state: StateMetadata, now: Instant) -> Option<Rival> {
        let name = StateName::from(&state);
        let Some(deployment) = state.deployment.clone() else {
            self.remove(&name);
            self.insert_part(name, state);
            return None;
        };
        let known = self.by_name.get(&name);
        let is_same =
            known.is_some_and(|target| target.uid == state.uid && target.deployment == deployment);
        if !is_same {
            self.remove(&name);
            let target = Target::new(&state, deployment.clone(), now);
            self.by_name.insert(name.clone(), target);
            let names = self.by_deployment.entry(deployment.clone()).or_default();
            if names.is_empty() {
                self.changed.insert(deployment);
            }
            names.insert(name.clone());
            self.queue(&name, now);
            return None;
        }
        let uid = Arc::clone(&state.uid);
        let target = self.by_name.get_mut(&name)?;
        let Change::Foreign(rival) = target.see(state, &self.identity, now) else {
            return None;
        };
        self.queue(&name, now);
        let rival = rival?;
        Some(Rival {
            state: name,
            uid,
            name: rival,
        })
    }

    /// Removes an object that does not exist any more.
    pub(crate) fn remove(&mut self, name: &StateName) {
        self.remove_part(name);
        if let Some(at) = self.queued.remove(name) {
            self.queue.remove(&(at, name.clone()));
        }
        let Some(target) = self.by_name.remove(name) else {
            return;
        };
        if let Some(names) = self.by_deployment.get_mut(&target.deployment) {
            names.remove(name);
            if names.is_empty() {
                self.by_deployment.remove(&target.deployment);
                self.changed.insert(target.deployment);
            }
        }
    }

    fn insert_part(&mut self, name: StateName, state: StateMetadata) {
        if state.owners.is_empty() {
            return;
        }
        for owner in &state.owners {
            let owned = self.parts_by_owner.entry(Arc::clone(owner)).or_default();
            owned.insert(name.clone());
        }
        self.parts.insert(name, state);
    }

    fn remove_part(&mut self, name: &StateName) {
        let state = self.parts.remove(name);
        for owner in state.into_iter().flat_map(|state| state.owners) {
            if let Some(owned) = self.parts_by_owner.get_mut(&owner) {
                owned.remove(name);
                if owned.is_empty() {
                    self.parts_by_owner.remove(&owner);
                }
            }
        }
    }

    /// Requests a write of every object of a deployment.
    pub(crate) fn note_report(&mut self, deployment: &DeploymentId, now: Instant) {
        for name in self.of(deployment) {
            self.queue(&name, now);
        }
    }

    /// Requests that every object is read and compared before its next write.
    pub(crate) fn doubt_all(&mut self, now: Instant) {
        let names: Vec<StateName> = self.by_name.keys().cloned().collect();
        for name in names {
            if let Some(target) = self.by_name.get_mut(&name) {
                target.known = None;
            }
            self.queue(&name, now);
        }
    }

    /// Requests a write at a time, or at the earliest time that the target allows.
    pub(crate) fn queue(&mut self, name: &StateName, at: Instant) {
        let Some(target) = self.by_name.get(name) else {
            return;
        };
        let at = at.max(target.write_after);
        match self.queued.get(name) {
            Some(known) if *known <= at => return,
            Some(known) => {
                self.queue.remove(&(*known, name.clone()));
            }
            None => {}
        }
        self.queued.insert(name.clone(), at);
        self.queue.insert((at, name.clone()));
    }

    /// The time of the next write.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.queue.first().map(|(at, _)| *at)
    }

    /// Takes the object that waits longest for a write, and begins the write.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<StateName> {
        while self.next_at().is_some_and(|at| at <= now) {
            let (_, name) = self.queue.pop_first()?;
            self.queued.remove(&name);
            if self.by_name.get_mut(&name).is_some_and(Target::begin) {
                return Some(name);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use kindsight_clusters::StatusManager;

    use super::*;

    fn state(name: &str, uid: &str) -> StateMetadata {
        StateMetadata {
            namespace: "default".into(),
            name: name.into(),
            uid: uid.into(),
            version: "1".into(),
            deployment: name.parse().ok(),
            annotations: BTreeMap::new(),
            owners: Vec::new(),
            status_managers: Vec::new(),
        }
    }

    #[test]
    fn objects_are_written_in_the_order_of_their_changes_and_one_write_at_a_time() {
        let now = Instant::now();
        let mut targets = Targets::new("a".parse().unwrap());
        assert!(!targets.is_listed());
        targets.list(vec![state("1-a", "u"), state("2-b", "v")], now);
        assert!(targets.is_listed());
        let names = |targets: &mut Targets, at| -> Vec<String> {
            std::iter::from_fn(|| targets.take_due(at))
                .map(|name| name.name.to_string())
                .collect()
        };
        assert_eq!(names(&mut targets, now), ["1-a", "2-b"]);
        targets.note_report(&"2-b".parse().unwrap(), now);
        let later = now + Duration::from_secs(1);
        assert!(names(&mut targets, later).is_empty(), "a write runs");
        let name = StateName::usual(&"2-b".parse().unwrap());
        let (_, is_changed) = targets.get_mut(&name).unwrap().end(Vec::new());
        assert!(is_changed);
        targets.get_mut(&name).unwrap().write_after = later;
        targets.queue(&name, now);
        assert_eq!(targets.next_at(), Some(later));
    }

    #[test]
    fn an_object_that_was_made_again_is_another_object() {
        let now = Instant::now();
        let mut targets = Targets::new("a".parse().unwrap());
        targets.apply(state("1-a", "u"), now);
        let name = targets.take_due(now).unwrap();
        targets.apply(state("1-a", "other"), now);
        assert_eq!(targets.take_due(now), Some(name.clone()));
        targets.list(Vec::new(), now);
        assert!(!targets.has(&"1-a".parse().unwrap()));
        assert!(targets.get_mut(&name).is_none() && targets.next_at().is_none());
    }

    #[test]
    fn only_deployments_that_gain_a_first_or_lose_a_last_object_are_changed() {
        let now = Instant::now();
        let mut targets = Targets::new("a".parse().unwrap());
        let changed = |targets: &mut Targets| -> Vec<String> {
            let changed = targets.take_changed().into_iter();
            changed.map(|id| id.to_string()).collect()
        };
        targets.list(vec![state("1-a", "u"), state("2-b", "v")], now);
        assert_eq!(changed(&mut targets), ["1-a", "2-b"]);
        let later = StateMetadata {
            version: "2".into(),
            ..state("1-a", "u")
        };
        targets.apply(later, now);
        assert_eq!(changed(&mut targets), [""; 0]);
        targets.list(vec![state("2-b", "v")], now);
        assert_eq!(changed(&mut targets), ["1-a"]);
    }

    fn manager() -> StatusManager {
        StatusManager {
            name: "kindsight-monitor".to_owned(),
            time: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn an_object_has_the_parts_with_its_uid_as_owner_and_a_status() {
        let now = Instant::now();
        let mut targets = Targets::new("a".parse().unwrap());
        let part = |name: &str, owner: &str, has_status: bool| StateMetadata {
            deployment: None,
            owners: vec![owner.into()],
            status_managers: has_status.then(manager).into_iter().collect(),
            ..state(name, name)
        };
        let own = part("1-a-x", "u", true);
        let without_status = part("1-a-y", "u", false);
        let parts = vec![own, without_status, part("2-b-x", "v", true)];
        let all = [vec![state("1-a", "u")], parts].concat();
        targets.list(all, now);
        let name = StateName::usual(&"1-a".parse().unwrap());
        assert_eq!(
            targets.parts_of(&name),
            BTreeSet::from(["1-a-x".to_owned()])
        );
        targets.list(vec![state("1-a", "u")], now);
        assert!(targets.parts_of(&name).is_empty());
        assert!(targets.parts_by_owner.is_empty());
    }
}
