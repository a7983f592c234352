//! The memory of objects without an application. A cluster may have millions of them.

use super::*;
use crate::index::entry::Entry;
use crate::uid::Uid;

#[test]
fn an_object_without_application_takes_little_more_memory_than_its_identity() {
    assert!(size_of::<Option<Entry>>() <= 64);
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("one", "", ""));
    cluster.apply("Pod", &object("two", "owner", ""));
    let entries: Vec<&Entry> = cluster
        .index
        .objects
        .iter()
        .map(|(_, entry)| entry)
        .collect();
    let [alone, owned] = &*entries else {
        panic!("{entries:?}");
    };
    assert!(alone.is_identity_alone() && !owned.is_identity_alone());
    assert!(matches!(owned.body(), Body::NotAsked) && owned.labels().is_empty());
    assert_eq!(*owned.owners(), [Uid::of("uid-owner")]);
    assert!(Arc::ptr_eq(&alone.collection, &owned.collection));
}

#[test]
fn an_object_that_left_its_application_takes_no_memory_for_it() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("pod", "", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    cluster.apply("Pod", &object("pod", "", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: "]);
    let entries: Vec<&Entry> = cluster
        .index
        .objects
        .iter()
        .map(|(_, entry)| entry)
        .collect();
    assert!(entries.iter().all(|entry| entry.is_identity_alone()));
    cluster.remove("Pod", &object("pod", "", ""));
    assert_eq!(cluster.index.objects.len(), 0);
    assert!(cluster.index.objects.with_uid(Uid::of("uid-pod")).is_none());
}

#[test]
fn an_object_is_found_by_its_name_and_its_uid_until_its_removal() {
    let mut cluster = Cluster::new(Detail::Whole);
    let name = |number: usize| format!("pod-{number}");
    for number in 0..1000 {
        cluster.apply("Pod", &object(&name(number), "", ""));
    }
    // A Pod that was created again with the same name has another uid.
    let mut created_again = object(&name(7), "", "");
    created_again["uid"] = "anew".into();
    cluster.apply("Pod", &created_again);
    for number in (0..1000).step_by(2) {
        cluster.remove("Pod", &object(&name(number), "", ""));
    }
    let objects = &cluster.index.objects;
    for number in 0..1000 {
        let id = objects.find(2, "web", &name(number));
        assert_eq!(id.is_some(), number % 2 == 1, "{number}");
        let uid = format!("uid-pod-{number}");
        let uid = if number == 7 { "anew" } else { &uid };
        assert_eq!(objects.with_uid(Uid::of(uid)), id);
    }
    assert!(objects.with_uid(Uid::of("uid-pod-7")).is_none());
    assert_eq!(
        (
            objects.len(),
            objects.count_of(2),
            objects.count_in(2, "web")
        ),
        (500, 500, 500)
    );
    assert_eq!((objects.count_of(1), objects.count_in(2, "other")), (0, 0));
}
