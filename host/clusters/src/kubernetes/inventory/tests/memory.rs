//! The size of what belongs to no application: there may be millions.

use super::*;
use crate::kubernetes::uid::Uid;

#[test]
fn an_object_that_belongs_to_nobody_is_its_identity_and_little_more() {
    assert!(size_of::<Entry>() <= 112 && size_of::<Key>() <= 40);
    let mut cluster = Cluster::new(Detail::Whole);
    for name in ["one", "two"] {
        cluster.apply("Pod", &object(name, "owner", ""));
    }
    let entries: Vec<(&Key, &Entry)> = cluster.inventory.entries.iter().collect();
    for (_, entry) in &entries {
        assert!(matches!(entry.body, Body::NotAsked) && entry.labels.is_empty());
        assert_eq!(*entry.owners, [Uid::of("uid-owner")]);
    }
    assert!(Arc::ptr_eq(
        &entries[0].0.namespace,
        &entries[1].0.namespace
    ));
}
