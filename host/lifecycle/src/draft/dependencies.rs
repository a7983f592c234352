//! Checks of dependencies between apps and between resources.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_appcontext::{Intent, IntentApp, ResourceDependsOn};

use super::{
    APP_DEPENDENCIES_MAX, DraftResourceDependency, Problems, RESOURCE_DEPENDENCIES_MAX,
    WAIT_SECONDS_MAX,
};
use crate::manifest;

/// A dependency of a draft, with the JSON path of its place.
struct Edge {
    from: String,
    to: String,
    path: String,
}

/// The stored form of a dependency. A name that is not `Kind/name` does not change, and is refused later.
pub(super) fn of_resource(draft: DraftResourceDependency) -> ResourceDependsOn {
    let stored = |text: String| match text.split_once('/') {
        Some((kind, name)) => format!("{name}+{kind}"),
        None => text,
    };
    ResourceDependsOn {
        resource: stored(draft.resource),
        on: stored(draft.on),
        condition: draft.condition,
        wait_seconds: draft.wait_seconds,
    }
}

/// Checks that each dependency names an existing app or resource, and that no dependency closes a circle.
pub(super) fn check(intent: &Intent, problems: &mut Problems) {
    let apps: BTreeSet<&str> = intent.apps.iter().map(|app| &*app.name).collect();
    let mut edges = Vec::new();
    for (position, app) in intent.apps.iter().enumerate() {
        let path = format!("apps[{position}]");
        check_apps(&path, app, &apps, &mut edges, problems);
        check_resources(&path, app, problems);
    }
    check_cycles("apps", &edges, problems);
}

fn check_apps(
    path: &str,
    app: &IntentApp,
    apps: &BTreeSet<&str>,
    edges: &mut Vec<Edge>,
    problems: &mut Problems,
) {
    let (max, list) = (APP_DEPENDENCIES_MAX, &app.depends_on);
    check_count(&format!("{path}.depends-on"), list.len(), max, problems);
    for (position, dependency) in list.iter().take(max).enumerate() {
        let path = format!("{path}.depends-on[{position}]");
        check_wait(&path, dependency.wait_seconds, problems);
        if apps.contains(&*dependency.app) {
            let (from, to) = (app.name.clone(), dependency.app.clone());
            edges.push(Edge { from, to, path });
        } else {
            let detail = format!("there is no app `{}`", dependency.app);
            problems.add(&path, detail, "the name of another app");
        }
    }
}

fn check_resources(path: &str, app: &IntentApp, problems: &mut Problems) {
    let dependencies = &app.resource_dependencies;
    let path = format!("{path}.resource-dependencies");
    let max = RESOURCE_DEPENDENCIES_MAX;
    check_count(&path, dependencies.len(), max, problems);
    if dependencies.is_empty() {
        return;
    }
    let names = app.manifests.iter().filter_map(|yaml| {
        let name = manifest::checked(yaml).ok()?;
        Some(name.to_string())
    });
    let names: BTreeSet<String> = names.collect();
    let mut edges = Vec::new();
    for (position, dependency) in dependencies.iter().take(max).enumerate() {
        let path = format!("{path}[{position}]");
        check_wait(&path, dependency.wait_seconds, problems);
        let mut is_known = true;
        for (member, name) in [("resource", &dependency.resource), ("on", &dependency.on)] {
            if !names.contains(name) {
                is_known = false;
                let detail = "the app has no such resource";
                problems.add(
                    &format!("{path}.{member}"),
                    detail,
                    "`Kind/name` of one of the manifests of the app",
                );
            }
        }
        if is_known {
            let (from, to) = (dependency.resource.clone(), dependency.on.clone());
            edges.push(Edge { from, to, path });
        }
    }
    check_cycles("resources", &edges, problems);
}

fn check_count(path: &str, count: usize, max: usize, problems: &mut Problems) {
    if count > max {
        let detail = format!("it has {count} items");
        problems.add(path, detail, format!("at most {max} items"));
    }
}

fn check_wait(path: &str, seconds: u32, problems: &mut Problems) {
    if seconds > WAIT_SECONDS_MAX {
        let detail = format!("{seconds} seconds are too long");
        let expected = format!("at most {WAIT_SECONDS_MAX} seconds");
        problems.add(&format!("{path}.wait-seconds"), detail, expected);
    }
}

/// Adds the dependencies one by one. The first that closes a circle is a problem.
fn check_cycles(what: &str, edges: &[Edge], problems: &mut Problems) {
    let mut waits: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in edges {
        if let Some(way) = way(&waits, &edge.to, &edge.from) {
            let first = [&*edge.from];
            let names: Vec<&str> = first.into_iter().chain(way).collect();
            let detail = format!("the {what} wait for each other: {}", names.join(", "));
            problems.add(&edge.path, detail, "dependencies without a circle");
            return;
        }
        waits.entry(&edge.from).or_default().push(&edge.to);
    }
}

/// A way from one name to another along the dependencies, with both ends.
fn way<'e>(waits: &BTreeMap<&str, Vec<&'e str>>, from: &'e str, to: &str) -> Option<Vec<&'e str>> {
    let mut previous: BTreeMap<&str, &'e str> = BTreeMap::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if name == to {
            let mut way = vec![name];
            let mut at = name;
            while at != from {
                at = previous.get(at)?;
                way.push(at);
            }
            way.reverse();
            return Some(way);
        }
        for next in waits.get(name).into_iter().flatten() {
            if *next != from && !previous.contains_key(next) {
                previous.insert(next, name);
                open.push(next);
            }
        }
    }
    None
}
