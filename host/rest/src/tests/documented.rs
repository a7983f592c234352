//! The OpenAPI document: the served document is the committed one, and it describes real answers.

use std::collections::BTreeMap;

use expect_test::expect_file;
use kindsight_api::interpret::{ObjectVerdict, Verdicts};
use kindsight_model::{Digest, InterpretedBy};

use super::*;
use crate::openapi;

#[test]
fn the_document_is_the_reviewed_one() {
    expect_file!["../../openapi.json"].assert_eq(&(openapi() + "\n"));
}

/// Answers of the specification, and an answer with every member.
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

/// Members that no answer contains, because they describe errors or are never sent.
const SELDOM: [&str; 6] = [
    "Status/message",
    "Status/faults",
    "Status/store",
    "Status/state-store",
    "Readiness/unanswered",
    "Resource/hook",
];

/// Walks answers along their schema.
struct Walk {
    schemas: Value,
    /// Members that occurred in an answer, as `schema/member`.
    met: BTreeSet<String>,
}

/// Members that a schema describes, including the members of its parts.
#[derive(Default)]
struct Members {
    /// The schema that describes each member, and its description.
    described: BTreeMap<String, (String, Value)>,
    required: Vec<String>,
}

impl Walk {
    fn new() -> Self {
        let document: Value = serde_json::from_str(&openapi()).unwrap();
        Self {
            schemas: document["components"]["schemas"].clone(),
            met: BTreeSet::new(),
        }
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        if let Some(name) = reference(schema) {
            return self.named(name, value);
        }
        if schema["oneOf"].is_array() {
            let choice = self.choice(schema, value);
            return self.value(&choice, value);
        }
        for element in value.as_array().into_iter().flatten() {
            self.value(&schema["items"], element);
        }
    }

    /// The alternative of a schema that allows a value.
    fn choice(&self, schema: &Value, value: &Value) -> Value {
        let choices = schema["oneOf"].as_array().unwrap().iter();
        let mut fitting =
            choices.filter(|choice| choice["type"] != "null" && { self.allows(choice, value) });
        let choice = fitting.next().unwrap_or_else(|| panic!("none for {value}"));
        assert!(fitting.next().is_none(), "more than one for {value}");
        choice.clone()
    }

    /// Returns whether a value has the required members of a schema, and lists with elements of the described type.
    fn allows(&self, schema: &Value, value: &Value) -> bool {
        if let Some(name) = reference(schema) {
            return self.allows(&self.schemas[name], value);
        }
        let list = |key: &str| schema[key].as_array().into_iter().flatten();
        let is_list_of = |key: &str| {
            let described = &schema["properties"][key];
            let is_text = described["items"]["type"] == "string";
            let mut elements = value[key].as_array().into_iter().flatten();
            described["type"] != "array" || elements.all(|element| element.is_string() == is_text)
        };
        list("allOf").all(|part| self.allows(part, value))
            && (!schema["oneOf"].is_array()
                || list("oneOf").any(|choice| self.allows(choice, value)))
            && list("required").all(|key| {
                let key = key.as_str().unwrap();
                !value[key].is_null() && is_list_of(key)
            })
    }

    /// Collects the members that a schema describes. Of several alternatives, only the alternative that allows `value`
    /// counts; without a value, all alternatives count.
    fn collect(&self, members: &mut Members, name: &str, schema: &Value, value: Option<&Value>) {
        if let Some(name) = reference(schema) {
            return self.collect(members, name, &self.schemas[name], value);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(members, name, part, value);
        }
        let choices = schema["oneOf"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| value.is_none_or(|value| self.allows(choice, value)))
        {
            self.collect(members, name, choice, value);
        }
        for (key, described) in schema["properties"].as_object().into_iter().flatten() {
            let described = (name.to_owned(), described.clone());
            let twice = members.described.insert(key.clone(), described);
            assert!(twice.is_none(), "{name}/{key} is described twice");
        }
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.map(|key| key.as_str().unwrap().to_owned());
        members.required.extend(required);
    }

