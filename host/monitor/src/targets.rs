//! The ResourceBundleStates of the cluster, and the order of their writes.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Objects without a label, by the uid of their owner: they continue a report.
    parts: BTreeMap<StateName, StateMetadata>,
    queue: BTreeSet<(Instant, StateName)>,
    queued: BTreeMap<StateName, Instant>,
    /// True once all objects were listed.
    is_listed: bool,
}

/// Another monitor that writes an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rival {
    pub(crate) state: StateName,
    pub(crate) uid: std::sync::Arc<str>,
    /// The name of the other monitor.
    pub(crate) name: String,
}

impl Targets {
    pub(crate) fn new(identity: MonitorIdentity) -> Self {
        Self {
            identity,
            by_name: BTreeMap::new(),
            by_deployment: BTreeMap::new(),
            parts: BTreeMap::new(),
            queue: BTreeSet::new(),
            queued: BTreeMap::new(),
            is_listed: false,
        }
    }

    /// Returns whether all objects were listed once.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// The deployments with at least one object.
    pub(crate) fn deployments(&self) -> impl Iterator<Item = &DeploymentId> {
        self.by_deployment.keys()
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
        let parts = self.parts.iter();
        let own = parts.filter(|(part, state)| {
            part.namespace == name.namespace
                && state.owners.contains(&target.uid)
                && !state.status_managers.is_empty()
        });
        own.map(|(part, _)| part.name.to_string()).collect()
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
            if !state.owners.is_empty() {
                self.parts.insert(name, state);
            }
            return None;
        };
        let known = self.by_name.get(&name);
        let is_same =
            known.is_some_and(|target| target.uid == state.uid && target.deployment == deployment);
        if !is_same {
            self.remove(&name);
            let target = Target::new(&state, deployment.clone(), now);
            self.by_name.insert(name.clone(), target);
            let names = self.by_deployment.entry(deployment).or_default();
            names.insert(name.clone());
            self.queue(&name, now);
            return None;
        }
        let uid = std::sync::Arc::clone(&state.uid);
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
        self.parts.remove(name);
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
        assert_eq!(targets.deployments().count(), 0);
        assert!(targets.get_mut(&name).is_none() && targets.next_at().is_none());
    }
}
