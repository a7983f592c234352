//! One ResourceBundleState that the monitor writes.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::StateMetadata;
use kindsight_model::DeploymentId;
use tokio::time::Instant;

use crate::MonitorIdentity;
use crate::parts::{OwnPart, SeenPart};
use crate::state_name::StateName;
use crate::write::{FIELD_MANAGER, Known};

/// The annotation with the identity of the monitor that writes a ResourceBundleState.
pub(crate) const MONITOR: &str = "kindsight.dev/monitor";

/// Number of own versions that are remembered, until the watch has sent them.
const OWN_VERSIONS_MAX: usize = 16;
/// Time before a monitor claims an object again that another monitor claimed. It doubles with each claim.
const RECLAIM_FIRST: Duration = Duration::from_secs(5);
const RECLAIM_LONGEST: Duration = Duration::from_mins(10);
/// Time between two repairs of further objects that other clients delete or change. It doubles with each repair, until
/// no repair was necessary for the longest time.
const REPAIR_FIRST: Duration = Duration::from_secs(2);
const REPAIR_LONGEST: Duration = Duration::from_mins(10);

/// One ResourceBundleState that the monitor writes.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) deployment: DeploymentId,
    pub(crate) uid: Arc<str>,
    /// The own annotations of the object, as far as this process knows.
    pub(crate) annotations: BTreeMap<String, String>,
    /// The content of the last write or read; none if the object must be read before the next write.
    pub(crate) known: Option<Known>,
    own_versions: VecDeque<Arc<str>>,
    /// True while a write runs.
    is_writing: bool,
    meanwhile: Meanwhile,
    claim: Claim,
    repair: Repair,
    /// The earliest time of the next write.
    pub(crate) write_after: Instant,
    /// Number of failed writes since the last success.
    pub(crate) failures: u32,
}

/// Changes while a write runs.
#[derive(Debug, Default)]
pub(crate) struct Meanwhile {
    /// The last change of the object that the watch sent.
    pub(crate) state: Option<StateMetadata>,
    /// The last change of each further object that the watch sent.
    pub(crate) parts: BTreeMap<StateName, SeenPart>,
    /// True if the report changed.
    pub(crate) is_report_changed: bool,
}

/// The repairs of further objects that other clients deleted or changed.
#[derive(Debug)]
struct Repair {
    /// The time of the last repair, or of the next one.
    at: Option<Instant>,
    wait: Duration,
}

/// The claim of this monitor to be the only writer of an object.
#[derive(Debug)]
struct Claim {
    /// True if the last known claim is of this monitor.
    is_own: bool,
    /// The time of the next claim against another monitor.
    next_at: Option<Instant>,
    wait: Duration,
}

/// Origin of a version of a ResourceBundleState.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The version is of this monitor, or is older.
    Own,
    /// Another client changed the object, which must be read again. The text names another monitor.
    Foreign(Option<String>),
}

impl Target {
    /// A ResourceBundleState that was found now.
    pub(crate) fn new(state: &StateMetadata, deployment: DeploymentId, now: Instant) -> Self {
        Self {
            deployment,
            uid: Arc::clone(&state.uid),
            annotations: state.annotations.clone(),
            known: None,
            own_versions: VecDeque::new(),
            is_writing: false,
            meanwhile: Meanwhile::default(),
            claim: Claim {
                is_own: false,
                next_at: None,
                wait: RECLAIM_FIRST,
            },
            repair: Repair {
                at: None,
                wait: REPAIR_FIRST,
            },
            write_after: now,
            failures: 0,
        }
    }

    /// Takes a version of the object that the watch sent.
    pub(crate) fn see(
        &mut self,
        state: StateMetadata,
        identity: &MonitorIdentity,
        now: Instant,
    ) -> Change {
        if self.is_writing {
            self.meanwhile.state = Some(state);
            return Change::Own;
        }
        let is_own = self.own_versions.contains(&state.version);
        let is_same = self
            .known
            .as_ref()
            .is_none_or(|known| known.version == state.version);
        if is_own {
            return Change::Own;
        }
        let rival = self.rival(&state, identity, now);
        self.annotations = state.annotations;
        if is_same && rival.is_none() {
            return Change::Own;
        }
        self.known = None;
        Change::Foreign(rival)
    }

