use kindsight_model::ContextStatus;

use super::stage::Host;
use crate::{Command, Outcome};

#[test]
fn a_deletion_that_is_not_complete_is_repeated_and_its_reason_is_shown() {
    let host = Host::new();
    host.instantiate();
    host.clusters
        .state()
        .finalizers
        .insert("front-one".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.status(), Some(ContextStatus::Terminating));
    assert_eq!(
        host.problems(),
        [
            "lab+a front-one+ConfigMap: it has the finalizer kept",
            "lab+b front-one+ConfigMap: it has the finalizer kept",
        ]
    );
    assert!(
        host.statuses()
            .contains(&"lab+a front-one Pending".to_owned())
    );
    assert_eq!(
        host.clusters.resources(),
        ["lab+a front-one", "lab+b front-one"]
    );
    host.clusters.state().finalizers.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.problems(), [""; 0]);
}

#[test]
fn a_resource_that_belongs_to_another_owner_stays() {
    let host = Host::new();
    host.instantiate();
    host.clusters.state().foreign.insert("back-one".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), ["lab+a back-one"]);
    assert_eq!(
        host.problems(),
        ["lab+a back-one+ConfigMap: it belongs to another"]
    );
}
