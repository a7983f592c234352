//! Changes that are sent.

use kindsight_cluster::bson::{Binary, Bson, doc, spec::BinarySubtype};
use kindsight_model::StatesNews;

use crate::stage::{Follower, RESOURCES, action, group, mongodb, name, options, state};

#[test]
fn an_appended_action_and_a_deleted_group_are_sent() {
    let Some(server) = mongodb() else { return };
    let documents = server.documents();
    let mut actions = vec![action("Created", "", 0)];
    let groups = ["a", "b"].map(|dig| group(dig, state("", &actions)));
    documents.insert(RESOURCES, &groups);
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(follower.all().len(), 2);
    actions.push(action("Approved", "", 0));
    documents.set(RESOURCES, name("b"), "stateInfo", state("", &actions));
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/b: - of cp Created/-/0 Approved/-/0"
    );
    actions.push(action("Instantiated", "9", 1));
    documents.set(RESOURCES, name("b"), "stateInfo", state("9", &actions));
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/b: 9 of cp Created/-/0 Approved/-/0 Instantiated/9/1"
    );
    // A change of any other field of the document is not sent.
    documents.set(RESOURCES, name("b"), "data.spec.version", "r2");
    documents.set(RESOURCES, name("b"), "data.spec.profile", "other");
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/b: 9 of other Created/-/0 Approved/-/0 Instantiated/9/1"
    );
    documents.delete(RESOURCES, name("a"));
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/a is gone"
    );
    // After everything was deleted, the place of the states is searched again.
    documents.delete(RESOURCES, doc! {});
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/b is gone"
    );
    documents.insert(RESOURCES, &groups[..1]);
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/a: - of cp Created/-/0"
    );
    follower.end();
}

#[test]
fn a_document_that_becomes_unreadable_keeps_its_last_state_and_does_not_affect_others() {
    let Some(server) = mongodb() else { return };
    let documents = server.documents();
    let created = state("", &[action("Created", "", 0)]);
    let groups = ["a", "b"].map(|dig| group(dig, created.clone()));
    documents.insert(RESOURCES, &groups);
    documents.insert(RESOURCES, &[group("never", "0123abcd")]);
    let mut follower = Follower::begin(&options(&server.url()));
    let lines = follower.all();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let encrypted = Binary {
        subtype: BinarySubtype::Generic,
        bytes: vec![7; 64],
    };
    for odd in [
        Bson::Binary(encrypted),
        Bson::Array(vec![]),
        Bson::Document(doc! {"actions": 1}),
        Bson::Document(doc! {"actions": [{"state": "Created", "x": "x".repeat(2 * 1024 * 1024)}]}),
    ] {
        documents.set(RESOURCES, name("a"), "stateInfo", odd);
        for revision in [1, 2] {
            let updated = state("", &[action("Updated", "", revision)]);
            documents.set(RESOURCES, name("b"), "stateInfo", updated);
            // No change of the other group is sent before this one.
            assert_eq!(
                follower.changed(),
                format!("deployment intent group p/ca/v1/b: - of cp Updated/-/{revision}")
            );
        }
    }
    documents.set(RESOURCES, name("a"), "stateInfo", state("", &[]));
    assert_eq!(
        follower.changed(),
        "deployment intent group p/ca/v1/a: - of cp"
    );
}

#[test]
fn many_simultaneous_changes_are_sent_as_all_states() {
    let Some(server) = mongodb() else { return };
    let documents = server.documents();
    let created = state("", &[action("Created", "", 0)]);
    documents.insert(RESOURCES, &[group("first", created.clone())]);
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(follower.all().len(), 1);
    let many: Vec<_> = (0..1200)
        .map(|number| group(&format!("g{number}"), created.clone()))
        .collect();
    documents.insert(RESOURCES, &many);
    let mut known = 1;
    while known < 1201 {
        match follower.next() {
            StatesNews::All(all) => known = all.len(),
            StatesNews::Changed(_, Some(_)) => known += 1,
            other => panic!("{other:?}"),
        }
    }
}
