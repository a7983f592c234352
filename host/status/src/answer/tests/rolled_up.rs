//! Tests: the resources that determine the readiness of an answer.

use serde_json::json;

use super::*;

#[test]
fn a_degraded_resource_degrades_every_level() {
    let mut edge01 = input("edge01", vec![expected("batch/v1", "CronJob", "backup")]);
    let degraded = verdict(Phase::Degraded, "LastRunFailed", "the run of 05:00 failed");
    let cron_job = object("batch/v1", "CronJob", "default", "backup");
    report(&mut edge01, vec![observed(cron_job, degraded)]);
    let snapshot = vfw_snapshot(vec![app("sink", vec![projected(edge01)])]);
    let answer = ask(&snapshot, &vfw(), &[("type", "cluster")]);
    for level in ["", "/apps/0", "/apps/0/clusters/0"] {
        let readiness = |member| pointer(&answer, &format!("{level}/{member}")).clone();
        assert_eq!(readiness("ready-status"), "Degraded");
        assert_eq!(readiness("ready-phase"), "degraded");
        assert_eq!(readiness("ready-counts"), json!({"degraded": 1}));
    }
    assert_eq!(pointer(&answer, "/cluster-status/Degraded"), 1);
    assert_eq!(
        pointer(&answer, "/ready-reason"),
        "CronJob backup of sink in vfw-cluster-provider+edge01 is Degraded (LastRunFailed)"
    );
}

#[test]
fn a_failed_pod_fails_its_app_only_if_it_is_selected_alone() {
    let on_edge01 = ("cluster", "vfw-cluster-provider+edge01");
    let answer = ask(
        &sink(),
        &vfw(),
        &[
            ("type", "cluster"),
            on_edge01,
            ("resource", "sink-service"),
            ("resource", "fw0-sink-5d5c"),
        ],
    );
    assert_eq!(pointer(&answer, "/ready-status"), "Ready");
    assert_eq!(pointer(&answer, "/cluster-status/Failed"), 1);
    let answer = ask(
        &sink(),
        &vfw(),
        &[
            ("type", "cluster"),
            on_edge01,
            ("resource", "fw0-sink-5d5c"),
        ],
    );
    assert_eq!(pointer(&answer, "/ready-status"), "Failed");
    assert_eq!(
        pointer(&answer, "/ready-reason"),
        "Pod fw0-sink-5d5c of sink in vfw-cluster-provider+edge01 is Failed (Evicted)"
    );
}

#[test]
fn a_terminated_application_without_resources_is_terminated() {
    let apps = vfw_apps(&["edge01", "edge02"], RsyncStatus::Deleted);
    let snapshot = snapshot(
        &vfw(),
        vfw_record(),
        vec![context(SECOND, "Terminated", apps)],
    );
    let answer = ask(&snapshot, &vfw(), &[("type", "cluster")]);
    assert_eq!(pointer(&answer, "/ready-status"), "Terminated");
    assert_eq!(pointer(&answer, "/ready-phase"), "not-present");
    assert_eq!(
        pointer(&answer, "/apps/0/clusters/1/ready-status"),
        "Terminated"
    );
    assert_eq!(
        pointer(&answer, "/ready-reason"),
        "all resources were removed as requested"
    );
}

/// A Job that succeeded although one of its Pods failed, a Pod without an owner, and a Pod whose owner is not
/// in the report. No resource was sent.
fn unsent(orphan: Phase) -> Snapshot {
    let pod = |name: &str, owners: &[(&str, &str, &str)], phase| {
        let pod = owned(("Pod", "default", name, ""), owners);
        observed(pod, verdict(phase, "", ""))
    };
    let mut edge01 = input("edge01", Vec::new());
    let job = owned(("Job", "default", "warmup", "1"), &[]);
    let observed = vec![
        pod("warmup-a", &[("Job", "warmup", "1")], Phase::Failed),
        observed(job, verdict(Phase::Ready, "", "")),
        pod("orphan", &[], orphan),
        pod("web-a", &[("ReplicaSet", "web", "2")], Phase::Pending),
    ];
    report(&mut edge01, observed);
    vfw_snapshot(vec![app("sink", vec![projected(edge01)])])
}

#[test]
fn a_child_is_counted_by_state_but_only_its_owner_is_rolled_up() {
    let ask = |names: &[&str]| {
        let names = names.iter().map(|name| ("resource", *name));
        let pairs: Vec<_> = names.chain([("type", "cluster")]).collect();
        let answer = ask(&unsent(Phase::Ready), &vfw(), &pairs);
        let member = |name| pointer(&answer, name).clone();
        (
            member("/ready-phase"),
            member("/ready-counts"),
            member("/cluster-status"),
        )
    };
    let all = json!({"Ready": 2, "Failed": 1, "Pending": 1});
    let of_all = (json!("pending"), json!({"ready": 2, "pending": 1}), all);
    assert_eq!(ask(&[]), of_all);
    let both = json!({"Ready": 1, "Failed": 1});
    let of_both = (json!("ready"), json!({"ready": 1}), both);
    assert_eq!(ask(&["warmup", "warmup-a"]), of_both);
    let of_child = (json!("failed"), json!({"failed": 1}), json!({"Failed": 1}));
    assert_eq!(ask(&["warmup-a"]), of_child);
}

#[test]
fn an_orphan_is_rolled_up() {
    let answer = ask(&unsent(Phase::Failed), &vfw(), &[("type", "cluster")]);
    for level in ["", "/apps/0", "/apps/0/clusters/0"] {
        let reason = pointer(&answer, &format!("{level}/ready-reason"));
        assert_eq!(
            reason,
            "Pod orphan of sink in vfw-cluster-provider+edge01 is Failed"
        );
    }
    let resources = pointer(&answer, "/apps/0/clusters/0/resources");
    let owners = resources.as_array().unwrap().iter();
    let owners: Vec<_> = owners
        .filter_map(|resource| resource.get("owner"))
        .collect();
    let job = json!({
        "GVK": {"Group": "", "Version": "v1", "Kind": "Job"},
        "name": "warmup",
        "namespace": "default",
    });
    assert_eq!(owners, [&job]);
}
