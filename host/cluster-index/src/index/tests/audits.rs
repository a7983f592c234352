//! Comparisons with pages of lists.

use super::*;

fn pod(namespace: &str, name: &str, version: u64) -> Value {
    json!({"namespace": namespace, "name": name, "uid": name, "resourceVersion": version.to_string()})
}

/// A page of Pods of the namespace `web` at a version.
fn page(cluster: &Cluster, version: u64, pods: &[(&str, u64)], has_more: bool) -> ListedPage {
    page_after(cluster, None, (version, has_more), pods)
}

fn page_after(
    cluster: &Cluster,
    after: Option<&str>,
    (version, has_more): (u64, bool),
    pods: &[(&str, u64)],
) -> ListedPage {
    let after = after.map(|name| ("web".into(), name.into()));
    let mut page = ListedPage::new(2, after);
    for (name, version) in pods {
        page.add(cluster.decoded("Pod", &pod("web", name, *version)).1);
    }
    page.end(version, has_more);
    page
}

fn texts(cluster: &Cluster, page: &ListedPage) -> Vec<String> {
    let differences = cluster.index.differences(page);
    let mut texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    texts.sort();
    texts
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new(Detail::Metadata);
    for (namespace, name, version) in [
        ("web", "a", 5),
        ("web", "b", 9),
        ("web", "c", 7),
        ("web-1", "d", 3),
    ] {
        cluster.apply("Pod", &pod(namespace, name, version));
    }
    cluster
}

#[test]
fn only_objects_in_the_range_of_the_page_that_are_not_newer_differ() {
    let cluster = cluster();
    let all = [("a", 5), ("b", 9), ("c", 7)];
    // The namespace `web-1` sorts before `web`, because `-` sorts before `/`.
    assert_eq!(
        texts(&cluster, &page(&cluster, 9, &all, true)),
        ["web-1/d was deleted"]
    );
    let rest = page_after(&cluster, Some("a"), (9, false), &[("b", 9), ("c", 7)]);
    assert_eq!(texts(&cluster, &rest), [""; 0]);
    // The index has a version after the list.
    let older = page_after(&cluster, Some("a"), (8, true), &[("b", 6), ("c", 7)]);
    assert_eq!(texts(&cluster, &older), [""; 0]);
    let newer = page_after(
        &cluster,
        Some("a"),
        (12, true),
        &[("b", 11), ("bb", 12), ("c", 6)],
    );
    let expected = [
        "web/b has another version",
        "web/bb is missing",
        "web/c has another version",
    ];
    assert_eq!(texts(&cluster, &newer), expected);
    // An object after the last one of the page is in another page.
    let first = page_after(&cluster, Some("a"), (9, true), &[("b", 9)]);
    assert_eq!(texts(&cluster, &first), [""; 0]);
    let last = page_after(&cluster, Some("a"), (9, false), &[("b", 9)]);
    assert_eq!(texts(&cluster, &last), ["web/c was deleted"]);
}

#[test]
fn a_difference_is_confirmed_by_a_later_list_with_the_same_state() {
    let cluster = cluster();
    let listed = page_after(
        &cluster,
        Some("a"),
        (20, false),
        &[("b", 12), ("c", 7), ("e", 13)],
    );
    let differences = cluster.index.differences(&listed);
    let later = |pods: &[(&str, u64)]| {
        let mut list = ConsistentList::new(2, None);
        for (name, version) in pods {
            list.add(cluster.decoded("Pod", &pod("web", name, *version)).1);
        }
        let confirmed = differences.iter().filter(|it| it.is_confirmed_by(&list));
        let mut confirmed: Vec<String> = confirmed.map(ToString::to_string).collect();
        confirmed.sort();
        confirmed
    };
    let both = ["web/b has another version", "web/e is missing"];
    assert_eq!(later(&[("b", 12), ("e", 13)]), both);
    // One object changed again, and the other one was deleted.
    assert_eq!(later(&[("b", 21)]), [""; 0]);
}
