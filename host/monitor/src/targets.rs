//! The ResourceBundleStates of the cluster, and the order of their writes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use kindsight_clusters::StateMetadata;
use kindsight_model::DeploymentId;
use tokio::time::Instant;

use crate::MonitorIdentity;
use crate::parts::{Parts, SeenPart, StoredParts, is_intact};
use crate::state_name::StateName;
use crate::target::{Change, Target};

/// The ResourceBundleStates that the monitor writes.
#[derive(Debug)]
pub(crate) struct Targets {
    identity: MonitorIdentity,
    by_name: BTreeMap<StateName, Target>,
    by_uid: BTreeMap<Arc<str>, StateName>,
    by_deployment: BTreeMap<DeploymentId, BTreeSet<StateName>>,
    /// Deployments whose first object was added, or whose last object was removed.
    changed: BTreeSet<DeploymentId>,
    /// Objects without a label: they continue the report of their owner.
    parts: Parts,
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
            by_uid: BTreeMap::new(),
            by_deployment: BTreeMap::new(),
            changed: BTreeSet::new(),
            parts: Parts::default(),
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

    /// The objects that continue the report of a target.
    pub(crate) fn parts_of(&self, name: &StateName) -> StoredParts {
        let mut stored = StoredParts::default();
        let Some(target) = self.by_name.get(name) else {
            return stored;
        };
        for part in self.parts.of(&target.uid, &name.namespace) {
            let text = part.name.to_string();
            if is_intact(part, target.own_part(&text)) {
                stored.intact.insert(text, Arc::clone(&part.version));
            } else {
                stored.damaged.insert(text);
            }
        }
        stored
    }

