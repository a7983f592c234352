use std::sync::Arc;

use kindsight_model::{ContextStatus, LifecycleState};
use kindsight_store::RedbStore;

use super::clusters::Clusters;
use super::stage::{Host, draft, manifest, name};
use crate::{Command, DraftApp, Job, Outcome, Result};

/// More writes than a life has.
const WRITES_MAX: usize = 200;

/// Continues the life of the group to `goal` from the stored state, as a client that repeats its requests.
fn continue_to(host: &Host, goal: LifecycleState) -> Result<()> {
    use LifecycleState::{Approved, Created, Instantiated, Terminated};
    for unfinished in host.groups.unfinished()? {
        assert_eq!(unfinished, Job::Subject(name()));
        assert_eq!(host.run()?, Outcome::Complete);
    }
    loop {
        let state = match host.groups.get(&name()) {
            Ok(group) => Some(group.situation.state),
            Err(crate::Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        match state {
            None => drop(host.put()?),
            Some(Created) => host.act(Command::Approve)?,
            Some(state) if state == goal => {
                assert_eq!(host.run()?, Outcome::Complete);
                return Ok(());
            }
            Some(Approved) => host.act(Command::Instantiate)?,
            Some(Instantiated) => {
                assert_eq!(host.run()?, Outcome::Complete);
                host.act(Command::Terminate)?;
            }
            Some(Terminated) => return Ok(()),
            Some(other) => panic!("{other}"),
        }
    }
}

/// Ends the process at each write of a life, restarts it, and checks the end.
fn each_end(goal: LifecycleState, stores_last: bool, check: impl Fn(&Host)) {
    for writes in 0..WRITES_MAX {
        let store = Arc::new(RedbStore::in_memory().unwrap());
        let clusters = Arc::<Clusters>::default();
        let first = Host::ending(&store, &clusters, writes, stores_last);
        let is_over = continue_to(&first, goal).is_ok();
        let second = Host::over(store, clusters);
        continue_to(&second, goal).unwrap();
        assert!(second.groups.unfinished().unwrap().is_empty());
        check(&second);
        if is_over {
            assert!(writes > 10, "the life has {writes} writes");
            return;
        }
    }
    panic!("the life has more than {WRITES_MAX} writes");
}

#[test]
fn an_instantiation_that_ends_at_any_write_is_completed_once_after_the_restart() {
    for stores_last in [false, true] {
        each_end(LifecycleState::Instantiated, stores_last, |host| {
            assert_eq!(
                host.states(),
                [
                    LifecycleState::Created,
                    LifecycleState::Approved,
                    LifecycleState::Instantiated
                ]
            );
            assert_eq!(host.status(), Some(ContextStatus::Instantiated));
            let statuses = host.statuses();
            assert!(statuses.iter().all(|line| line.ends_with(" Applied")));
            assert_eq!(host.clusters.resources().len(), statuses.len());
            assert_eq!(host.clusters.state().changes, statuses.len());
            assert_eq!(host.contexts.list().unwrap().ids.len(), 1);
        });
    }
}

#[test]
fn an_update_that_ends_at_any_write_is_completed_after_the_restart() {
    for stores_last in [false, true] {
        for writes in 0..WRITES_MAX {
            let store = Arc::new(RedbStore::in_memory().unwrap());
            let clusters = Arc::<Clusters>::default();
            let whole = || Host::over(Arc::clone(&store) as _, Arc::clone(&clusters));
            whole().instantiate();
            clusters.state().sent.clear();
            whole().put_apps(updated()).unwrap();
            whole().act(Command::Approve).unwrap();
            let first = Host::ending(&store, &clusters, writes, stores_last);
            let is_over = first.act(Command::Update).is_ok() && first.run().is_ok();
            let second = whole();
            if second.states().last() == Some(&LifecycleState::Instantiated) {
                for job in second.groups.unfinished().unwrap() {
                    assert_eq!(second.run_job(&job).unwrap(), Outcome::Complete);
                }
            }
            if second.groups.get(&name()).unwrap().revision == 1 {
                second.act(Command::Update).unwrap();
                second.run().unwrap();
            }
            let resources = ["lab+a front-one", "lab+a front-three", "lab+b front-one"];
            assert_eq!(second.clusters.resources()[..2], resources[..2]);
            assert_eq!(second.clusters.resources().len(), 4);
            let sent = &second.clusters.state().sent;
            assert!(!sent.contains(&"lab+a front-one".to_owned()), "{sent:?}");
            assert_eq!(second.states().len(), 5);
            if is_over {
                assert!(writes > 10, "the update has {writes} writes");
                break;
            }
        }
    }
}

/// The first content without an app, and with a resource in the place of another.
fn updated() -> Vec<DraftApp> {
    let mut apps = draft().apps;
    apps.remove(0);
    apps[0].manifests[1] = manifest("front-three");
    apps
}

#[test]
fn a_termination_that_ends_at_any_write_is_completed_once_after_the_restart() {
    for stores_last in [false, true] {
        each_end(LifecycleState::Terminated, stores_last, |host| {
            assert_eq!(host.status(), Some(ContextStatus::Terminated));
            let statuses = host.statuses();
            assert!(statuses.iter().all(|line| line.ends_with(" Deleted")));
            assert_eq!(host.clusters.resources(), [""; 0]);
            assert_eq!(host.clusters.state().changes, 2 * statuses.len());
        });
    }
}
