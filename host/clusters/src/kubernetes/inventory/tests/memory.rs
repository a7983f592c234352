//! The size of what belongs to no application: there may be millions.

use super::*;
use crate::kubernetes::inventory::entry::Entry;
use crate::kubernetes::uid::Uid;

#[test]
fn an_object_that_belongs_to_nobody_is_its_identity_and_little_more() {
    assert!(size_of::<Option<Entry>>() <= 64);
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("one", "", ""));
    cluster.apply("Pod", &object("two", "owner", ""));
    let entries: Vec<&Entry> = cluster.inventory.objects.iter().map(|(_, it)| it).collect();
    let [alone, owned] = &*entries else {
        panic!("{entries:?}");
    };
    assert!(alone.is_identity_alone() && !owned.is_identity_alone());
    assert!(matches!(owned.body(), Body::NotAsked) && owned.labels().is_empty());
    assert_eq!(*owned.owners(), [Uid::of("uid-owner")]);
    assert!(Arc::ptr_eq(&alone.collection, &owned.collection));
}

#[test]
fn what_is_of_no_application_any_more_is_held_as_if_it_had_never_been() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("pod", "", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    cluster.apply("Pod", &object("pod", "", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: "]);
    let entries: Vec<&Entry> = cluster.inventory.objects.iter().map(|(_, it)| it).collect();
    assert!(entries.iter().all(|it| it.is_identity_alone()));
    cluster.remove("Pod", &object("pod", "", ""));
    assert_eq!(cluster.inventory.objects.len(), 0);
    assert!(
        cluster
            .inventory
            .objects
            .with_uid(Uid::of("uid-pod"))
            .is_none()
    );
}

#[test]
fn an_object_is_found_by_its_name_and_its_uid_until_it_goes() {
    let mut cluster = Cluster::new(Detail::Whole);
    let name = |number: usize| format!("pod-{number}");
    for number in 0..1000 {
        cluster.apply("Pod", &object(&name(number), "", ""));
    }
    // A Pod that was made anew under its name has another uid.
    let mut anew = object(&name(7), "", "");
    anew["uid"] = "anew".into();
    cluster.apply("Pod", &anew);
    for number in (0..1000).step_by(2) {
        cluster.remove("Pod", &object(&name(number), "", ""));
    }
    let objects = &cluster.inventory.objects;
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
