//! Lives of the network intents of a cluster.

use std::sync::Arc;

use kindsight_appcontext::{NETWORK_INTENTS, Record};
use kindsight_model::{ContextStatus, LifecycleState, RecordSubject};
use kindsight_store::RedbStore;

use super::clusters::Clusters;
use super::stage::{Host, NOW, app, manifest};
use crate::{Command, Draft, Error, Job, Outcome, PlannedChange, Result, Stored};

/// More writes than an application has.
const WRITES_MAX: usize = 100;

fn edge() -> RecordSubject {
    RecordSubject::Cluster("lab+a".parse().unwrap())
}

fn network(name: &str, subnet: &str) -> String {
    format!(
        "apiVersion: k8s.plugin.opnfv.org/v1alpha1\nkind: Network\nmetadata: {{name: {name}}}\nspec: {{ipv4Subnets: [{{subnet: {subnet}}}]}}\n"
    )
}

fn draft(manifests: &[String]) -> Draft {
    Draft {
        apps: vec![app("any", &[], manifests.to_vec())],
        ..Draft::default()
    }
}

/// The network intents of the cluster `lab+a`.
trait NetworkIntents {
    fn put_networks(&self, manifests: &[String]) -> Result<Stored>;
    fn on_cluster(&self, command: Command) -> Result<()>;
    fn work(&self) -> Result<Outcome>;
    fn cluster_states(&self) -> Vec<LifecycleState>;
}

impl NetworkIntents for Host {
    fn put_networks(&self, manifests: &[String]) -> Result<Stored> {
        self.groups.put(&edge(), None, draft(manifests), NOW)
    }

    fn on_cluster(&self, command: Command) -> Result<()> {
        let done = self
            .groups
            .act(&edge(), (command, false), &*self.clusters, NOW);
        done.map(drop)
    }

    fn work(&self) -> Result<Outcome> {
        self.run_job(&Job::Subject(edge()))
    }

    fn cluster_states(&self) -> Vec<LifecycleState> {
        let actions = self.groups.get(&edge()).unwrap().record.actions;
        actions.iter().map(|action| action.state).collect()
    }
}

/// A cluster with the applied networks `one` and `two`.
fn applied() -> Host {
    let host = Host::new();
    let networks = [network("one", "10.0.0.0/24"), network("two", "10.0.1.0/24")];
    // Controllers belong to applications: this one would take the networks out of their cluster.
    host.clusters.state().left_out = Some("lab+a".to_owned());
    assert_eq!(host.put_networks(&networks).unwrap(), Stored::Created);
    host.on_cluster(Command::Apply).unwrap();
    assert_eq!(host.work().unwrap(), Outcome::Complete);
    host
}

#[test]
fn network_intents_are_applied_without_an_approval_and_without_a_project() {
    let host = applied();
    assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a two"]);
    assert_eq!(
        host.cluster_states(),
        [LifecycleState::Created, LifecycleState::Applied]
    );
    let stored = host.groups.get(&edge()).unwrap();
    assert_eq!(stored.status, Some(ContextStatus::Instantiated));
    let context = host.contexts.read(&stored.instance.unwrap()).unwrap();
    let context = context.unwrap();
    let meta = context.meta.unwrap();
    assert_eq!((&*meta.project, &*meta.dig), ("", ""));
    let apps: Vec<&str> = context.apps.iter().map(|app| &*app.name).collect();
    assert_eq!(apps, [NETWORK_INTENTS]);
    assert_eq!(host.clusters.state().projects, [None].into());
}

#[test]
fn changed_network_intents_are_sent_by_the_next_application_which_removes_the_others() {
    let host = applied();
    let labels = |host: &Host| {
        let state = host.clusters.state();
        let keys = state.resources.keys();
        keys.map(|(_, label, _)| label.clone()).collect::<Vec<_>>()
    };
    let label = labels(&host)[0].clone();
    host.clusters.state().sent.clear();
    let next = [
        network("one", "10.0.0.0/24"),
        network("three", "10.0.2.0/24"),
    ];
    assert_eq!(host.put_networks(&next).unwrap(), Stored::Changed);
    assert_eq!(host.put_networks(&next).unwrap(), Stored::Unchanged);
    assert_eq!(host.cluster_states().len(), 2, "a PUT is no action");
    let clusters = &*host.clusters;
    let shown = host.groups.dry_run(&edge(), None, clusters, clusters);
    let shown = shown.unwrap().resources.into_iter();
    let changes: Vec<PlannedChange> = shown.map(|it| it.change).collect();
    assert_eq!(
        changes,
        [
            PlannedChange::Unchanged,
            PlannedChange::Create,
            PlannedChange::Delete
        ]
    );
    host.on_cluster(Command::Apply).unwrap();
    assert_eq!(host.work().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.state().sent, ["lab+a three"]);
    assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a three"]);
    assert_eq!(labels(&host), [label.clone(), label]);
}

