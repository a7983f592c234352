//! Configured applications: selected by labels, in all clusters that match their patterns.

use kindsight_cluster::Options;
use kindsight_clusters::{ConfiguredApp, ConfiguredApplication};
use kindsight_model::{DigName, NamePattern};
use serde_json::{Value, json};

use crate::stage::{SHOP, Stage, resources};

/// Status of the application of both clusters.
const WEB: &str = "/v2/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod/status";
/// Status of the application of the second cluster.
const EDGE: &str = "/v2/projects/shop/composite-apps/edge/v1/deployment-intent-groups/prod/status";

fn pattern(text: &str) -> NamePattern {
    text.parse().expect("a pattern")
}

fn application(
    name: &str,
    clusters: &str,
    namespaces: &[&str],
    app: (&str, &str),
) -> ConfiguredApplication {
    let (app, selector) = app;
    ConfiguredApplication {
        name: DigName::new("shop", name, "v1", "prod").expect("a name"),
        clusters: vec![pattern(clusters)],
        namespaces: namespaces
            .iter()
            .map(|namespace| pattern(namespace))
            .collect(),
        apps: vec![ConfiguredApp {
            name: app.into(),
            selector: kindsight_model::parse_selector(selector).expect("a selector"),
        }],
    }
}

fn config(name: &str, namespace: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels}})
}

/// Applies objects of the applications, of a chart, and of both.
fn apply_all(stage: &Stage) {
    let of = |labels: Value| {
        let mut labels = labels;
        labels["app.kubernetes.io/instance"] = "shop".into();
        labels["app.kubernetes.io/component"] = "chart".into();
        labels
    };
    // Both applications select this object. The first one in the configuration gets it.
    stage.apply(&config(
        "front",
        "web",
        &of(json!({"app": "front", "tier": "a"})),
    ));
    stage.apply(&config(
        "back",
        "web",
        &of(json!({"app": "back", "tier": "a"})),
    ));
    stage.apply(&config(
        "canary",
        "web",
        &of(json!({"tier": "b", "canary": "1"})),
    ));
    stage.apply(&config(
        "elsewhere",
        "default",
        &json!({"app": "front", "tier": "b"}),
    ));
}

/// The names of all applications.
fn names(stage: &Stage) -> Vec<String> {
    let list = stage.server.get("/v2/applications").expect("a list");
    let names = list["applications"].as_array().into_iter().flatten();
    names
        .map(|application| {
            let text = |key: &str| application[key].as_str().unwrap_or_default();
            format!(
                "{} {} {}",
                text("project"),
                text("composite-app-name"),
                text("name")
            )
        })
        .collect()
}

#[test]
fn a_configured_application_has_the_selected_objects() {
    let options = [Options::api_server("edge01"), Options::api_server("edge02")];
    let applications = [
        application(
            "web",
            "kubeconfig+edge*",
            &["web*"],
            ("frontend", "app=front,tier in (a, b)"),
        ),
        application("edge", "*02", &[], ("any", "tier,!canary")),
    ];
    let stage = Stage::start_as(
        &options,
        |cluster| cluster.admin().clone(),
        |source| source.with_applications(&applications),
    );
    let Some(stage) = stage else { return };
    apply_all(&stage);

    let web = stage.wait(WEB, "both clusters have it", |answer| {
        resources(answer).len() == 2
    });
    let expected = ["edge01", "edge02"]
        .map(|cluster| format!("{cluster} frontend ConfigMap/front Present Exists"));
    assert_eq!(resources(&web), expected);
    assert_eq!(web["ready-status"], "Present");
    assert_eq!(web["project"], "shop");

    let edge = stage.wait(EDGE, "the second has the other", |answer| {
        resources(answer).len() == 2
    });
    let expected =
        ["back", "elsewhere"].map(|name| format!("edge02 any ConfigMap/{name} Present Exists"));
    assert_eq!(resources(&edge), expected);

    // Objects that no configured application selects are found by their own marks.
    let shop = stage.wait(SHOP, "the rest is found", |answer| {
        resources(answer).len() == 3
    });
    let expected = [
        "edge01 chart ConfigMap/back Present Exists",
        "edge01 chart ConfigMap/canary Present Exists",
        "edge02 chart ConfigMap/canary Present Exists",
    ];
    assert_eq!(resources(&shop), expected);

    let expected = ["- shop web", "shop edge prod", "shop web prod"];
    assert_eq!(names(&stage), expected);

    stage.clusters[0].delete("/api/v1/namespaces/web/configmaps/front");
    let gone = "edge01 frontend ConfigMap/front NotPresent Gone";
    let answer = stage.wait(WEB, "its deletion is shown", |answer| {
        resources(answer).contains(&gone.to_owned())
    });
    assert_eq!(answer["ready-status"], "Present");
}
