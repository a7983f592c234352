use super::*;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn app(name: &str) -> DraftApp {
    DraftApp {
        name: name.to_owned(),
        clusters: vec!["lab+a".to_owned()],
        manifests: vec![MAP.to_owned()],
    }
}

/// The paths of all problems of a draft with these apps.
fn paths(apps: Vec<DraftApp>) -> Vec<String> {
    let problems = Draft { apps }.checked().err().unwrap();
    problems.into_iter().map(|problem| problem.path).collect()
}

#[test]
fn a_correct_draft_is_an_intent() {
    let intent = Draft {
        apps: vec![app("front"), app("back")],
    };
    let intent = intent.checked().ok().unwrap();
    assert_eq!(intent.apps.len(), 2);
    assert_eq!(intent.apps[0].clusters, ["lab+a".parse().unwrap()]);
}

#[test]
fn every_problem_is_reported_with_its_path() {
    let mut bad = app("a b");
    bad.clusters.extend(["lab".to_owned(), "lab+a".to_owned()]);
    bad.manifests.extend([MAP.to_owned(), "kind: [".to_owned()]);
    assert_eq!(
        paths(vec![app("front"), bad, app("front")]),
        [
            "apps[1].name",
            "apps[1].clusters[1]",
            "apps[1].clusters[2]",
            "apps[1].manifests[1]",
            "apps[1].manifests[2]",
            "apps[2].name",
        ]
    );
    assert_eq!(paths(Vec::new()), ["apps"]);
    let empty = DraftApp {
        clusters: Vec::new(),
        manifests: Vec::new(),
        ..app("front")
    };
    assert_eq!(
        paths(vec![empty]),
        ["apps[0].clusters", "apps[0].manifests"]
    );
}

#[test]
fn an_app_whose_label_would_be_too_long_is_refused() {
    Draft {
        apps: vec![app(&"x".repeat(43))],
    }
    .checked()
    .ok()
    .unwrap();
    assert_eq!(paths(vec![app(&"x".repeat(44))]), ["apps[0].name"]);
    assert_eq!(paths(vec![app("instruction")]), ["apps[0].name"]);
    assert_eq!(paths(vec![app("x-")]), ["apps[0].name"]);
}

#[test]
fn a_draft_over_a_limit_is_refused() {
    let many = |count: usize| (0..count).map(|n| app(&format!("a{n}"))).collect();
    assert_eq!(paths(many(APPS_MAX + 1)), ["apps"]);
    let clusters = |count: usize| (0..count).map(|n| format!("lab+c{n}")).collect();
    let wide = DraftApp {
        clusters: clusters(APP_CLUSTERS_MAX + 1),
        ..app("front")
    };
    assert_eq!(paths(vec![wide]), ["apps[0].clusters"]);
    let manifest = |n| MAP.replace("name: a", &format!("name: a{n}"));
    let long = DraftApp {
        manifests: (0..=APP_MANIFESTS_MAX).map(manifest).collect(),
        ..app("front")
    };
    assert_eq!(paths(vec![long]), ["apps[0].manifests"]);
    let large = DraftApp {
        clusters: clusters(101),
        manifests: vec![MAP.to_owned(); 100],
        ..app("front")
    };
    assert_eq!(paths(vec![large]), ["apps"]);
}
