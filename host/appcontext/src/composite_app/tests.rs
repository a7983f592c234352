//! Handles of all levels, and what several writers do to each other.

use std::thread;

use kindsight_model::{ClusterName, RsyncStatus};
use kindsight_store::RedbStore;

use super::*;
use crate::{
    AppContexts, AppDependency, AppOrder, DependsOn, Error, Json, ResourceDependency, ResourceName,
    ResourceOrder,
};

fn stage() -> (AppContexts, CompositeApp) {
    let contexts = AppContexts::new(Arc::new(RedbStore::in_memory().unwrap()));
    let context = contexts.create_composite_app().unwrap();
    (contexts, context)
}

fn edge() -> ClusterName {
    "p+edge".parse().unwrap()
}

fn pod(name: &str) -> ResourceName {
    ResourceName::new(name, "Pod").unwrap()
}

fn missing<T>(outcome: Result<T>) -> bool {
    outcome.is_err_and(|error| matches!(error, Error::NotFound { .. }))
}

/// The entries below a context, without its root.
fn dump(context: &CompositeApp) -> Vec<(String, String)> {
    let range = context.handle.store.range(context.key()).unwrap();
    let below = |key: &str| key.strip_prefix(context.key()).unwrap().to_owned();
    let text = |value| String::from_utf8(value).unwrap();
    let entries = range.entries.into_iter().skip(1);
    entries
        .map(|entry| (below(&entry.key), text(entry.value)))
        .collect()
}

#[test]
fn what_does_not_exist_is_told_at_each_level() {
    let (contexts, context) = stage();
    assert!(missing(contexts.load(&"1".parse().unwrap())));
    assert!(missing(context.app("a")));
    let app = context.add_app("a").unwrap();
    assert!(missing(app.cluster(&edge())));
    let cluster = app.add_cluster(&edge()).unwrap();
    assert!(missing(cluster.resource(&pod("x"))));
    let resource = cluster.add_resource(&pod("x"), "yaml").unwrap();
    assert!(contexts.delete(context.id()).unwrap());
    assert!(missing(context.add_app("b")));
    assert!(missing(app.add_cluster(&edge())));
    assert!(missing(cluster.add_resource(&pod("y"), "")));
    assert!(missing(context.stop_flag().set(&true)));
    assert!(missing(
        resource.manifest().update(|_| Some("new".to_owned()))
    ));
    assert!(missing(
        resource.status().update(|_| Some(RsyncStatus::Applied))
    ));
    assert!(missing(cluster.group().delete()));
    for deleted in [
        context.delete(),
        app.delete(),
        cluster.delete(),
        resource.delete(),
    ] {
        assert!(!deleted.unwrap());
    }
    assert_eq!(context.all_keys().unwrap(), [""; 0]);
}

#[test]
fn what_is_there_already_is_added_again_only_with_the_same_value() {
    let (_, context) = stage();
    context.add_app("a").unwrap();
    let app = context.add_app("a").unwrap();
    let cluster = app.add_cluster(&edge()).unwrap();
    cluster.add_resource(&pod("x"), "one").unwrap();
    cluster.add_resource(&pod("x"), "one").unwrap();
    let other = cluster.add_resource(&pod("x"), "two").err();
    assert!(matches!(other, Some(Error::Exists { key }) if key.ends_with("/x+Pod/")));
    assert_eq!(context.apps().unwrap(), ["a"]);
    assert_eq!(app.clusters().unwrap(), [edge()]);
    assert_eq!(cluster.resources().unwrap(), [pod("x")]);
}

#[test]
fn a_deleted_app_is_taken_out_of_the_instructions() {
    let (_, context) = stage();
    for name in ["a", "b", "c"] {
        context.add_app(name).unwrap();
    }
    context
        .app_order()
        .set(&AppOrder::new(["b", "a", "c"]))
        .unwrap();
    let all = AppsDependency::go(["a", "b", "c"]).unwrap();
    context.app_dependency().set(&all).unwrap();
    let waits = |apps: &[&str]| AppDependency {
        apps: apps
            .iter()
            .map(|app| DependsOn::new(*app, "Ready", 1))
            .collect(),
    };
    let [b, c] = ["b", "c"].map(|name| context.app(name).unwrap());
    b.dependency().set(&waits(&["a", "c"])).unwrap();
    c.dependency().set(&waits(&["b"])).unwrap();
    assert!(context.app("a").unwrap().delete().unwrap());
    assert_eq!(context.apps().unwrap(), ["b", "c"]);
    let order = context.app_order().get().unwrap().unwrap();
    assert_eq!(order.apps, ["b", "c"]);
    let all = context.app_dependency().get().unwrap().unwrap();
    assert_eq!(all.word("a"), None);
    assert_eq!(all.word("b").as_deref(), Some("go"));
    let waiting = b.dependency().get().unwrap().unwrap();
    assert_eq!(waiting.apps.len(), 1);
    assert_eq!(c.dependency().get().unwrap().unwrap().apps.len(), 1);
}

