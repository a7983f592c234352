use super::*;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn app(name: &str) -> DraftApp {
    DraftApp {
        name: name.to_owned(),
        clusters: vec!["lab+a".to_owned()],
        any_of: Vec::new(),
        manifests: vec![MAP.to_owned()],
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    }
}

/// The paths of all problems of a draft with these apps.
fn paths(apps: Vec<DraftApp>) -> Vec<String> {
    let problems = Draft {
        apps,
        ..Draft::default()
    }
    .checked()
    .err()
    .unwrap();
    problems.into_iter().map(|problem| problem.path).collect()
}

#[test]
fn a_correct_draft_is_an_intent() {
    let intent = Draft {
        apps: vec![app("front"), app("back")],
        ..Draft::default()
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
        ..Draft::default()
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

#[test]
fn an_app_names_each_cluster_once_also_in_groups_of_clusters() {
    let any_of = |groups: &[&[&str]]| DraftApp {
        any_of: groups
            .iter()
            .map(|group| group.iter().map(|name| (*name).to_owned()).collect())
            .collect(),
        ..app("front")
    };
    let correct = DraftApp {
        clusters: Vec::new(),
        ..any_of(&[&["lab+b", "lab+c"]])
    };
    assert_eq!(
        paths(vec![any_of(&[&["lab+b", "lab+a"]])]),
        ["apps[0].any-of[0][1]"]
    );
    assert_eq!(paths(vec![any_of(&[&[]])]), ["apps[0].any-of[0]"]);
    let intent = Draft {
        apps: vec![correct],
        ..Draft::default()
    }
    .checked()
    .ok()
    .unwrap();
    assert_eq!(intent.apps[0].any_of[0].len(), 2);
}

/// An app that waits for others.
fn waiting(name: &str, on: &[&str]) -> DraftApp {
    let depends_on = on.iter().map(|on| DraftDependency {
        app: (*on).to_owned(),
        condition: IntentCondition::Ready,
        wait_seconds: 0,
    });
    DraftApp {
        depends_on: depends_on.collect(),
        ..app(name)
    }
}

#[test]
fn dependencies_of_apps_that_cannot_be_met_are_refused() {
    let chain = vec![waiting("a", &["b"]), waiting("b", &["c"]), app("c")];
    assert!(
        Draft {
            apps: chain.clone(),
            ..Draft::default()
        }
        .checked()
        .is_ok()
    );
    let mut circle = chain;
    circle[2] = waiting("c", &["a"]);
    let problems = Draft {
        apps: circle,
        ..Draft::default()
    }
    .checked()
    .err()
    .unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].path, "apps[2].depends-on[0]");
    assert_eq!(
        problems[0].detail,
        "the apps wait for each other: c, a, b, c"
    );
    assert_eq!(
        paths(vec![waiting("a", &["a"]), waiting("b", &["d"]), app("c")]),
        ["apps[1].depends-on[0]", "apps[0].depends-on[0]"]
    );
    let mut long = waiting("a", &["c"]);
    long.depends_on[0].wait_seconds = WAIT_SECONDS_MAX + 1;
    assert_eq!(
        paths(vec![long, app("c")]),
        ["apps[0].depends-on[0].wait-seconds"]
    );
}

#[test]
fn dependencies_of_resources_that_cannot_be_met_are_refused() {
    let with = |pairs: &[(&str, &str)]| {
        let second = MAP.replace("name: a", "name: b");
        let dependencies = pairs.iter().map(|(resource, on)| DraftResourceDependency {
            resource: (*resource).to_owned(),
            on: (*on).to_owned(),
            condition: IntentCondition::Applied,
            wait_seconds: 0,
        });
        DraftApp {
            manifests: vec![MAP.to_owned(), second],
            resource_dependencies: dependencies.collect(),
            ..app("front")
        }
    };
    let (a, b) = ("ConfigMap/a", "ConfigMap/b");
    let correct = Draft {
        apps: vec![with(&[(b, a)])],
        ..Draft::default()
    };
    let dependency = correct.checked().ok().unwrap().apps[0].resource_dependencies[0].clone();
    assert_eq!(
        (&*dependency.resource, &*dependency.on),
        ("b+ConfigMap", "a+ConfigMap")
    );
    assert_eq!(
        paths(vec![with(&[(b, a), (a, b)])]),
        ["apps[0].resource-dependencies[1]"]
    );
    assert_eq!(
        paths(vec![with(&[(a, a)])]),
        ["apps[0].resource-dependencies[0]"]
    );
    assert_eq!(
        paths(vec![with(&[("Pod/a", "b")])]),
        [
            "apps[0].resource-dependencies[0].resource",
            "apps[0].resource-dependencies[0].on"
        ]
    );
}
