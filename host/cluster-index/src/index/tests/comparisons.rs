//! Comparisons with consistent lists.

use super::*;

fn list(cluster: &Cluster, version: u64, names: &[(&str, u64)]) -> ConsistentList {
    let mut list = ConsistentList::new(2, Some("web".into()));
    list.version = version;
    for (name, version) in names {
        let pod = json!({"namespace": "web", "name": name, "uid": name,
            "resourceVersion": version.to_string()});
        list.add(cluster.decoded("Pod", &pod).1);
    }
    list
}

#[test]
fn objects_that_are_missing_older_or_deleted_before_the_list_differ() {
    let mut cluster = Cluster::new(Detail::Metadata);
    for (namespace, name, version) in [("web", "a", "5"), ("web", "b", "9"), ("other", "c", "3")] {
        let pod =
            json!({"namespace": namespace, "name": name, "uid": name, "resourceVersion": version});
        cluster.apply("Pod", &pod);
    }
    let older = |version: u64, names: &[(&str, u64)]| {
        let list = list(&cluster, version, names);
        let older = cluster.index.older_than(&list);
        older.map(|(_, name)| name.to_string())
    };
    assert_eq!(older(9, &[("a", 5), ("b", 9)]), None);
    // The index has a later version, and an object that was created after the list.
    assert_eq!(older(8, &[("a", 4)]), None);
    assert_eq!(older(9, &[("a", 6), ("b", 9)]).as_deref(), Some("a"));
    assert_eq!(older(9, &[("a", 5)]).as_deref(), Some("b"));
    let missing = older(12, &[("a", 5), ("b", 9), ("d", 12)]);
    assert_eq!(missing.as_deref(), Some("d"));
    // An object of the name that was created again counts only if it is newer than the list.
    let mut again = list(&cluster, 9, &[("b", 9)]);
    let other = json!({"namespace": "web", "name": "a", "uid": "other", "resourceVersion": "8"});
    again.add(cluster.decoded("Pod", &other).1);
    let older = cluster.index.older_than(&again);
    assert_eq!(older.map(|(_, name)| name).as_deref(), Some("a"));
}
