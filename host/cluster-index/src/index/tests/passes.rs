//! Passes over a Kind, and the reasons for which objects leave their application.

use super::*;
use kindsight_model::{KindCoverage, KindState};

const PODS: ScopeId = 2;

impl Cluster {
    /// The objects that left an application since the last call, with the reason.
    fn removed(&mut self) -> Vec<String> {
        let reports = self.index.take_reports(&Coverage::default());
        let removed = reports.into_iter().flat_map(|(_, report)| report.removed);
        let removed = removed.map(|(object, reason)| format!("{} {reason:?}", object.name));
        removed.collect()
    }

    /// A pass over the Pods that contains these Pods.
    fn list_pods(&mut self, pods: &[Value]) -> bool {
        self.index.init(PODS);
        for pod in pods {
            self.apply("Pod", pod);
        }
        self.index.init_done(PODS, Removal::Deleted)
    }
}

/// A cluster that reported two Pods of an application.
fn two_pods() -> Cluster {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.list_pods(&[object("one", "", "shop"), object("two", "", "shop")]);
    assert_eq!(cluster.reports().len(), 2);
    cluster
}

#[test]
fn a_pass_that_does_not_end_removes_nothing() {
    let mut cluster = two_pods();
    cluster.index.init(PODS);
    cluster.apply("Pod", &object("one", "", "shop"));
    assert!(cluster.removed().is_empty());
    // The source begins again, and the first part of the pass does not count.
    cluster.list_pods(&[object("two", "", "shop")]);
    assert_eq!(cluster.removed(), ["one Deleted"]);
}

#[test]
fn a_pass_with_an_item_without_identity_removes_nothing() {
    let mut cluster = two_pods();
    assert!(!cluster.list_pods(&[object("one", "", "shop"), json!(7)]));
    assert!(cluster.removed().is_empty());
    assert_eq!(cluster.index.members(), 2);
    assert!(cluster.list_pods(&[object("one", "", "shop")]));
    assert_eq!(cluster.removed(), ["two Deleted"]);
}

#[test]
fn a_removed_object_has_the_reason_of_its_removal() {
    let mut cluster = two_pods();
    let one = object("one", "", "shop");
    cluster.apply("Pod", &object("one", "", ""));
    assert_eq!(cluster.removed(), ["one LeftApplication"]);
    cluster.apply("Pod", &one);
    assert!(cluster.removed().is_empty());
    // It left and returned before the report.
    cluster.apply("Pod", &object("one", "", ""));
    cluster.apply("Pod", &one);
    assert!(cluster.removed().is_empty());
    cluster.remove("Pod", &one);
    assert_eq!(cluster.removed(), ["one Deleted"]);
    cluster.index.remove_kind(PODS);
    assert_eq!(cluster.removed(), ["two KindRemoved"]);
}

#[test]
fn an_object_is_read_again_in_another_version_of_its_kind() {
    let mut pod = object("one", "", "shop");
    pod["resourceVersion"] = json!("7");
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.list_pods(std::slice::from_ref(&pod));
    assert_eq!(cluster.reports(), ["-/shop/-/web one: one"]);
    let kind = ApiKind {
        gvk: Gvk::new("", "v2", "Pod"),
        plural: "pod".to_owned(),
        is_namespaced: true,
    };
    assert_eq!(
        cluster.index.watch(&Arc::new(kind), None, &Labels::None),
        PODS
    );
    cluster.detail = Detail::Metadata;
    cluster.list_pods(std::slice::from_ref(&pod));
    assert!(cluster.reports().is_empty(), "its new form was not read");
    cluster.detail = Detail::Whole;
    cluster.list_pods(std::slice::from_ref(&pod));
    assert_eq!(cluster.reports(), ["-/shop/-/web one: one"]);
}

#[test]
fn the_objects_of_a_deleted_owner_are_deleted_with_it() {
    let mut cluster = Cluster::new(Detail::Whole);
    let front = object("front", "", "shop");
    cluster.apply("Deployment", &front);
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    cluster.remove("Deployment", &front);
    assert_eq!(cluster.removed(), ["pod Deleted", "front Deleted"]);
}

#[test]
fn another_version_of_a_kind_keeps_its_objects_until_its_list_ends() {
    let mut cluster = two_pods();
    let kind = ApiKind {
        gvk: Gvk::new("", "v2", "Pod"),
        plural: "pods".to_owned(),
        is_namespaced: true,
    };
    let scope = cluster.index.watch(&Arc::new(kind), None, &Labels::None);
    assert_eq!(scope, PODS);
    assert!(cluster.removed().is_empty());
    cluster.list_pods(&[object("two", "", "shop")]);
    assert_eq!(cluster.removed(), ["one Deleted"]);
}