    /// The name of another monitor that wrote this version.
    fn rival(
        &mut self,
        state: &StateMetadata,
        identity: &MonitorIdentity,
        now: Instant,
    ) -> Option<String> {
        let claimed_by = state.annotations.get(MONITOR);
        let claimed_by = claimed_by.filter(|other| *other != identity.as_str());
        if let Some(other) = claimed_by.filter(|_| self.claim.is_own) {
            self.claim.is_own = false;
            self.claim.next_at = Some(now + self.claim.wait);
            self.claim.wait = (self.claim.wait * 2).min(RECLAIM_LONGEST);
            return Some(other.clone());
        }
        let own_time = &self.known.as_ref()?.status_time;
        let others = state.status_managers.iter();
        let others = others.filter(|other| other.name != FIELD_MANAGER && other.time >= *own_time);
        let newest = others.max_by(|left, right| left.time.cmp(&right.time))?;
        Some(newest.name.clone())
    }

    /// Returns whether the next write claims the object. A monitor that lost the claim waits before it claims again.
    pub(crate) fn may_claim(&self, now: Instant) -> bool {
        self.claim.next_at.is_none_or(|at| at <= now)
    }

    /// The time of the next claim against another monitor.
    pub(crate) fn claims_at(&self) -> Option<Instant> {
        self.claim.next_at
    }

    /// Begins a write. Returns false if one runs already: the target is then written again after it.
    pub(crate) fn begin(&mut self) -> bool {
        if self.is_writing {
            self.meanwhile.is_report_changed = true;
            return false;
        }
        self.is_writing = true;
        true
    }

    /// Ends a write that made these versions. Returns the changes since its begin.
    pub(crate) fn end(&mut self, versions: Vec<Arc<str>>) -> Meanwhile {
        self.is_writing = false;
        self.own_versions.extend(versions);
        let excess = self.own_versions.len().saturating_sub(OWN_VERSIONS_MAX);
        self.own_versions.drain(..excess);
        self.take_meanwhile()
    }

    /// The changes since the begin of the running write.
    pub(crate) fn take_meanwhile(&mut self) -> Meanwhile {
        mem::take(&mut self.meanwhile)
    }

    /// Returns whether a write runs. Then [`Target::set_aside`] takes the changes of further objects: the end of the write
    /// shows which of them are its own.
    pub(crate) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Keeps a change of a further object until the running write ends.
    pub(crate) fn set_aside(&mut self, name: StateName, seen: SeenPart) {
        self.meanwhile.parts.insert(name, seen);
    }

    /// The further objects of the last written report, by their names; none if the object must be read before the next
    /// write.
    pub(crate) fn own_parts(&self) -> impl Iterator<Item = (&String, &OwnPart)> {
        self.known.iter().flat_map(|known| &known.parts)
    }

    /// A further object of the last written report.
    pub(crate) fn own_part(&self, name: &str) -> Option<&OwnPart> {
        self.known.as_ref()?.parts.get(name)
    }

    /// Returns whether this process replaced a version of a further object.
    pub(crate) fn has_replaced(&self, part: &StateMetadata) -> bool {
        let own = self.own_part(&part.name);
        own.is_some_and(|own| own.created.as_ref() == Some(&part.version))
    }

    /// The time of the repair of further objects that another client deleted or changed. If several are damaged, one
    /// repair writes all of them. Two clients that undo each other's changes do so less and less often.
    pub(crate) fn repair_at(&mut self, now: Instant) -> Instant {
        let repair = &mut self.repair;
        let at = match repair.at {
            Some(at) if at >= now => return at,
            Some(at) if now < at + REPAIR_LONGEST => {
                let at = now.max(at + repair.wait);
                repair.wait = (repair.wait * 2).min(REPAIR_LONGEST);
                at
            }
            _ => {
                repair.wait = REPAIR_FIRST;
                now
            }
        };
        repair.at = Some(at);
        at
    }

    /// Notes the annotations after a write.
    pub(crate) fn set_annotations(
        &mut self,
        annotations: BTreeMap<String, String>,
        identity: &MonitorIdentity,
    ) {
        self.claim.is_own = annotations.get(MONITOR).map(String::as_str) == Some(identity.as_str());
        if self.claim.is_own {
            self.claim.next_at = None;
        }
        self.annotations = annotations;
    }
}

#[cfg(test)]
mod tests {
    use kindsight_clusters::StatusManager;

    use super::*;

    fn state(version: &str, monitor: Option<&str>) -> StateMetadata {
        let monitor = monitor.map(|monitor| (MONITOR.to_owned(), monitor.to_owned()));
        StateMetadata {
            namespace: "default".into(),
            name: "7-front".into(),
            uid: "u".into(),
            version: version.into(),
            deployment: "7-front".parse().ok(),
            annotations: monitor.into_iter().collect(),
            owners: Vec::new(),
            status_managers: Vec::new(),
        }
    }

