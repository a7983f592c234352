use serde_json::{Value, json};

use super::*;

const ANY: Wanted = Wanted {
    goal: None,
    restarts_max: None,
};

const fn wanted(goal: Goal) -> Wanted {
    Wanted {
        goal: Some(goal),
        ..ANY
    }
}

fn standing(wanted: Wanted, more: &Value) -> Standing {
    let mut status = json!({"name": "web", "state": {"Actions": []}});
    let members = more.as_object().unwrap().clone();
    status.as_object_mut().unwrap().extend(members);
    wanted.standing(&serde_json::from_str(&status.to_string()).unwrap())
}

/// A resource with this phase and reason, and further members.
fn resource(kind: &str, phase: &str, reason: &str, more: &Value) -> Value {
    let group = if kind == "CronJob" { "batch" } else { "" };
    let mut resource = json!({
        "GVK": {"Group": group, "Version": "v1", "Kind": kind}, "name": "x",
        "phase": phase, "cluster-status": phase, "reason": reason,
    });
    let members = more.as_object().unwrap().clone();
    resource.as_object_mut().unwrap().extend(members);
    resource
}

/// The standing of an application with this phase and these resources.
fn standing_of(wanted: Wanted, phase: &str, resources: &[Value]) -> Standing {
    let clusters = json!([{"cluster-provider": "k", "cluster": "a", "resources": resources}]);
    let apps = json!([{"name": "front", "clusters": clusters}]);
    standing(wanted, &json!({"ready-phase": phase, "apps": apps}))
}