#[test]
fn a_kind_that_cannot_be_read_keeps_the_last_body_of_its_objects() {
    let mut cluster = Cluster::new(Detail::Whole);
    let versioned = |version: &str| {
        let mut pod = object("pod", "", "shop");
        pod["resourceVersion"] = version.into();
        pod
    };
    cluster.apply("Pod", &versioned("5"));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    cluster.detail = Detail::Metadata;
    cluster.apply("Pod", &versioned("6"));
    assert!(cluster.reports().is_empty(), "version 6 was not read yet");
    let unavailable = KindCoverage::new(KindState::Unavailable);
    cluster.index.set_coverage(PODS, unavailable, false);
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    let complete = KindCoverage::new(KindState::Complete);
    cluster.index.set_coverage(PODS, complete, true);
    cluster.detail = Detail::Whole;
    let (scope, decoded) = cluster.decoded("Pod", &versioned("6"));
    cluster.index.complete(scope, decoded);
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
}

#[test]
fn an_object_that_has_the_name_of_a_deleted_one_owns_nothing_of_it() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("front", "", "shop"));
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    let mut replaced = object("front", "", "shop");
    replaced["uid"] = "uid-of-another".into();
    cluster.apply("Deployment", &replaced);
    assert_eq!(cluster.removed(), ["pod Deleted"]);
}

#[test]
fn an_object_in_a_new_scope_replaces_the_object_of_its_name_in_the_old_one() {
    let mut cluster = two_pods();
    let kind = ApiKind {
        gvk: Gvk::new("", "v1", "Pod"),
        plural: "pods".to_owned(),
        is_namespaced: true,
    };
    let web = Arc::from("web");
    let scope = cluster
        .index
        .watch(&Arc::new(kind), Some(&web), &Labels::None);
    for name in ["one", "two"] {
        let mut pod = object(name, "", "shop");
        pod["uid"] = "uid-of-another".into();
        if name == "two" {
            pod = object(name, "", "shop");
        }
        let (_, decoded) = cluster.decoded("Pod", &pod);
        cluster.index.init_apply(scope, decoded);
    }
    assert_eq!(cluster.index.members(), 2);
    let mut reports = cluster.reports();
    reports.sort();
    let expected = ["-/shop/-/web one: one", "-/shop/-/web two: two"];
    assert_eq!(reports, expected);
    cluster.index.retain(|scope| scope != PODS, |_, _| false);
    assert!(cluster.removed().is_empty());
}

#[test]
fn objects_of_an_old_scope_remain_until_the_new_scope_is_listed() {
    let mut cluster = two_pods();
    let mut elsewhere = object("three", "", "shop");
    elsewhere["namespace"] = "other".into();
    cluster.apply("Pod", &elsewhere);
    assert_eq!(cluster.reports().len(), 1);
    let is_watched = |scope: ScopeId| scope != PODS;
    let is_awaited =
        |kind: &ApiKind, namespace: &str| *kind.gvk.kind == *"Pod" && namespace == "web";
    cluster.index.retain(is_watched, is_awaited);
    assert_eq!(cluster.removed(), ["three OutOfScope"]);
    assert_eq!(cluster.index.members(), 2);
    cluster.index.retain(is_watched, |_, _| false);
    let mut removed = cluster.removed();
    removed.sort();
    assert_eq!(removed, ["one OutOfScope", "two OutOfScope"]);
}

#[test]
fn a_kind_that_can_be_read_again_holds_up_reports_until_its_objects_are_read() {
    let mut cluster = Cluster::new(Detail::Metadata);
    let forbidden = KindCoverage::new(KindState::Forbidden);
    cluster.apply("Pod", &object("pod", "", "shop"));
    cluster.index.set_coverage(PODS, forbidden, false);
    assert!(cluster.reports().is_empty() && !cluster.index.is_any_waiting());
    let complete = KindCoverage::new(KindState::Complete);
    cluster.index.set_coverage(PODS, complete, true);
    assert!(cluster.reports().is_empty() && cluster.index.is_any_waiting());
    cluster.detail = Detail::Whole;
    let (scope, decoded) = cluster.decoded("Pod", &object("pod", "", "shop"));
    cluster.index.complete(scope, decoded);
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
}
