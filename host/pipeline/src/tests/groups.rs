//! Groups, clusters and logical clouds that nobody recorded here: they are derived from the contexts of another
//! orchestrator.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, ContextMeta, NewApp, NewCluster, NewContext};
use kindsight_model::{ContextId, DigName, LogicalCloudName, SubjectSet};
use kindsight_status::{ApplicationQuery, StatusQuery};
use kindsight_store::Batch;
use serde_json::Value;

use super::stage::{Stage, context};

/// The store of another orchestrator, which the pipeline follows.
pub(super) struct Other {
    pub(super) stage: Stage,
    now_ms: i64,
}

impl Other {
    pub(super) fn new() -> Self {
        let stage = Stage::new(&[]);
        Self { stage, now_ms: 0 }
    }

    fn contexts(&self) -> AppContexts {
        AppContexts::new(Arc::clone(&self.stage.store))
    }

    pub(super) fn create(&mut self, id: &str, new: &NewContext) {
        let contexts = self.contexts();
        contexts.create_as(&id.parse().unwrap(), new).unwrap();
        self.tell();
    }

    /// Writes a value as the orchestrator does.
    pub(super) fn put(&mut self, id: &str, key: &str, json: &str) {
        let batch = Batch::new().put(format!("/context/{id}/{key}"), json);
        self.stage.store.apply(&batch).unwrap();
        self.tell();
    }