fn why(standing: &Standing) -> &str {
    match standing {
        Standing::Waiting(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ready_and_failed_end_the_waiting_unless_anything_casts_doubt_on_it() {
    let ready = json!({"ready-status": "Ready", "ready-phase": "ready"});
    let present = json!({"ready-status": "Present", "ready-phase": "present"});
    let failed = json!({"ready-phase": "failed", "ready-reason": "Pod x is Failed"});
    let stale = "2026-11-22T10:00:00Z";
    for wanted in [ANY, wanted(Goal::Ready)] {
        assert_eq!(standing(wanted, &ready), Standing::Reached);
        assert_eq!(standing(wanted, &present), Standing::Reached);
        assert_eq!(
            standing(wanted, &failed),
            Standing::Failed("Pod x is Failed".to_owned())
        );
        for doubtful in [
            json!({"ready-phase": "ready", "stale-since": stale, "stale-reason": "away"}),
            json!({"ready-phase": "failed", "stale-since": stale, "stale-reason": "away"}),
            json!({"ready-phase": "ready", "faults": ["cut"]}),
            json!({"message": "it was never instantiated"}),
            json!({"ready-phase": "suspended"}),
            json!({"ready-phase": "unknown"}),
            json!({"ready-phase": "not-present"}),
        ] {
            let standing = standing(wanted, &doubtful);
            assert!(matches!(standing, Standing::Waiting(_)), "{standing:?}");
        }
    }
}

#[test]
fn only_the_past_degrades_a_ready_application() {
    let none = json!({});
    let (unsent, child) = (
        json!({"expected": false}),
        json!({"expected": false, "owner": {"GVK": {"Group": "apps", "Version": "v1", "Kind": "Deployment"}, "name": "y"}}),
    );
    let restarted = resource("Deployment", "degraded", "RecentRestarts", &none);
    let ready = resource("Service", "ready", "", &none);
    let cron_job = |reason| resource("CronJob", "degraded", reason, &none);
    let pressed = |more| resource("Pod", "degraded", "MemoryPressure", more);
    let suspended = resource("CronJob", "suspended", "Suspended", &none);
    for (resources, is_ready) in [
        (vec![restarted.clone(), ready.clone()], true),
        (vec![cron_job("LastRunFailed"), restarted.clone()], true),
        (vec![cron_job("BackoffLimitExceeded")], true),
        (vec![cron_job("RunsSkipped")], true),
        // The second and third Pod do not decide.
        (
            vec![restarted.clone(), pressed(&unsent), pressed(&child)],
            true,
        ),
        (
            vec![
                resource("Pod", "degraded", "RecentRestarts", &unsent),
                pressed(&child),
            ],
            true,
        ),
        (vec![restarted.clone(), pressed(&none)], false),
        (
            vec![
                resource("Pod", "degraded", "RecentRestarts", &unsent),
                pressed(&unsent),
            ],
            false,
        ),
        (vec![restarted.clone(), suspended], false),
        (vec![cron_job("ScheduleMissed")], false),
        (vec![cron_job("ImagePullBackOff")], false),
        (
            vec![resource("Job", "degraded", "BackoffLimitExceeded", &none)],
            false,
        ),
    ] {
        let standing = standing_of(wanted(Goal::Ready), "degraded", &resources);
        assert_eq!(standing == Standing::Reached, is_ready, "{resources:#?}");
        let strict = standing_of(ANY, "degraded", &resources);
        assert!(matches!(strict, Standing::Waiting(_)), "{strict:?}");
    }
}

#[test]
fn present_is_every_sent_resource_in_any_phase() {
    let present = wanted(Goal::Present);
    let (none, unsent) = (json!({}), json!({"expected": false}));
    let hook = json!({"hook": true});
    let failed = resource("Pod", "failed", "Evicted", &none);
    let existing = [
        failed.clone(),
        resource("Service", "unknown", "SpecNotReported", &none),
        resource("Job", "terminating", "", &none),
        resource("Pod", "not-present", "Gone", &unsent),
        resource("Job", "not-present", "NotInReport", &hook),
    ];
    assert_eq!(standing_of(present, "failed", &existing), Standing::Reached);
    for (phase, reason) in [
        ("not-present", "NotInReport"),
        ("unknown", "NoReportYet"),
        ("unknown", "NotReported"),
        ("unknown", "Unreadable"),
    ] {
        let resources = [failed.clone(), resource("Service", phase, reason, &none)];
        let standing = standing_of(present, "failed", &resources);
        let expected = format!("Service x of front in k+a is {phase} ({reason})");
        assert_eq!(why(&standing), expected);
    }
    let standing = standing_of(present, "ready", &[resource("Pod", "ready", "", &unsent)]);
    assert_eq!(why(&standing), "no resource was sent to its clusters");
}

#[test]
fn terminated_is_without_any_resource_and_failed_does_not_end_the_waiting() {
    let terminated = wanted(Goal::Terminated);
    let (none, unsent) = (json!({}), json!({"expected": false}));
    let gone = [
        resource("Service", "not-present", "NotInReport", &none),
        resource("Pod", "not-present", "Gone", &unsent),
    ];
    assert_eq!(
        standing_of(terminated, "not-present", &gone),
        Standing::Reached
    );
    for (phase, reason, more) in [
        ("failed", "Evicted", &none),
        ("terminating", "Finalizers", &unsent),
        ("unknown", "NotReported", &none),
    ] {
        let left = [gone[0].clone(), resource("Pod", phase, reason, more)];
        let standing = standing_of(terminated, phase, &left);
        let expected = format!("Pod x of front in k+a is {phase} ({reason})");
        assert_eq!(why(&standing), expected);
    }
    let empty = standing_of(terminated, "unknown", &[]);
    assert_eq!(why(&empty), "none of its resources is known");
    let never = json!({"message": "it was never instantiated"});
    let never = standing(terminated, &never);
    assert_eq!(why(&never), "it was never instantiated");
}

#[test]
fn a_container_that_restarts_too_often_fails_every_wait() {
    let pod = |phase| {
        let more = json!({"expected": false, "restarts": 4});
        [
            resource("Deployment", "ready", "", &json!({})),
            resource("Pod", phase, "", &more),
        ]
    };
    let restarts = |max, phase| {
        let wanted = Wanted {
            restarts_max: Some(max),
            ..ANY
        };
        standing_of(wanted, "ready", &pod(phase))
    };
    let why = "a container of Pod x of front in k+a restarted 4 times, and --max-restarts is 3";
    assert_eq!(restarts(3, "ready"), Standing::Failed(why.to_owned()));
    assert_eq!(restarts(4, "ready"), Standing::Reached);
    for leaving in ["terminating", "not-present"] {
        assert_eq!(restarts(0, leaving), Standing::Reached);
    }
}

#[test]
fn a_store_that_is_away_ends_no_wait() {
    let away = json!({"state": "away", "reason": "etcd-0:2379: connection refused"});
    for phase in ["ready", "failed"] {
        for member in ["store", "state-store"] {
            let standing = standing(ANY, &json!({"ready-phase": phase, member: away}));
            let expected = "a store cannot be reached: etcd-0:2379: connection refused";
            assert_eq!(why(&standing), expected, "{member}");
        }
    }
}