#[test]
fn terminated_network_intents_are_removed_and_can_be_applied_again() {
    let host = applied();
    let refused = host.groups.delete(&edge()).unwrap_err().to_string();
    assert!(refused.contains("must be terminated first"), "{refused}");
    host.on_cluster(Command::Terminate).unwrap();
    let refused = host.on_cluster(Command::Apply).unwrap_err().to_string();
    assert!(refused.contains("still being removed"), "{refused}");
    assert_eq!(host.work().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), [""; 0]);
    let refused = host.on_cluster(Command::Terminate).unwrap_err().to_string();
    assert!(refused.contains("terminated already"), "{refused}");
    host.on_cluster(Command::Apply).unwrap();
    assert_eq!(host.work().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a two"]);
    host.on_cluster(Command::Terminate).unwrap();
    host.work().unwrap();
    host.groups.delete(&edge()).unwrap();
    assert!(matches!(host.groups.get(&edge()), Err(Error::NotFound(_))));
    assert!(host.contexts.list().unwrap().ids.is_empty());
}

#[test]
fn an_action_of_a_group_is_refused() {
    let host = applied();
    for command in [
        Command::Approve,
        Command::Instantiate,
        Command::Update,
        Command::Stop,
    ] {
        assert!(matches!(host.on_cluster(command), Err(Error::Refused(_))));
    }
    host.put().unwrap();
    assert!(matches!(host.act(Command::Apply), Err(Error::Refused(_))));
}

#[test]
fn only_network_kinds_are_network_intents() {
    let host = Host::new();
    let refused = host.put_networks(&[network("one", "10.0.0.0/24"), manifest("map")]);
    let Err(Error::Invalid(problems)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(problems[0].path, "manifests[1]");
    assert!(problems[0].expected.contains("k8s.plugin.opnfv.org"));
    let refused = host.put_networks(&[]);
    let Err(Error::Invalid(problems)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(problems[0].path, "manifests");
}

#[test]
fn the_record_of_a_cluster_that_another_orchestrator_wrote_is_read_only() {
    let host = Host::new();
    host.records.create(edge(), &Record::default()).unwrap();
    let networks = [network("one", "10.0.0.0/24")];
    let refused = host.put_networks(&networks).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly(_)), "{refused}");
    let refused = host.on_cluster(Command::Apply).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly(_)), "{refused}");
}

#[test]
fn network_intents_of_an_unreachable_cluster_can_be_terminated() {
    let host = Host::new();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    host.put_networks(&[network("one", "10.0.0.0/24")]).unwrap();
    host.on_cluster(Command::Apply).unwrap();
    assert_eq!(host.work().unwrap(), Outcome::Retry);
    host.on_cluster(Command::Terminate).unwrap();
    assert_eq!(host.work().unwrap(), Outcome::Retry);
    host.clusters.state().unreachable.clear();
    assert_eq!(host.work().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_second_application_that_ends_at_any_write_is_completed_after_the_restart() {
    for stores_last in [false, true] {
        for writes in 0..=WRITES_MAX {
            assert!(writes < WRITES_MAX, "it has more writes");
            let store = Arc::new(RedbStore::in_memory().unwrap());
            let clusters = Arc::<Clusters>::default();
            let whole = || Host::over(Arc::clone(&store) as _, Arc::clone(&clusters));
            let first = [network("one", "10.0.0.0/24"), network("two", "10.0.1.0/24")];
            whole().put_networks(&first).unwrap();
            whole().on_cluster(Command::Apply).unwrap();
            whole().work().unwrap();
            clusters.state().sent.clear();
            whole()
                .put_networks(&[network("three", "10.0.2.0/24")])
                .unwrap();
            let ending = Host::ending(&store, &clusters, writes, stores_last);
            let is_over = ending.on_cluster(Command::Apply).is_ok() && ending.work().is_ok();
            let second = whole();
            for job in second.groups.unfinished().unwrap() {
                assert_eq!(second.run_job(&job).unwrap(), Outcome::Complete);
            }
            if second.cluster_states().len() == 2 {
                second.on_cluster(Command::Apply).unwrap();
                second.work().unwrap();
            }
            assert_eq!(clusters.resources(), ["lab+a three"]);
            assert_eq!(second.cluster_states().len(), 3);
            if is_over {
                assert!(writes > 5, "it has {writes} writes");
                break;
            }
        }
    }
}
