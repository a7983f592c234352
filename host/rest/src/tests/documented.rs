//! The OpenAPI document, as it is served and as it is true.

use expect_test::expect_file;

use super::*;
use crate::openapi;

#[test]
fn the_document_is_what_was_reviewed() {
    expect_file!["../../openapi.json"].assert_eq(&(openapi() + "\n"));
}

/// Answers as the room that writes them promises them.
const ANSWERS: [&str; 8] = [
    include_str!("../../../status/src/answer/explained.json"),
    include_str!("../../../../tests/golden/cluster-network-intents.json"),
    include_str!("../../../../tests/golden/dig-by-cluster.json"),
    include_str!("../../../../tests/golden/dig-default.json"),
    include_str!("../../../../tests/golden/dig-detail-cluster-sink-configmap.json"),
    include_str!("../../../../tests/golden/dig-instance-two-resources.json"),
    include_str!("../../../../tests/golden/dig-instances-list.json"),
    include_str!("../../../../tests/golden/dig-summary.json"),
];

/// Members that are in none of them, because they stand for what goes wrong.
const SELDOM: [&str; 2] = ["Status/message", "Status/faults"];

/// Walks answers along their schema.
struct Walk {
    schemas: Value,
    /// Members that were met, as `schema/member`.
    met: BTreeSet<String>,
}

impl Walk {
    fn value(&mut self, schema: &Value, value: &Value) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            return self.object(name, value);
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let some = choices.iter().find(|choice| choice["type"] != "null");
            return self.value(&some.unwrap().clone(), value);
        }
        for element in value.as_array().into_iter().flatten() {
            self.value(&schema["items"], element);
        }
    }

    fn object(&mut self, name: &str, value: &Value) {
        let schema = self.schemas[name].clone();
        let Some(members) = value.as_object() else {
            let words = schema["enum"].as_array().unwrap();
            assert!(words.contains(value), "{name} does not allow {value}");
            return;
        };
        for (key, member) in members {
            let described = &schema["properties"][key];
            assert!(!described.is_null(), "{name}/{key} is not described");
            self.met.insert(format!("{name}/{key}"));
            self.value(described, member);
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            let key = key.as_str().unwrap();
            assert!(
                members.contains_key(key),
                "{name}/{key} is said to be always there"
            );
        }
    }
}

#[test]
fn every_member_of_an_answer_is_described_and_every_described_one_exists() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let schemas = document["components"]["schemas"].clone();
    let mut walk = Walk {
        schemas: schemas.clone(),
        met: SELDOM.map(str::to_owned).into(),
    };
    for answer in ANSWERS {
        walk.object("Status", &serde_json::from_str(answer).unwrap());
    }
    for name in [
        "Status",
        "State",
        "Action",
        "App",
        "Cluster",
        "Resource",
        "Gvk",
        "Interpreter",
    ] {
        for key in schemas[name]["properties"].as_object().unwrap().keys() {
            let member = format!("{name}/{key}");
            assert!(walk.met.contains(&member), "{member} is in no answer");
        }
    }
}

#[test]
fn every_word_that_a_query_knows_is_described() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    for (path, routes) in document["paths"].as_object().unwrap() {
        if !path.ends_with("/status") {
            continue;
        }
        let parameters = routes["get"]["parameters"].as_array().unwrap();
        let in_query = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query");
        let names: Vec<_> = in_query
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let unknown = kindsight_status::StatusQuery::parse([("x", "")]).unwrap_err();
        for name in &names {
            assert!(unknown[0].expected.contains(&format!("`{name}`")), "{name}");
        }
        assert_eq!(names.len(), unknown[0].expected.matches(", ").count() + 1);
    }
}

#[tokio::test]
async fn every_member_of_what_is_said_of_interpreters_is_described() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let schemas = document["components"]["schemas"].clone();
    let mut walk = Walk {
        schemas: schemas.clone(),
        met: BTreeSet::new(),
    };
    let ask = |method, uri| send(router(state(Limits::default())), method, uri, Body::empty());
    for (schema, method, uri) in [
        ("InterpreterList", "GET", "/v2/interpreters"),
        ("InterpreterDetail", "GET", "/v2/interpreters/apps"),
        ("Outcome", "PUT", "/v2/interpreters/apps"),
        ("ShadowReport", "POST", "/v2/interpreters/apps/shadow"),
        ("Problem", "PUT", "/v2/interpreters/refused"),
        ("Problem", "POST", "/v2/interpreters/nobody/rollback"),
    ] {
        walk.object(schema, &ask(method, uri).await.json());
    }
    let met: BTreeSet<_> = walk
        .met
        .iter()
        .filter_map(|it| it.split('/').next())
        .collect();
    assert_eq!(met.len(), 20, "{met:?}");
    for name in &met {
        for key in schemas[name]["properties"].as_object().unwrap().keys() {
            let member = format!("{name}/{key}");
            assert!(walk.met.contains(&member), "{member} is in no answer");
        }
    }
}

#[test]
fn every_parameter_of_a_load_is_described() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let load = &document["paths"]["/v2/interpreters/{name}"]["put"];
    let parameters = load["parameters"].as_array().unwrap();
    let names: Vec<_> = parameters.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["name", "digest", "candidate"]);
    let required: Vec<_> = parameters.iter().map(|it| &it["required"]).collect();
    assert_eq!(required, [true, false, false]);
}