#[test]
fn a_deleted_resource_is_taken_out_of_the_instructions() {
    let (_, context) = stage();
    let cluster = context.add_app("a").unwrap().add_cluster(&edge()).unwrap();
    let [x, y] = ["x", "y"].map(|name| cluster.add_resource(&pod(name), name).unwrap());
    x.status().set(&RsyncStatus::Applied).unwrap();
    cluster
        .resource_order()
        .set(&ResourceOrder::new(["y+Pod", "x+Pod"]))
        .unwrap();
    let go = ResourceDependency::go(["x+Pod", "y+Pod"]).unwrap();
    cluster.resource_dependency().set(&go).unwrap();
    assert!(x.delete().unwrap());
    assert_eq!(cluster.resources().unwrap(), [pod("y")]);
    let order = cluster.resource_order().get().unwrap().unwrap();
    assert_eq!(order.resources, ["y+Pod"]);
    let dependency = cluster.resource_dependency().get().unwrap().unwrap();
    assert_eq!(dependency.word("x+Pod"), None);
    assert!(cluster.delete().unwrap());
    assert!(!y.delete().unwrap());
    assert_eq!(dump(&context), [("app/a/".to_owned(), "\"a\"".to_owned())]);
}

#[test]
fn values_of_levels_that_are_not_known_are_kept() {
    let (_, context) = stage();
    let queue = context.level_value("rsync/AppContextEventQueue").unwrap();
    let text = r#"{"AcQueue": [{"event":"Update","x":1.50}]}"#;
    queue.set(&Json::new(text).unwrap()).unwrap();
    assert_eq!(queue.get().unwrap().unwrap().as_str(), text);
    let cluster = context.add_app("a").unwrap().add_cluster(&edge()).unwrap();
    let resource = cluster.add_resource(&pod("x"), "y").unwrap();
    resource
        .approval()
        .set(&Json::of("<yes>").unwrap())
        .unwrap();
    let dumped = dump(&context);
    let last = dumped
        .iter()
        .find(|entry| entry.0.ends_with("x+Pod/subresource/approval/"));
    assert_eq!(last.unwrap().1, r#""\u003cyes\u003e""#);
    for wrong in ["", "/", "a//b", "a/", "a\n"] {
        assert!(matches!(
            context.level_value(wrong),
            Err(Error::Name { .. })
        ));
    }
    assert!(Json::new("{").is_err());
}

#[test]
fn two_writers_never_lose_an_update_of_each_other() {
    const EACH: usize = 40;
    let (_, context) = stage();
    thread::scope(|scope| {
        for writer in 0..4 {
            let order = context.app_order();
            scope.spawn(move || {
                for number in 0..EACH {
                    let add = |order: Option<AppOrder>| {
                        let mut order = order.unwrap_or_default();
                        order.apps.push(format!("{writer}-{number}"));
                        Some(order)
                    };
                    // All of the others may be faster more often than is tried.
                    while let Err(error) = order.update(add) {
                        assert!(matches!(error, Error::Contended { .. }), "{error}");
                    }
                }
            });
        }
    });
    let mut apps = context.app_order().get().unwrap().unwrap().apps;
    apps.sort();
    apps.dedup();
    assert_eq!(apps.len(), 4 * EACH);
}

#[test]
fn a_damaged_value_is_told_with_its_key_and_left_alone() {
    let (_, context) = stage();
    let batch = kindsight_store::Batch::new().put(context.app_order().key(), "[1]");
    context.handle.store.apply(&batch).unwrap();
    let outcome = context.app_order().update(|_| Some(AppOrder::default()));
    let Err(Error::Unreadable { key, .. }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(key, context.app_order().key());
    context.add_app("a").unwrap();
    let deleted = context.app("a").unwrap().delete();
    assert!(matches!(deleted, Err(Error::Unreadable { .. })));
    assert_eq!(context.apps().unwrap(), ["a"]);
}
