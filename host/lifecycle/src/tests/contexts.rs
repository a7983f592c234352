use kindsight_appcontext::{AskedWork, ContextMeta, NewApp, NewCluster, NewContext, NewResource};
use kindsight_model::{ContextId, ContextStatus, RsyncStatus};
use serde_json::Value;

use super::stage::{Host, manifest};
use crate::{Error, Job, Outcome};

/// A context of another orchestrator.
fn foreign(host: &Host) -> ContextId {
    let resources = ["one", "two"].map(|name| NewResource {
        resource: format!("{name}+ConfigMap").parse().unwrap(),
        manifest: manifest(name),
    });
    let cluster = NewCluster {
        cluster: "lab+a".parse().unwrap(),
        group: None,
        resources: resources.into(),
    };
    let context = NewContext {
        meta: ContextMeta {
            project: "p".to_owned(),
            ..ContextMeta::default()
        },
        apps: vec![NewApp {
            name: "front".to_owned(),
            clusters: vec![cluster],
        }],
    };
    host.contexts.create(&context).unwrap()
}

fn status(host: &Host, id: &ContextId) -> Option<ContextStatus> {
    host.contexts.read(id).unwrap().unwrap().status
}

#[test]
fn a_context_of_another_orchestrator_is_sent_removed_and_sent_again() {
    let host = Host::new();
    let id = foreign(&host);
    for _ in 0..2 {
        let job = host.groups.ask(&id, AskedWork::Instantiate).unwrap();
        assert_eq!(
            host.groups.unfinished().unwrap(),
            std::slice::from_ref(&job)
        );
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
        assert_eq!(status(&host, &id), Some(ContextStatus::Instantiated));
        assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a two"]);
        let job = host.groups.ask(&id, AskedWork::Terminate).unwrap();
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
        assert_eq!(status(&host, &id), Some(ContextStatus::Terminated));
        assert_eq!(host.clusters.resources(), [""; 0]);
        assert!(host.groups.unfinished().unwrap().is_empty());
    }
}

#[test]
fn work_on_a_context_that_failed_is_repeated_when_it_is_asked_for_again() {
    let host = Host::new();
    let id = foreign(&host);
    host.clusters.state().refused.insert("two".to_owned());
    let ask = |work| {
        let job = host.groups.ask(&id, work).unwrap();
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
        status(&host, &id).unwrap()
    };
    let failed = ContextStatus::InstantiateFailed;
    assert_eq!(ask(AskedWork::Instantiate), failed);
    host.clusters.state().refused.clear();
    assert_eq!(ask(AskedWork::Instantiate), ContextStatus::Instantiated);
    host.clusters.state().refused.insert("two".to_owned());
    assert_eq!(ask(AskedWork::Terminate), ContextStatus::TerminateFailed);
    host.clusters.state().refused.clear();
    assert_eq!(ask(AskedWork::Terminate), ContextStatus::Terminated);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn the_stop_flag_ends_the_work_on_a_context() {
    let host = Host::new();
    let id = foreign(&host);
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    let job = host.groups.ask(&id, AskedWork::Instantiate).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Retry);
    let _ = host.contexts.record_stop_flag(&id, true).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    assert_eq!(status(&host, &id), Some(ContextStatus::InstantiateFailed));
    host.clusters.state().unreachable.clear();
    let job = host.groups.ask(&id, AskedWork::Terminate).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    assert_eq!(status(&host, &id), Some(ContextStatus::Terminated));
}

#[test]
fn a_context_that_rsync_instantiated_is_removed() {
    let host = Host::new();
    let id = foreign(&host);
    let context = host.contexts.load(&id).unwrap();
    let cluster = context.app("front").unwrap();
    let cluster = cluster.cluster(&"lab+a".parse().unwrap()).unwrap();
    let sent = cluster.resource(&"one+ConfigMap".parse().unwrap()).unwrap();
    sent.status().set(&RsyncStatus::Applied).unwrap();
    context.status().set(&ContextStatus::Instantiated).unwrap();
    let job = host.groups.ask(&id, AskedWork::Terminate).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    assert_eq!(status(&host, &id), Some(ContextStatus::Terminated));
    let deployed = host.contexts.deployed(&id).unwrap();
    assert!(
        deployed
            .values()
            .all(|resource| resource.status == RsyncStatus::Deleted)
    );
    assert_eq!(deployed.len(), 2);
}

#[test]
fn work_on_a_context_that_does_not_exist_is_refused_or_forgotten() {
    let host = Host::new();
    let missing: ContextId = "7".parse().unwrap();
    let refused = host.groups.ask(&missing, AskedWork::Instantiate);
    assert!(matches!(refused, Err(Error::NoContext(_))));
    let id = foreign(&host);
    let job = host.groups.ask(&id, AskedWork::Instantiate).unwrap();
    host.contexts.delete(&id).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    assert!(host.groups.unfinished().unwrap().is_empty());
    assert!(host.records.all_asked().unwrap().is_empty());
    assert_eq!(job, Job::Context(id));
}

#[test]
fn live_objects_are_read_into_a_context() {
    let host = Host::new();
    let id = foreign(&host);
    let ask = |work| {
        let job = host.groups.ask(&id, work).unwrap();
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
        assert!(host.groups.unfinished().unwrap().is_empty());
    };
    let statuses = || {
        let snapshot = host.contexts.read(&id).unwrap().unwrap();
        let resources = snapshot.apps[0].clusters[0].resources.iter();
        let statuses = resources.map(|resource| resource.status.unwrap().as_str());
        statuses.collect::<Vec<_>>()
    };
    // Nothing is sent yet.
    ask(AskedWork::Read);
    assert_eq!(status(&host, &id), Some(ContextStatus::InstantiateFailed));
    assert_eq!(statuses(), ["Failed", "Failed"]);
    assert_eq!(live(&host, &id, "one+ConfigMap"), None);
    ask(AskedWork::Instantiate);
    ask(AskedWork::Read);
    assert_eq!(status(&host, &id), Some(ContextStatus::Instantiated));
    assert_eq!(statuses(), ["Applied", "Applied"]);
    let object = live(&host, &id, "two+ConfigMap").unwrap();
    assert_eq!(object["status"]["ready"], true);
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    let job = host.groups.ask(&id, AskedWork::Read).unwrap();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Retry);
    assert_eq!(statuses(), ["Retrying", "Retrying"]);
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    assert_eq!(statuses(), ["Applied", "Applied"]);
    ask(AskedWork::Terminate);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_live_object_over_the_limit_of_the_store_is_failed() {
    let host = Host::new();
    let id = foreign(&host);
    for work in [AskedWork::Instantiate, AskedWork::Read] {
        host.clusters.state().grown = Some("two".to_owned());
        let job = host.groups.ask(&id, work).unwrap();
        assert_eq!(host.run_job(&job).unwrap(), Outcome::Complete);
    }
    assert!(live(&host, &id, "one+ConfigMap").is_some());
    assert_eq!(live(&host, &id, "two+ConfigMap"), None);
    let snapshot = host.contexts.read(&id).unwrap().unwrap();
    let two = &snapshot.apps[0].clusters[0].resources[1];
    assert_eq!(two.status, Some(RsyncStatus::Failed));
}

/// The live object in a context.
fn live(host: &Host, id: &ContextId, name: &str) -> Option<Value> {
    let key = format!("/context/{id}/app/front/cluster/lab+a/resource/{name}/definition/");
    let value = host.store.get(&key).unwrap()?;
    let text: String = serde_json::from_slice(&value).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}
