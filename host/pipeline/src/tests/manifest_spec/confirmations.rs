//! Changed manifests: the status must change before it counts.

use std::time::Duration;

use super::*;
use crate::{GONE_FOR, Timeouts};

/// A timeout of ten minutes, in milliseconds.
const END_MS: i64 = 600_000;
const BELOW: &str = "app/a/cluster/p+c/resource/front+Deployment/";

/// The manifest of the Deployment with two replicas and this image.
fn with_image(image: &str) -> Value {
    let mut manifest = manifest(2);
    manifest["spec"]["template"] = json!({"spec": {"containers": [{"image": image}]}});
    manifest
}

/// The Deployment after its controller observed another generation.
fn observed(generation: i64) -> Value {
    let mut object = without_spec(2);
    object["metadata"]["generation"] = json!(generation);
    object["status"]["observedGeneration"] = json!(generation);
    object
}

/// The Deployment as a later monitor reports it: with the first spec, and without the generation.
fn with_old_spec() -> Value {
    let mut object = without_spec(2);
    object["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("generation");
    object["spec"] = json!({"replicas": 2});
    object
}

impl Stage {
    /// Waits of changed manifests end after [`END_MS`].
    fn set_timeout(&mut self) {
        self.pipeline.set_timeouts(Timeouts {
            confirmation: Some(Duration::from_millis(END_MS.unsigned_abs())),
            ..Timeouts::default()
        });
    }

    /// The orchestrator replaces the manifest in a context.
    fn rewrite(&mut self, id: &str, manifest: &Value, now_ms: i64) {
        let text = Value::String(manifest.to_string()).to_string();
        self.write(id, BELOW, &text, now_ms);
    }

    fn write(&mut self, id: &str, key: &str, json: &str, now_ms: i64) {
        let batch = Batch::new().put(format!("/context/{id}/{key}"), json);
        self.store.apply(&batch).unwrap();
        self.follow_stores(now_ms);
    }

    /// The orchestrator writes the first keys of another instance of the group.
    fn begin_instance(&mut self, id: &str, manifest: &Value) {
        let contexts = AppContexts::new(Arc::clone(&self.store));
        let mut new = context(&["a"]);
        new.apps[0].clusters[0].resources = vec![resource(manifest)];
        contexts.create_as(&id.parse().unwrap(), &new).unwrap();
        self.write(id, "statusappctxid/", "\"1\"", 1000);
    }

    fn set_status(&mut self, id: &str, status: &str) {
        let json = json!({"Status": status}).to_string();
        self.write(id, "status/", &json, 1000);
    }

    /// State and reason of the Deployment in a context.
    fn state_of(&self, id: &str) -> (String, String) {
        let view = self.view(id);
        let resources = view.apps[0].clusters()[0].resources();
        let verdict = &resources.first().unwrap().verdict;
        (verdict.state.to_string(), verdict.reason.to_string())
    }
}

/// The Deployment with a status that names the observed generation only in a condition.
fn observed_in_a_condition() -> Value {
    let mut object = without_generation();
    object["status"]["conditions"][0]["observedGeneration"] = json!(1);
    object
}

fn pending() -> (String, String) {
    ("Pending".to_owned(), "NotConfirmed".to_owned())
}

fn ready() -> (String, String) {
    ("Ready".to_owned(), "Available".to_owned())
}

#[test]
fn a_changed_manifest_waits_for_another_status() {
    for reported in [without_spec(2), with_old_spec()] {
        let mut stage = stage();
        stage.report(&reported);
        assert_eq!(stage.state_of(ID), ready());
        stage.rewrite(ID, &with_image("v2"), 1000);
        assert_eq!(stage.state_of(ID), pending());
        // The monitor repeats its report, with other metadata.
        let mut repeated = reported.clone();
        repeated["metadata"]["labels"] = json!({"a": "b"});
        stage.report(&repeated);
        assert_eq!(stage.state_of(ID), pending());
        stage.report(&observed(2));
        assert_eq!(stage.state_of(ID), ready());
        // The wait is over, also if the earlier status returns.
        stage.report(&reported);
        assert_eq!(stage.state_of(ID), ready());
    }
}

#[test]
fn any_other_status_confirms_a_manifest() {
    let mut stage = stage();
    stage.report(&without_spec(2));
    stage.rewrite(ID, &with_image("v2"), 1000);
    stage.report(&without_spec(1));
    let state = stage.state_of(ID);
    assert_eq!(state, ("Pending".to_owned(), "Unavailable".to_owned()));
}

#[test]
fn a_manifest_with_the_same_spec_does_not_wait() {
    let mut stage = stage();
    stage.report(&without_spec(2));
    let mut labelled = manifest(2);
    labelled["metadata"]["labels"] = json!({"a": "b"});
    stage.rewrite(ID, &labelled, 1000);
    assert_eq!(stage.state_of(ID), ready());
}

#[test]
fn an_object_with_a_current_spec_does_not_wait() {
    let mut stage = stage();
    let mut whole = without_spec(2);
    whole["spec"] = json!({"replicas": 2});
    stage.report(&whole);
    stage.rewrite(ID, &with_image("v2"), 1000);
    assert_eq!(stage.state_of(ID), ready());
}

/// The Deployment with a status that does not name the observed generation.
fn without_generation() -> Value {
    let mut object = without_spec(2);
    let status = object["status"].as_object_mut().unwrap();
    status.remove("observedGeneration");
    object
}

#[test]
fn a_timeout_of_confirmations_begins_when_the_manifest_is_applied() {
    let mut stage = stage();
    stage.set_timeout();
    stage.report(&without_generation());
    stage.send(RsyncStatus::Pending);
    stage.rewrite(ID, &with_image("v2"), 1000);
    assert_eq!(stage.state_of(ID), pending());
    // The time does not begin before the manifest is applied.
    stage.recheck(1000 + END_MS);
    assert_eq!(stage.state_of(ID), pending());
    // At 100.
    stage.send(RsyncStatus::Applied);
    assert_eq!(stage.recheck(1000), Some(100 + END_MS));
    assert_eq!(stage.state_of(ID), pending());
    stage.recheck(100 + END_MS);
    assert_ne!(stage.state_of(ID), pending());
}

#[test]
fn an_object_that_disappears_has_no_timeout_and_waits_on() {
    let mut stage = stage();
    stage.set_timeout();
    stage.report(&without_generation());
    stage.rewrite(ID, &with_image("v2"), 1000);
    assert_eq!(stage.recheck(1000), Some(1000 + END_MS));
    stage.report_of("a", &json!({"deploymentStatuses": []}));
    assert_eq!(stage.recheck(1000), None);
    // It is created again with its earlier status.
    stage.report(&without_generation());
    assert_eq!(stage.state_of(ID), pending());
    stage.recheck(1000 + END_MS);
    assert_ne!(stage.state_of(ID), pending());
}

#[test]
fn a_timeout_does_not_confirm_a_status_with_a_generation() {
    for reported in [without_spec(2), observed_in_a_condition()] {
        let mut stage = stage();
        stage.set_timeout();
        stage.report(&reported);
        stage.rewrite(ID, &with_image("v2"), 1000);
        assert_eq!(stage.recheck(1000), None);
        stage.recheck(1000 + 2 * END_MS);
        assert_eq!(stage.state_of(ID), pending());
    }
}

#[test]
fn a_wait_has_no_end_by_default() {
    for reported in [
        without_spec(2),
        observed_in_a_condition(),
        without_generation(),
    ] {
        let mut stage = stage();
        stage.own(&[ID]);
        stage.report(&reported);
        stage.rewrite(ID, &with_image("v2"), 1000);
        assert_eq!(stage.recheck(1000), None);
        stage.recheck(1000 + 2 * END_MS);
        assert_eq!(stage.state_of(ID), pending());
        stage.store_bundles();
        stage.keep(1000 + 3 * END_MS);
        stage.start_again(&["p+c"], GONE_FOR, 1000 + 4 * END_MS);
        stage.recheck(1000 + 6 * END_MS);
        assert_eq!(stage.state_of(ID), pending());
        stage.report(&observed(2));
        assert_ne!(stage.state_of(ID), pending());
    }
}

#[test]
fn a_manifest_that_the_cluster_refuses_does_not_wait() {
    let mut stage = stage();
    stage.report(&without_spec(2));
    stage.rewrite(ID, &with_image("v2"), 1000);
    stage.send(RsyncStatus::Failed);
    assert_ne!(stage.state_of(ID), pending());
}

#[test]
fn an_update_and_a_rollback_wait_for_another_status() {
    let mut stage = stage();
    stage.set_status(ID, "Instantiated");
    stage.report(&without_spec(2));
    stage.begin_instance("2", &with_image("v2"));
    assert_eq!(stage.state_of("2"), pending());
    // rsync sends the second instance. Its statuses are in the first context.
    stage.set_status(ID, "Updated");
    stage.send(RsyncStatus::Pending);
    assert_eq!(stage.state_of("2"), pending());
    stage.set_status("2", "Instantiated");
    stage.send(RsyncStatus::Applied);
    assert_eq!(stage.state_of("2"), pending());
    stage.report(&observed(2));
    assert_eq!(stage.state_of("2"), ready());

    // The rollback.
    stage.set_status("2", "Updated");
    assert_eq!(stage.state_of("2"), ready());
    stage.set_status(ID, "Instantiated");
    assert_eq!(stage.state_of(ID), pending());
    stage.report(&observed(3));
    assert_eq!(stage.state_of(ID), ready());
}

#[test]
fn an_update_without_another_spec_does_not_wait() {
    let mut stage = stage();
    stage.set_status(ID, "Instantiated");
    stage.report(&without_spec(2));
    stage.begin_instance("2", &manifest(2));
    assert_eq!(stage.state_of("2"), ready());
}

#[test]
fn an_update_during_a_wait_continues_the_wait() {
    let mut stage = stage();
    stage.set_status(ID, "Instantiated");
    stage.report(&without_spec(2));
    stage.rewrite(ID, &with_image("v2"), 1000);
    stage.begin_instance("2", &with_image("v2"));
    assert_eq!(stage.state_of("2"), pending());
}

#[test]
fn a_status_without_values_does_not_confirm_anything() {
    let mut stage = stage();
    let mut empty = without_spec(2);
    empty["status"] = json!({"loadBalancer": {}});
    stage.report(&empty);
    let before = stage.state_of(ID);
    stage.rewrite(ID, &with_image("v2"), 1000);
    assert_eq!(stage.state_of(ID), before);
}

#[test]
fn a_wait_survives_a_restart() {
    let mut stage = stage();
    stage.own(&[ID]);
    stage.report(&without_spec(2));
    stage.rewrite(ID, &with_image("v2"), 1000);
    stage.store_bundles();
    stage.keep(2000);
    stage.start_again(&["p+c"], GONE_FOR, 3000);
    assert_eq!(stage.state_of(ID), pending());
    stage.report(&observed(2));
    assert_eq!(stage.state_of(ID), ready());
    stage.keep(4000);
    stage.start_again(&["p+c"], GONE_FOR, 5000);
    stage.report(&without_spec(2));
    assert_eq!(stage.state_of(ID), ready());
}

impl Stage {
    /// The server stops. Meanwhile, this key of a context changes. The server starts again.
    fn change_while_stopped(&mut self, id: &str, key: &str, json: &str) {
        self.store_bundles();
        self.keep(2000);
        let batch = Batch::new().put(format!("/context/{id}/{key}"), json);
        self.store.apply(&batch).unwrap();
        self.start_again(&["p+c"], GONE_FOR, 3000);
    }
}

#[test]
fn a_manifest_that_changes_while_the_server_is_stopped_waits_for_another_status() {
    let text = |manifest: &Value| Value::String(manifest.to_string()).to_string();
    let mut stage = stage();
    stage.own(&[ID]);
    stage.report(&without_spec(2));
    let mut labelled = manifest(2);
    labelled["metadata"]["labels"] = json!({"a": "b"});
    stage.change_while_stopped(ID, BELOW, &text(&labelled));
    assert_eq!(stage.state_of(ID), ready(), "the spec is the same");
    stage.change_while_stopped(ID, BELOW, &text(&with_image("v2")));
    assert_eq!(stage.state_of(ID), pending());
    stage.report(&observed(2));
    assert_eq!(stage.state_of(ID), ready());
    // A start without a change.
    stage.change_while_stopped(
        ID,
        "status/",
        &json!({"Status": "Instantiated"}).to_string(),
    );
    assert_eq!(stage.state_of(ID), ready());
}

#[test]
fn an_instance_that_begins_while_the_server_is_stopped_waits_for_another_status() {
    let mut stage = stage();
    stage.own(&[ID]);
    stage.report(&without_spec(2));
    stage.store_bundles();
    stage.keep(2000);
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    for (id, manifest) in [("2", with_image("v2")), ("3", manifest(2))] {
        let mut new = context(&["a"]);
        new.apps[0].clusters[0].resources = vec![resource(&manifest)];
        contexts.create_as(&id.parse().unwrap(), &new).unwrap();
        let of_first = Batch::new().put(format!("/context/{id}/statusappctxid/"), "\"1\"");
        stage.store.apply(&of_first).unwrap();
        let sent = StatusChange {
            app: "a",
            cluster: &"p+c".parse().unwrap(),
            resource: &name_of(&manifest),
            status: RsyncStatus::Applied,
        };
        let _ = contexts
            .record_resource_statuses(&id.parse().unwrap(), &[sent])
            .unwrap();
    }
    stage.start_again(&["p+c"], GONE_FOR, 3000);
    assert_eq!(stage.state_of("2"), pending());
    assert_eq!(stage.state_of("3"), ready(), "it has the same spec");
}
