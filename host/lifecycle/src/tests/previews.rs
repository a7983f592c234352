use super::stage::{Host, app, manifest, name};
use crate::{Command, DRY_RUN_RESOURCES_MAX, Draft, DryRun, Error, PlannedChange, PlannedResource};

/// `cluster name change` of each resource, and the differences.
fn lines(dry_run: &DryRun) -> Vec<String> {
    let resources = dry_run.resources.iter();
    let lines = resources.map(|resource| {
        format!(
            "{} {} {:?}",
            resource.cluster, resource.resource, resource.change
        )
    });
    lines.collect()
}

impl Host {
    fn dry_run(&self, draft: Option<Draft>) -> Result<DryRun, Error> {
        let clusters = &*self.clusters;
        self.groups.dry_run(&name(), draft, clusters, clusters)
    }
}

#[test]
fn a_dry_run_shows_what_would_be_sent_and_changes_nothing() {
    let host = Host::new();
    let apps = |manifests: &[&str]| Draft {
        apps: vec![app(
            "front",
            &["lab+b", "lab+a"],
            manifests.iter().map(|name| manifest(name)).collect(),
        )],
        ..Draft::default()
    };
    assert!(matches!(host.dry_run(None), Err(Error::NotFound(_))));
    let new = host.dry_run(Some(apps(&["one"]))).unwrap();
    assert_eq!(
        lines(&new),
        ["lab+b one+ConfigMap Create", "lab+a one+ConfigMap Create"]
    );
    host.put_apps(apps(&["one", "two"]).apps).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    let before = host.record();
    host.clusters.state().foreign.insert("four".to_owned());
    let mut next = apps(&["one", "three", "four"]);
    next.apps[0].clusters.truncate(1);
    next.apps[0].manifests[0] += "data: {a: b}\n";
    let update = host.dry_run(Some(next)).unwrap();
    assert_eq!(
        lines(&update),
        [
            "lab+b one+ConfigMap Update",
            "lab+b three+ConfigMap Create",
            "lab+b four+ConfigMap Refused(\"it belongs to another\")",
            "lab+b two+ConfigMap Delete",
            "lab+a one+ConfigMap Delete",
            "lab+a two+ConfigMap Delete",
        ]
    );
    let same = host.dry_run(None).unwrap();
    let is_unchanged = |planned: &PlannedResource| planned.change == PlannedChange::Unchanged;
    assert!(same.resources.iter().all(is_unchanged), "{same:?}");
    assert_eq!(host.record(), before);
    assert_eq!(host.clusters.resources().len(), 4);
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    let lines = lines(&host.dry_run(None).unwrap());
    assert_eq!(lines[2], "lab+a one+ConfigMap Unknown(\"told to\")");
}

#[test]
fn an_object_of_a_new_namespace_would_be_created_unchecked() {
    let host = Host::new();
    let in_namespace = |name: &str, namespace: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        )
    };
    let shop = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n".to_owned();
    let manifests = vec![
        in_namespace("one", "shop"),
        in_namespace("two", "other"),
        shop,
    ];
    let draft = Draft {
        apps: vec![app("front", &["lab+a"], manifests)],
        ..Draft::default()
    };
    assert_eq!(
        lines(&host.dry_run(Some(draft)).unwrap()),
        [
            "lab+a shop+Namespace Create",
            "lab+a one+ConfigMap CreateUnchecked(\"not checked, because the namespace `shop` is new\")",
            "lab+a two+ConfigMap Refused(\"the namespace `other` does not exist\")",
        ]
    );
}

#[test]
fn a_dry_run_counts_the_resources_that_were_not_checked_and_shows_every_removal() {
    let host = Host::new();
    host.put_apps(vec![app("front", &["lab+b"], vec![manifest("old")])])
        .unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    let in_each = DRY_RUN_RESOURCES_MAX / 2 + 100;
    let manifests = (0..in_each).map(|number| manifest(&format!("new-{number}")));
    let next = Draft {
        apps: vec![app("front", &["lab+a", "lab+b"], manifests.collect())],
        ..Draft::default()
    };
    let shown = host.dry_run(Some(next)).unwrap();
    assert_eq!(shown.left_off, 200);
    let (removed, sent) = shown.resources.split_last().unwrap();
    assert_eq!(removed.change, PlannedChange::Delete);
    assert_eq!(sent.len(), DRY_RUN_RESOURCES_MAX);
    let is_new = |planned: &PlannedResource| planned.change == PlannedChange::Create;
    assert!(sent.iter().all(is_new));
}

#[test]
fn a_dry_run_after_a_stopped_termination_shows_what_the_termination_left() {
    let host = Host::new();
    host.put_apps(vec![app(
        "front",
        &["lab+a", "lab+b"],
        vec![manifest("one")],
    )])
    .unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    host.act(Command::Stop).unwrap();
    host.run().unwrap();
    host.clusters.state().unreachable.clear();
    assert_eq!(
        lines(&host.dry_run(None).unwrap()),
        [
            "lab+a one+ConfigMap Unchanged",
            "lab+b one+ConfigMap Create"
        ]
    );
}

#[test]
fn a_dry_run_is_refused_while_the_previous_instance_is_removed() {
    let host = Host::new();
    host.instantiate();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    let refused = host.dry_run(None).unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    assert!(refused.to_string().contains("still being removed"));
    host.clusters.state().unreachable.clear();
    host.run().unwrap();
    let planned = host.dry_run(None).unwrap().resources;
    let is_new = |planned: &PlannedResource| planned.change == PlannedChange::Create;
    assert!(planned.iter().all(is_new), "{planned:?}");
}