    pub(super) fn status(&mut self, id: &str, word: &str) {
        self.put(id, "status/", &format!(r#"{{"Status":"{word}"}}"#));
    }

    pub(super) fn delete(&mut self, id: &str) {
        assert!(self.contexts().delete(&id.parse().unwrap()).unwrap());
        self.tell();
    }

    /// The store tells that a context changed.
    fn tell(&mut self) {
        self.now_ms += 1000;
        self.stage.follow_stores(self.now_ms);
    }

    /// The answer about the group; an error as text.
    pub(super) fn answer(&self) -> Value {
        self.answer_about(&DigName::new("p", "ca", "v1", "dig").unwrap())
    }

    pub(super) fn answer_about(&self, name: &DigName) -> Value {
        let query = StatusQuery::default();
        match self
            .stage
            .read_model
            .visible_to(&SubjectSet::Everything)
            .dig(name, &query)
        {
            Ok(subject) => serde_json::to_value(subject.answer(&query).unwrap()).unwrap(),
            Err(error) => Value::from(error.to_string()),
        }
    }

    /// The answer about a logical cloud of the project. `None` if it is unknown.
    pub(super) fn cloud(&self, name: &str) -> Option<Value> {
        let (name, query) = (
            LogicalCloudName::new("p", name).unwrap(),
            StatusQuery::default(),
        );
        let subject = self
            .stage
            .read_model
            .visible_to(&SubjectSet::Everything)
            .logical_cloud(&name, &query)
            .ok()?;
        Some(serde_json::to_value(subject.answer(&query).unwrap()).unwrap())
    }

    /// The actions on the group.
    fn actions(&self) -> Vec<String> {
        actions(&self.answer())
    }

    pub(super) fn applications(&self) -> usize {
        let query = ApplicationQuery::default();
        let applications = self
            .stage
            .read_model
            .visible_to(&SubjectSet::Everything)
            .applications(&query)
            .unwrap();
        applications.answer().applications.len()
    }
}

fn actions(answer: &Value) -> Vec<String> {
    let actions = answer["state"]["Actions"].as_array();
    let actions = actions.map_or(&[][..], Vec::as_slice).iter();
    let text = actions.map(|action| {
        assert_eq!(action["TimeStamp"], Value::Null, "nobody recorded a time");
        format!(
            "{} {}",
            action["State"].as_str().unwrap(),
            action["ContextId"].as_str().unwrap()
        )
    });
    text.collect()
}

#[test]
fn a_group_is_shown_once_its_context_has_a_status_and_follows_it() {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    assert_eq!((other.actions(), other.applications()), (vec![], 0));
    other.status("7", "Created");
    assert_eq!(other.applications(), 0, "the rest may still be written");
    other.status("7", "Instantiating");
    assert_eq!(other.actions(), ["Instantiated 7"]);
    assert_eq!(other.applications(), 1);
    assert_eq!(other.answer()["status"], "Instantiating");
    other.put("7", "status/", "garbage");
    assert_eq!(other.actions(), ["Instantiated 7"], "it was written");
    other.status("7", "Instantiating");
    other.put("7", "stopflag/", "true");
    assert_eq!(other.actions(), ["Instantiated 7", "InstantiateStopped 7"]);
    other.put("7", "stopflag/", "false");
    other.status("7", "Terminated");
    assert_eq!(other.actions(), ["Instantiated 7", "Terminated 7"]);
    other.delete("7");
    assert_eq!(other.applications(), 0);
}

#[test]
fn the_current_instance_is_the_last_that_was_not_replaced() {
    let mut other = Other::new();
    // Ids say nothing about the order.
    for id in ["9", "4"] {
        other.create(id, &context(&["a"]));
        other.status(id, "Instantiated");
    }
    assert_eq!(other.actions(), ["Instantiated 9", "Instantiated 4"]);
    // An update: the old one is replaced after the new one was sent.
    other.status("9", "Updating");
    assert_eq!(other.answer()["status"], "Instantiated");
    other.status("9", "Updated");
    let updated = ["Instantiated 9", "Updated 9", "Instantiated 4"];
    assert_eq!(other.actions(), updated);
    // A rollback reinstates the old one.
    other.status("9", "Instantiating");
    other.status("4", "Updated");
    other.status("9", "Instantiated");
    assert_eq!(
        other.actions(),
        [
            "Instantiated 9",
            "Updated 9",
            "Instantiated 4",
            "Updated 4",
            "Instantiated 9"
        ]
    );
    let after = other.actions();
    // A start finds the same.
    other.stage.start_again(&[], crate::GONE_FOR, 99_000);
    assert_eq!(other.actions(), after);
}

#[test]
fn a_meta_that_cannot_be_read_any_more_leaves_the_group_as_it_was() {
    let mut other = Other::new();
    let mut new = context(&["a"]);
    new.meta.child_context_ids = vec!["8".to_owned()];
    other.create("7", &new);
    other.status("7", "Instantiated");
    other.put("7", "meta/", "[");
    let answer = other.answer();
    assert_eq!(actions(&answer), ["Instantiated 7"]);
    let fault = answer["faults"][0].as_str().unwrap();
    assert!(fault.starts_with("/context/7/meta/: "), "{fault}");
    // Twice is no other than once, and what is read again counts.
    other.put("7", "meta/", "{");
    assert_eq!(other.actions(), ["Instantiated 7"]);
    other.put("7", "meta/", r#"{"Project":"p","LogicalCloud":"lc"}"#);
    assert_eq!(other.applications(), 0);
}

#[test]
fn a_child_of_a_context_is_no_instance() {
    let mut other = Other::new();
    other.create("8", &context(&["b"]));
    other.status("8", "Instantiated");
    assert_eq!(other.actions(), ["Instantiated 8"]);
    let mut parent = context(&["a"]);
    parent.meta.child_context_ids = vec!["8".to_owned(), "none".to_owned()];
    other.create("7", &parent);
    other.status("7", "Instantiated");
    other.status("8", "Instantiated");
    assert_eq!(other.actions(), ["Instantiated 7"]);
    other.delete("7");
    assert_eq!(other.actions(), ["Instantiated 8"]);
}

#[test]
fn contexts_that_name_each_other_in_a_circle_are_nobodys_children() {
    let mut other = Other::new();
    for (id, child) in [("6", "7"), ("7", "8"), ("8", "6"), ("9", "none")] {
        let mut new = context(&["a"]);
        new.meta.child_context_ids = vec![child.to_owned()];
        other.create(id, &new);
        other.status(id, "Instantiated");
    }
    assert_eq!(other.actions().len(), 4);
    // One that leads into the circle made all of it.
    other.put("9", "meta/", r#"{"Project":"p","ChildContextIDs":["6"]}"#);
    assert_eq!(other.applications(), 1);
}

#[test]
fn network_intents_are_their_clusters_and_a_logical_cloud_is_its_own() {
    let mut other = Other::new();
    let of = |app: &str, logical_cloud: &str| NewContext {
        meta: ContextMeta {
            project: "p".to_owned(),
            logical_cloud: logical_cloud.to_owned(),
            ..ContextMeta::default()
        },
        apps: vec![NewApp {
            name: app.to_owned(),
            clusters: vec![NewCluster {
                cluster: "p+c".parse().unwrap(),
                group: None,
                resources: Vec::new(),
            }],
        }],
    };
    other.create("5", &of("network-intents", ""));
    other.create("6", &of("logical-cloud", "lc"));
    // One of level 0 may have no app, and what is made for a cloud is not the cloud.
    let empty = NewContext {
        apps: Vec::new(),
        ..of("", "lc-0")
    };
    other.create("8", &empty);
    other.create("9", &of("ca-certs", "lc-1"));
    // A group that is deployed to a logical cloud is a group all the same.
    let mut group = context(&["network-intents"]);
    group.meta.logical_cloud = "lc".to_owned();
    other.create("7", &group);
    for id in ["5", "6", "7", "8", "9"] {
        other.status(id, "Instantiated");
    }
    assert_eq!(other.actions(), ["Instantiated 7"]);
    assert_eq!(other.applications(), 1);
    let (cluster, query) = ("p+c".parse().unwrap(), StatusQuery::default());
    let subject = other
        .stage
        .read_model
        .visible_to(&SubjectSet::Everything)
        .cluster(&cluster, &query)
        .unwrap();
    let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
    assert_eq!(actions(&answer), ["Applied 5"]);
    assert_eq!(answer["name"], "p+c");
    let cloud = |name: &str| other.cloud(name).map(|answer| actions(&answer));
    assert_eq!(cloud("lc"), Some(vec!["Instantiated 6".to_owned()]));
    assert_eq!(cloud("lc-0"), Some(vec!["Instantiated 8".to_owned()]));
    assert_eq!(cloud("lc-1"), None);
    other.status("6", "Terminating");
    let after = other.cloud("lc").unwrap();
    assert_eq!(actions(&after), ["Instantiated 6", "Terminated 6"]);
    assert_eq!(after["status"], "Terminating");
    other.delete("6");
    assert_eq!(other.cloud("lc"), None);
}

#[test]
fn a_record_of_ours_wins_and_names_what_is_read_at_once() {
    let mut other = Other::new();
    // The store reports the context and the record together.
    let new = context(&["a"]);
    let id: ContextId = "7".parse().unwrap();
    other.contexts().create_as(&id, &new).unwrap();
    other.stage.own(&["7"]);
    assert!(
        other
            .stage
            .read_model
            .inspect(|model| model.context(&id).is_some())
    );
    assert_eq!(other.applications(), 1, "ours is shown without a status");
    // Another group of the same context is the orchestrator's.
    other.status("7", "Instantiated");
    assert_eq!(other.actions(), ["Instantiated 7"]);
}