    fn known(version: &str) -> Known {
        Known {
            version: version.into(),
            fingerprint: Some(1),
            digest: None,
            status_time: "2026-01-01T00:00:10Z".to_owned(),
            parts: BTreeMap::new(),
        }
    }

    /// A target that this monitor claimed and wrote as version 2.
    fn written(identity: &MonitorIdentity, now: Instant) -> Target {
        let mut target = Target::new(&state("1", None), "7-front".parse().unwrap(), now);
        assert!(target.begin());
        target.known = Some(known("2"));
        assert!(!target.end(vec!["2".into()]).is_report_changed);
        let claim = state("2", Some(identity.as_str())).annotations;
        target.set_annotations(claim, identity);
        target
    }

    #[test]
    fn own_versions_are_recognized_also_if_they_arrive_during_the_write() {
        let (identity, now) = ("a".parse().unwrap(), Instant::now());
        let mut target = written(&identity, now);
        assert!(target.begin());
        assert!(!target.begin(), "one write at a time");
        assert_eq!(
            target.see(state("3", Some("a")), &identity, now),
            Change::Own
        );
        target.known = Some(known("3"));
        let meanwhile = target.end(vec!["3".into()]);
        assert!(meanwhile.is_report_changed);
        let seen = meanwhile.state.unwrap();
        assert_eq!(target.see(seen, &identity, now), Change::Own);
        assert!(target.known.is_some());
        let foreign = target.see(state("4", Some("a")), &identity, now);
        assert_eq!(foreign, Change::Foreign(None));
        assert!(target.known.is_none(), "the object is read again");
    }

    #[test]
    fn each_of_two_monitors_names_the_other() {
        let now = Instant::now();
        let (a, b): (MonitorIdentity, MonitorIdentity) =
            ("a".parse().unwrap(), "b".parse().unwrap());
        let mut of_a = written(&a, now);
        // A monitor that starts is no proof that the previous monitor still runs.
        let mut of_b = Target::new(&state("2", Some("a")), "7-front".parse().unwrap(), now);
        assert!(of_b.may_claim(now));
        of_b.set_annotations(state("3", Some("b")).annotations, &b);
        let seen = of_a.see(state("3", Some("b")), &a, now);
        assert_eq!(seen, Change::Foreign(Some("b".to_owned())));
        assert!(!of_a.may_claim(now));
        assert!(of_a.may_claim(now + RECLAIM_FIRST));
        let seen = of_b.see(state("4", Some("a")), &b, now);
        assert_eq!(seen, Change::Foreign(Some("a".to_owned())));
    }

    #[test]
    fn repairs_become_rare_while_another_client_undoes_them() {
        let (identity, start) = ("a".parse().unwrap(), Instant::now());
        let mut target = written(&identity, start);
        assert_eq!(target.repair_at(start), start);
        assert_eq!(target.repair_at(start), start, "one repair for all");
        let mut last = start;
        let mut waits = Vec::new();
        for _ in 0..12 {
            // The other client undoes each repair at once.
            let next = target.repair_at(last + Duration::from_millis(1));
            waits.push(next.duration_since(last).as_secs());
            last = next;
        }
        assert_eq!(waits[..4], [2, 4, 8, 16]);
        assert_eq!(waits[10..], [600, 600]);
        let later = last + REPAIR_LONGEST;
        assert_eq!(target.repair_at(later), later, "a pause ends the waits");
    }

    #[test]
    fn a_monitor_of_the_original_is_named_by_the_manager_of_the_status() {
        let (identity, now) = ("a".parse().unwrap(), Instant::now());
        let mut target = written(&identity, now);
        let manager = |name: &str, second: u32| StatusManager {
            name: name.to_owned(),
            time: format!("2026-01-01T00:00:{second:02}Z"),
        };
        let mut seen = state("3", Some("a"));
        seen.status_managers = vec![manager(FIELD_MANAGER, 10), manager("monitor", 11)];
        let change = target.see(seen.clone(), &identity, now);
        assert_eq!(change, Change::Foreign(Some("monitor".to_owned())));
        let mut target = written(&identity, now);
        seen.status_managers = vec![manager(FIELD_MANAGER, 10), manager("monitor", 9)];
        assert_eq!(target.see(seen, &identity, now), Change::Foreign(None));
    }
}
