//! Logical clouds: their records, and the subjects of queries about them.

use kindsight_model::{LogicalCloudName, RecordSubject, SubjectSet};
use serde_json::{Value, json};

use crate::samples::{FIRST, SECOND, app, context, id, record};
use crate::{ApplicationKey, ChangedSubject, ContextView, QueryError, Snapshot, StatusQuery};

fn cloud(name: &str) -> LogicalCloudName {
    LogicalCloudName::new("testvfw", name).unwrap()
}

fn with_clouds() -> Snapshot {
    let mut model = Snapshot::default();
    let actions = [
        ("Created", "", "2022-10-01T10:00:00Z"),
        ("Instantiated", FIRST, "2022-10-01T10:01:00Z"),
    ];
    for (name, actions) in [("lc1", &actions[..]), ("lc2", &actions[..1])] {
        model.set_logical_cloud(&cloud(name), Some(record(None, actions)));
    }
    let view = ContextView {
        meta: None,
        ..context(
            FIRST,
            "Instantiated",
            vec![app("logical-cloud", Vec::new())],
        )
    };
    model.set_context(&id(FIRST), Some(view));
    model
}

fn ask_cloud(model: &Snapshot, name: &str, pairs: &[(&str, &str)]) -> Result<Value, QueryError> {
    let query = StatusQuery::parse(pairs.iter().copied()).unwrap();
    let subject = model
        .visible_to(&SubjectSet::Everything)
        .logical_cloud(&cloud(name), &query)?;
    Ok(serde_json::to_value(subject.answer(&query)?).unwrap())
}

#[test]
fn a_logical_cloud_is_answered_by_its_project_and_name() {
    let model = with_clouds();
    let answer = ask_cloud(&model, "lc1", &[]).unwrap();
    let members = [
        "project",
        "logical-cloud",
        "name",
        "status",
        "composite-app-name",
    ];
    assert_eq!(
        members.map(|member| answer[member].clone()),
        [
            json!("testvfw"),
            json!("lc1"),
            json!("lc1"),
            json!("Instantiated"),
            Value::Null
        ]
    );
    assert_eq!(answer["state"]["Actions"][1]["ContextId"], FIRST);
    let created = ask_cloud(&model, "lc2", &[]).unwrap();
    assert_eq!(created["message"], "it was never instantiated");
    assert_eq!(
        ask_cloud(&model, "lc1", &[("instance", "")]).unwrap(),
        json!({"project": "testvfw", "logical-cloud": "lc1", "name": "lc1", "instances": [FIRST]})
    );
}

#[test]
fn an_unknown_logical_cloud_is_refused_with_the_names_of_its_project() {
    let mut model = with_clouds();
    let other = LogicalCloudName::new("other", "lc").unwrap();
    model.set_logical_cloud(&other, Some(record(None, &[])));
    let QueryError::NotFound(problems) = ask_cloud(&model, "lc3", &[]).unwrap_err() else {
        panic!("its name is valid");
    };
    assert_eq!(problems[0].expected, "one of `testvfw/lc1`, `testvfw/lc2`");
    let error = ask_cloud(&model, "lc1", &[("instance", SECOND)]).unwrap_err();
    assert!(matches!(error, QueryError::NotFound(problems) if problems[0].parameter == "instance"));
    model.set_logical_cloud(&cloud("lc1"), None);
    assert!(ask_cloud(&model, "lc1", &[]).is_err());
}

#[test]
fn a_logical_cloud_is_affected_only_by_its_record_and_its_context() {
    let model = with_clouds();
    let query = StatusQuery::default();
    let subject = model
        .visible_to(&SubjectSet::Everything)
        .logical_cloud(&cloud("lc1"), &query)
        .unwrap();
    let of = |name: &str| ChangedSubject::Record(RecordSubject::LogicalCloud(cloud(name)));
    assert!(subject.is_concerned_by(&of("lc1")));
    assert!(!subject.is_concerned_by(&of("lc2")));
    assert!(
        subject.is_concerned_by(&ChangedSubject::Application(ApplicationKey::Context(id(
            FIRST
        ))))
    );
    assert!(
        !subject.is_concerned_by(&ChangedSubject::Application(ApplicationKey::Context(id(
            SECOND
        ))))
    );
}