    fn named(&mut self, name: &str, value: &Value) {
        let schema = self.schemas[name].clone();
        assert!(!schema.is_null(), "there is no schema {name}");
        if schema["oneOf"].is_array() {
            return self.value(&schema, value);
        }
        let Some(object) = value.as_object() else {
            let words = schema["enum"].as_array().unwrap();
            assert!(words.contains(value), "{name} does not allow {value}");
            return;
        };
        let mut members = Members::default();
        self.collect(&mut members, name, &schema, Some(value));
        for (key, member) in object {
            let described = members.described.get(key);
            let (of, described) =
                described.unwrap_or_else(|| panic!("{name}/{key} is not described"));
            self.met.insert(format!("{of}/{key}"));
            self.value(described, member);
        }
        for key in &members.required {
            assert!(
                object.contains_key(key),
                "{name}/{key} is said to be always there"
            );
        }
    }

    /// Checks that every described member of these schemas occurred in an answer.
    fn check_met(&self, names: &[&str]) {
        for name in names {
            let mut members = Members::default();
            self.collect(&mut members, name, &self.schemas[*name], None);
            for (key, (of, _)) in members.described {
                let member = format!("{of}/{key}");
                assert!(self.met.contains(&member), "{member} is in no answer");
            }
        }
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

#[tokio::test]
async fn every_member_of_an_answer_is_described_and_every_described_one_exists() {
    let mut walk = Walk::new();
    walk.met.extend(SELDOM.map(str::to_owned));
    for query in ["", "?instance"] {
        let answer = get(&format!("{LOGICAL_CLOUD_STATUS}{query}")).await;
        walk.named("StatusAnswer", &answer.json());
    }
    for answer in ANSWERS {
        walk.named("StatusAnswer", &serde_json::from_str(answer).unwrap());
    }
    walk.check_met(&[
        "Status",
        "Instances",
        "CompositeApp",
        "Readiness",
        "State",
        "Action",
        "App",
        "Cluster",
        "Resource",
        "Gvk",
        "Interpreter",
    ]);
}

#[tokio::test]
async fn every_member_of_an_answer_in_the_newer_dialect_is_described() {
    let mut walk = Walk::new();
    for (schema, route) in [
        ("EmcoGroupAnswer", STATUS),
        ("EmcoClusterAnswer", CLUSTER_STATUS),
        ("EmcoLogicalCloudAnswer", LOGICAL_CLOUD_STATUS),
    ] {
        for query in [
            "type=rsync&output=detail",
            "type=cluster",
            "type=all",
            "status=deployed",
            "status=ready",
            "status=ready&output=summary",
            "apps",
            "clusters",
            "resources",
        ] {
            let uri = format!("{route}?{query}");
            let state = AppState {
                dialect: Dialect::V22,
                ..state(Limits::default())
            };
            let answer = send(router(state), "GET", &uri, Body::empty()).await;
            walk.named(schema, &answer.json());
            if !query.contains('=') {
                let request = Request::builder().uri(&uri);
                let request = request.header(header::ACCEPT, kindsight_api::status::MEDIA_TYPE);
                let request = request.body(Body::empty()).unwrap();
                let answer = answered(router(self::state(Limits::default())), request).await;
                walk.named("StatusAnswer", &answer.json());
            }
        }
    }
    // No test sends these members.
    for member in [
        "EmcoCompositeApp/compositeProfile",
        "CompositeApp/composite-profile-name",
    ] {
        walk.met.insert(member.to_owned());
    }
    for of in ["GroupStatus", "LogicalCloudStatus"] {
        walk.met.insert(format!("{of}/ChildContextIDs"));
    }
    walk.check_met(&[
        "GroupStatus",
        "ClusterStatus",
        "LogicalCloudStatus",
        "States",
        "StateAction",
        "AppStatus",
        "PlacementStatus",
        "ResourceStatus",
        "EmcoNames",
        "Names",
    ]);
}

#[tokio::test]
async fn every_member_of_the_lists_of_applications_and_clusters_is_described() {
    let mut walk = Walk::new();
    walk.met.insert("ApplicationList/more".to_owned());
    walk.met.insert("Application/message".to_owned());
    let state = || {
        let mut model = published();
        let away = || kindsight_status::StoreAway {
            since_ms: 0,
            reason: "etcd-0:2379: connection refused".into(),
        };
        model.publish_store(Some(away()));
        model.publish_state_store(Some(away()));
        state_of(&model, Limits::default())
    };
    for (schema, uri) in [
        ("ApplicationList", "/v2/applications"),
        ("ClusterList", "/v2/clusters"),
    ] {
        let answer = send(router(state()), "GET", uri, Body::empty()).await;
        walk.named(schema, &answer.json());
    }
    let history = applications::SHOP.replace("/status", "/history");
    walk.named("History", &get(&history).await.json());
    for member in ["instance", "message", "next", "dropped"] {
        walk.met.insert(format!("History/{member}"));
    }
    walk.met.insert("Transition/from".to_owned());
    walk.met
        .insert("CompositeApp/composite-profile-name".to_owned());
    walk.check_met(&[
        "ApplicationList",
        "WorstResource",
        "ClusterList",
        "ClusterConnection",
        "StoreState",
        "History",
        "Transition",
        "PhaseAndState",
    ]);
}

#[test]
fn every_word_that_a_query_knows_is_described() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    for (path, routes) in document["paths"].as_object().unwrap() {
        // The routes of the plugin have no such query.
        if !path.ends_with("/status") || path.starts_with("/v1/") {
            continue;
        }
        let parameters = routes["get"]["parameters"].as_array().unwrap();
        let in_query = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query");
        let names: Vec<_> = in_query
            .map(|parameter| parameter["name"].as_str().unwrap())
            // Only EMCO's newer dialect has this parameter.
            .filter(|name| *name != "status")
            .collect();
        let unknown = kindsight_status::StatusQuery::parse([("x", "")]).unwrap_err();
        for name in &names {
            assert!(unknown[0].expected.contains(&format!("`{name}`")), "{name}");
        }
        assert_eq!(names.len(), unknown[0].expected.matches(", ").count() + 1);
    }
}

#[tokio::test]
async fn every_member_of_the_answers_on_interpreters_is_described() {
    let mut walk = Walk::new();
    let ask = |method, uri| send(router(state(Limits::default())), method, uri, Body::empty());
    for (schema, method, uri) in [
        ("InterpreterList", "GET", "/v2/interpreters"),
        ("InterpreterDetail", "GET", "/v2/interpreters/apps"),
        ("Outcome", "PUT", "/v2/interpreters/apps"),
        ("RemovedNames", "DELETE", "/v2/interpreters?unused=true"),
        ("ShadowReport", "POST", "/v2/interpreters/apps/shadow"),
        ("ShadowReport", "POST", "/v2/compare"),
        ("Problem", "PUT", "/v2/interpreters/refused"),
        ("Problem", "POST", "/v2/interpreters/nobody/rollback"),
    ] {
        walk.named(schema, &ask(method, uri).await.json());
    }
    let met = walk
        .met
        .iter()
        .filter_map(|member| member.split('/').next());
    let met: BTreeSet<_> = met.collect();
    assert_eq!(met.len(), 26, "{met:?}");
    walk.check_met(&met.into_iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn every_member_of_a_verdict_is_described() {
    let mut walk = Walk::new();
    let object = Object::from_json(
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}"#,
    );
    let by = InterpretedBy::new("core".parse().unwrap(), "1.0.0", Digest::of(b"core"));
    let verdict = Verdict {
        since_ms: Some(0),
        ..Verdict::host(Phase::Ready, "Running", "").given_by(&Arc::new(by))
    };
    let verdicts = Verdicts {
        verdicts: vec![ObjectVerdict::new(&object.unwrap(), verdict)],
    };
    walk.named("Verdicts", &serde_json::to_value(verdicts).unwrap());
    walk.named("Verdicts", &post("/v2/interpret", "[{}]").await.json());
    walk.check_met(&["Verdicts", "ObjectVerdict", "Interpreter"]);
}

#[test]
fn every_parameter_of_a_load_is_described() {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let load = &document["paths"]["/v2/interpreters/{name}"]["put"];
    let parameters = load["parameters"].as_array().unwrap();
    let names: Vec<_> = parameters
        .iter()
        .map(|parameter| &parameter["name"])
        .collect();
    assert_eq!(
        names,
        ["name", "digest", "candidate", "replace", "If-Match"]
    );
    let required: Vec<_> = parameters
        .iter()
        .map(|parameter| &parameter["required"])
        .collect();
    assert_eq!(required, [true, false, false, false, false]);
    let unnamed = &document["paths"]["/v2/interpreters"]["post"]["parameters"];
    let names: Vec<_> = unnamed
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| &parameter["name"])
        .collect();
    assert_eq!(names, ["digest", "candidate", "replace"]);
}