    /// Takes all objects. Returns the other monitors that wrote some of them.
    pub(crate) fn list(&mut self, states: Vec<StateMetadata>, now: Instant) -> Vec<Rival> {
        self.is_listed = true;
        let listed: BTreeSet<StateName> = states.iter().map(StateName::from).collect();
        let known = self.by_name.keys();
        let gone: Vec<StateName> = known
            .filter(|name| !listed.contains(*name))
            .cloned()
            .collect();
        for name in gone {
            self.remove(&name);
        }
        for part in self.parts.missing_in(&listed) {
            self.see_part(SeenPart::Deleted(part), now);
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
            self.see_part(SeenPart::Applied(state), now);
            return None;
        };
        let known = self.by_name.get(&name);
        let is_same =
            known.is_some_and(|target| target.uid == state.uid && target.deployment == deployment);
        if !is_same {
            self.remove(&name);
            if let Some(part) = self.parts.get(&name).cloned() {
                self.see_part(SeenPart::Deleted(part), now);
            }
            let target = Target::new(&state, deployment.clone(), now);
            self.by_uid.insert(state.uid, name.clone());
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

    /// Takes an object that was deleted.
    pub(crate) fn delete(&mut self, state: StateMetadata, now: Instant) {
        self.remove(&StateName::from(&state));
        self.see_part(SeenPart::Deleted(state), now);
    }

    fn remove(&mut self, name: &StateName) {
        if let Some(at) = self.queued.remove(name) {
            self.queue.remove(&(at, name.clone()));
        }
        let Some(mut target) = self.by_name.remove(name) else {
            return;
        };
        self.by_uid.remove(&target.uid);
        for (part, seen) in target.take_meanwhile().parts {
            self.parts.take(&part, seen);
        }
        if let Some(names) = self.by_deployment.get_mut(&target.deployment) {
            names.remove(name);
            if names.is_empty() {
                self.by_deployment.remove(&target.deployment);
                self.changed.insert(target.deployment);
            }
        }
    }

    /// Takes the further objects that a write made, and then the changes that the watch sent meanwhile.
    pub(crate) fn take_parts(
        &mut self,
        made: Vec<StateMetadata>,
        seen: BTreeMap<StateName, SeenPart>,
        now: Instant,
    ) {
        for state in made {
            let name = StateName::from(&state);
            self.parts.take(&name, SeenPart::Applied(state));
        }
        for seen in seen.into_values() {
            self.see_part(seen, now);
        }
    }

    /// Takes a change of an object without a label. If it continues the report of a target whose write runs, the end of
    /// the write decides whether the change is its own.
    fn see_part(&mut self, seen: SeenPart, now: Instant) {
        let name = StateName::from(seen.state());
        let uids = self.parts.get(&name).into_iter().chain([seen.state()]);
        let uids = uids.flat_map(|state| &state.owners);
        let owners: BTreeSet<StateName> = uids
            .filter_map(|uid| self.by_uid.get(uid).cloned())
            .collect();
        for owner in &owners {
            let Some(target) = self.by_name.get_mut(owner) else {
                continue;
            };
            if target.is_writing() {
                target.set_aside(name, seen);
                return;
            }
            if matches!(&seen, SeenPart::Applied(state) if target.has_replaced(state)) {
                return;
            }
        }
        self.parts.take(&name, seen);
        for owner in &owners {
            self.repair(owner, now);
        }
    }

    /// Requests a write if another client deleted or changed a further object of the last written report.
    fn repair(&mut self, name: &StateName, now: Instant) {
        let Some(target) = self.by_name.get_mut(name) else {
            return;
        };
        let stored = self.parts.of(&target.uid, &name.namespace);
        let stored: BTreeMap<&str, &StateMetadata> =
            stored.map(|state| (&*state.name, state)).collect();
        let is_whole = target.own_parts().all(|(part, own)| {
            let state = stored.get(&**part);
            state.is_some_and(|state| is_intact(state, Some(own)))
        });
        if is_whole {
            return;
        }
        let at = target.repair_at(now);
        tracing::debug!(state = %name, "another client deleted or changed a further object; it is written again");
        self.queue(name, at);
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
    use crate::parts::OwnPart;
    use crate::write::{FIELD_MANAGER, Known};

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
        let meanwhile = targets.get_mut(&name).unwrap().end(Vec::new());
        assert!(meanwhile.is_report_changed);
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

    /// A version of a further object of `1-a`, whose uid is `u`.
    fn part(name: &str, version: &str, manager: Option<&str>) -> StateMetadata {
        let manager = manager.map(|name| StatusManager {
            name: name.to_owned(),
            time: "2026-01-01T00:00:00Z".to_owned(),
        });
        StateMetadata {
            version: version.into(),
            deployment: None,
            owners: vec!["u".into()],
            status_managers: manager.into_iter().collect(),
            ..state(name, name)
        }
    }

    /// The knowledge after a write of `1-a` with these further objects.
    fn known(parts: &[(&str, &str, Option<&str>)]) -> Known {
        let parts = parts.iter().map(|(name, version, created)| {
            let own = OwnPart {
                version: (*version).into(),
                created: created.map(Arc::from),
            };
            ((*name).to_owned(), own)
        });
        Known {
            version: "1".into(),
            fingerprint: Some(1),
            digest: None,
            status_time: String::new(),
            parts: parts.collect(),
        }
    }

    /// The target `1-a` after a write of a report with the further object `x`.
    fn written(now: Instant) -> (Targets, StateName) {
        let mut targets = Targets::new("a".parse().unwrap());
        let x = part("x", "1", Some(FIELD_MANAGER));
        targets.list(vec![state("1-a", "u"), x], now);
        let name = targets.take_due(now).unwrap();
        let target = targets.get_mut(&name).unwrap();
        target.end(Vec::new());
        target.known = Some(known(&[("x", "1", None)]));
        (targets, name)
    }

    fn intact(targets: &Targets, name: &StateName) -> Vec<String> {
        targets.parts_of(name).intact.into_keys().collect()
    }

    fn damaged(targets: &Targets, name: &StateName) -> Vec<String> {
        targets.parts_of(name).damaged.into_iter().collect()
    }

    #[test]
    fn an_object_has_the_parts_with_its_uid_as_owner() {
        let now = Instant::now();
        let mut targets = Targets::new("a".parse().unwrap());
        let other = StateMetadata {
            owners: vec!["v".into()],
            ..part("other", "1", Some(FIELD_MANAGER))
        };
        let parts = vec![
            part("x", "1", Some(FIELD_MANAGER)),
            part("without-status", "1", None),
            part("foreign", "1", Some("kubectl-edit")),
            other,
        ];
        targets.list([vec![state("1-a", "u")], parts].concat(), now);
        let name = StateName::usual(&"1-a".parse().unwrap());
        assert_eq!(intact(&targets, &name), ["x"]);
        assert_eq!(damaged(&targets, &name), ["foreign", "without-status"]);
        targets.list(vec![state("1-a", "u")], now);
        assert_eq!(targets.parts_of(&name), StoredParts::default());
        // An object that loses its owner continues no report.
        targets.apply(part("x", "2", Some(FIELD_MANAGER)), now);
        let alone = StateMetadata {
            owners: Vec::new(),
            ..part("x", "3", Some(FIELD_MANAGER))
        };
        targets.apply(alone, now);
        assert_eq!(targets.parts_of(&name), StoredParts::default());
    }

    #[test]
    fn a_part_that_another_client_deletes_or_changes_is_written_again() {
        let now = Instant::now();
        let deleted = |targets: &mut Targets| {
            targets.delete(part("x", "2", Some(FIELD_MANAGER)), now);
        };
        let not_listed = |targets: &mut Targets| {
            targets.list(vec![state("1-a", "u")], now);
        };
        let without_owner = |targets: &mut Targets| {
            let alone = StateMetadata {
                owners: Vec::new(),
                ..part("x", "2", Some(FIELD_MANAGER))
            };
            targets.apply(alone, now);
        };
        let changed = |targets: &mut Targets| {
            targets.apply(part("x", "2", Some(FIELD_MANAGER)), now);
        };
        let changes: [&dyn Fn(&mut Targets); 4] = [&deleted, &not_listed, &without_owner, &changed];
        let damages: [&[&str]; 4] = [&[], &[], &[], &["x"]];
        for (change, expected) in changes.into_iter().zip(damages) {
            let (mut targets, name) = written(now);
            assert_eq!(targets.next_at(), None);
            change(&mut targets);
            assert_eq!(targets.take_due(now), Some(name.clone()));
            assert_eq!(intact(&targets, &name), [""; 0]);
            assert_eq!(damaged(&targets, &name), expected);
        }
    }

    #[test]
    fn the_own_changes_of_parts_need_no_further_write() {
        let now = Instant::now();
        let (mut targets, name) = written(now);
        targets.queue(&name, now);
        targets.take_due(now).unwrap();
        // The write makes `y` in two versions, and deletes `x`.
        targets.apply(part("y", "2", None), now);
        targets.delete(part("x", "4", Some(FIELD_MANAGER)), now);
        let target = targets.get_mut(&name).unwrap();
        let seen = target.end(Vec::new()).parts;
        target.known = Some(known(&[("y", "3", Some("2"))]));
        let made = part("y", "3", Some(FIELD_MANAGER));
        targets.take_parts(vec![made.clone()], seen, now);
        assert_eq!(targets.next_at(), None);
        assert_eq!(intact(&targets, &name), ["y"]);
        // The watch is slow.
        targets.apply(part("y", "2", None), now);
        targets.apply(made, now);
        assert_eq!(targets.next_at(), None);
        assert_eq!(intact(&targets, &name), ["y"]);
    }

    #[test]
    fn a_part_that_is_deleted_while_a_write_runs_is_written_again() {
        let now = Instant::now();
        let (mut targets, name) = written(now);
        let end = |targets: &mut Targets, made: Vec<StateMetadata>| {
            let target = targets.get_mut(&name).unwrap();
            let seen = target.end(Vec::new()).parts;
            target.known = Some(known(&[("x", "3", Some("2"))]));
            targets.take_parts(made, seen, now);
        };
        targets.queue(&name, now);
        targets.take_due(now).unwrap();
        let before = part("x", "1", Some(FIELD_MANAGER));
        let made = StateMetadata {
            uid: "again".into(),
            ..part("x", "3", Some(FIELD_MANAGER))
        };
        // The deletion precedes the write.
        targets.delete(before, now);
        end(&mut targets, vec![made.clone()]);
        assert_eq!(targets.next_at(), None);
        targets.queue(&name, now);
        targets.take_due(now).unwrap();
        targets.delete(made.clone(), now);
        end(&mut targets, vec![made]);
        assert_eq!(targets.next_at(), Some(now));
    }
}
