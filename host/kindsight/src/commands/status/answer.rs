//! Answers to status queries as tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use jiff::Timestamp;
use kindsight_api::explanation::SpecSource;
use kindsight_api::status::{
    App, Cluster, Detail, Instances, QueryType, Readiness, Resource, Status,
};
use kindsight_model::{ContextStatus, DigName};
use serde_json::Value;

use super::states;
use crate::age::span;
use crate::color;
use crate::explanation;
use crate::store_line;
use crate::table::{Cell, Table, clean};

/// Prints one line per resource of an answer to a query of this type, and the totals of `scope`, the selected part of
/// the application. Ages are relative to `now_ms`.
pub(super) fn print(
    mut to: impl Write,
    status: &Status<'_>,
    kind: QueryType,
    scope: Option<&str>,
    now_ms: i64,
) -> io::Result<()> {
    let explain = resources(status).any(|(.., resource)| resource.interpreter.is_some());
    let columns = Columns {
        kind,
        explain,
        owners: explain && resources(status).any(|(.., resource)| resource.owner.is_some()),
        now_ms,
    };
    let mut head = vec!["APP", "CLUSTER", "KIND", "NAME"];
    head.extend(states::heads(kind));
    head.extend(["REASON", "AGE"]);
    if columns.owners {
        head.push("OWNER");
    }
    if columns.explain {
        head.extend(["SINCE", "INTERPRETER", "DIGEST"]);
    }
    head.push("MESSAGE");
    let mut table = Table::new(&mut to, &head);
    for (app, cluster, resource) in resources(status) {
        columns.row(&mut table, &app.name, cluster, resource)?;
    }
    table.flush()?;
    totals(&mut to, status, scope)
}

/// Prints one line per instance.
pub(super) fn print_instances(mut to: impl Write, instances: &Instances<'_>) -> io::Result<()> {
    for id in &instances.instances {
        writeln!(to, "{}", clean(id))?;
    }
    to.flush()
}

fn clusters<'s, 'a>(
    status: &'s Status<'a>,
) -> impl Iterator<Item = (&'s App<'a>, &'s Cluster<'a>)> {
    let apps = status.apps.iter();
    apps.flat_map(|app| app.clusters.iter().map(move |cluster| (app, cluster)))
}

/// Every resource of an answer, with its app and cluster.
pub(super) fn resources<'s, 'a>(
    status: &'s Status<'a>,
) -> impl Iterator<Item = (&'s App<'a>, &'s Cluster<'a>, &'s Resource<'a>)> {
    clusters(status).flat_map(|(app, cluster)| {
        let resources = cluster.resources.iter();
        resources.map(move |resource| (app, cluster, resource))
    })
}

/// Prints the counts, the stale and the unreadable parts, and the state, all of `scope`: the selected part of the
/// application.
pub(super) fn totals(
    to: &mut impl Write,
    status: &Status<'_>,
    scope: Option<&str>,
) -> io::Result<()> {
    let mut line = name(status);
    let state = status.status.as_ref().map(ContextStatus::as_str);
    for part in [state, status.message.as_deref()].into_iter().flatten() {
        line.extend([": ", part]);
    }
    let counts = counts(status);
    if !counts.is_empty() {
        let covered = scope.map_or_else(String::new, |scope| format!("{scope}: "));
        // Writing to a String does not fail.
        let _ = write!(line, "; {covered}{counts}");
    }
    writeln!(to, "\n{}", clean(&line))?;
    store_line::print(to, status.store.as_ref())?;
    store_line::print_state_store(to, status.state_store.as_ref())?;
    for (_, cluster) in clusters(status) {
        if let (Some(since), Some(reason)) = stale(&cluster.readiness) {
            writeln!(to, "stale since {since}: {}", clean(reason))?;
        }
    }
    for fault in status.faults.iter() {
        writeln!(to, "{}", clean(fault))?;
    }
    for kind in status.readiness.unanswered.iter() {
        writeln!(to, "not answered: {}", clean(kind))?;
    }
    covered_state(to, status, scope)
}

/// The counts of an answer in words, each with its meaning if the answer has both.
fn counts(status: &Status<'_>) -> String {
    let text = |counts: &BTreeMap<Cow<'_, str>, u32>| {
        let counts = counts.iter();
        let counts: Vec<String> = counts
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        counts.join(", ")
    };
    match [&status.rsync_status, &status.cluster_status].map(text) {
        [sent, reported] if sent.is_empty() => reported,
        [sent, reported] if reported.is_empty() => sent,
        [sent, reported] => format!("sent {sent}; reported {reported}"),
    }
}

/// The name of the group or the cluster; for a found application, its namespace and name.
pub(super) fn name(status: &Status<'_>) -> String {
    match (status.app.project.as_deref(), &status.app.name) {
        (Some(DigName::NONE), Some(application)) => format!("{}/{application}", status.name),
        _ => status.name.to_string(),
    }
}

/// Since when and why a level is stale.
fn stale<'r>(readiness: &'r Readiness<'_>) -> (Option<Timestamp>, Option<&'r str>) {
    (readiness.stale_since, readiness.stale_reason.as_deref())
}

/// Prints the last line: the state of `scope`, and everything that casts doubt on it.
fn covered_state(to: &mut impl Write, status: &Status<'_>, scope: Option<&str>) -> io::Result<()> {
    let readiness = &status.readiness;
    let Some(state) = &readiness.ready_status else {
        return Ok(());
    };
    let covered = clean(scope.unwrap_or("as a whole"));
    let style = color::of_phase(readiness.ready_phase, readiness.stale_since.is_some());
    let mut line = format!("{covered}: {style}{}{style:#}", clean(state));
    if let Some(reason) = &readiness.ready_reason {
        line.extend([": ", &clean(reason)]);
    }
    // Writing to a String does not fail.
    if let (Some(since), reason) = stale(readiness) {
        let reason = clean(reason.unwrap_or_default());
        let _ = write!(line, "; stale since {since}: {reason}");
    }
    match status.faults.len() {
        0 => {}
        1 => line.push_str("; 1 part could not be read"),
        many => drop(write!(line, "; {many} parts could not be read")),
    }
    match readiness.unanswered.len() {
        0 => {}
        1 => line.push_str("; 1 Kind was not answered, whose objects may be missing"),
        many => drop(write!(
            line,
            "; {many} Kinds were not answered, whose objects may be missing"
        )),
    }
    writeln!(to, "{line}")
}

/// Columns of the table of resources.
struct Columns {
    /// The type of the status, which determines the columns for the states.
    kind: QueryType,
    /// True to show the interpreter of each verdict.
    explain: bool,
    /// True to show the owner of each child.
    owners: bool,
    /// The time that ages are relative to, in Unix milliseconds.
    now_ms: i64,
}

impl Columns {
    fn row(
        &self,
        table: &mut Table<impl Write>,
        app: &str,
        cluster: &Cluster<'_>,
        resource: &Resource<'_>,
    ) -> io::Result<()> {
        let mut cells = vec![
            Cell::plain(app),
            Cell::plain(&*cluster.cluster),
            Cell::plain(&*resource.gvk.kind),
            Cell::plain(&*resource.name),
        ];
        cells.extend(states::cells(self.kind, cluster, resource));
        cells.extend([
            Cell::plain(&*resource.reason),
            Cell::plain(age(resource.detail.as_ref(), self.now_ms)),
        ]);
        if self.owners {
            let owner = resource.owner.as_ref();
            let owner = owner.map(|owner| format!("{} {}", owner.gvk.kind, owner.name));
            cells.push(text(owner));
        }
        if self.explain {
            let by = resource.interpreter.as_deref();
            cells.extend([
                text(resource.since),
                text(by.map(|by| format!("{} {}", by.name, by.version))),
                Cell::plain(by.map_or("", |by| by.digest.short())),
            ]);
        }
        cells.push(Cell::plain(&*resource.message));
        table.cells(&cells)?;
        if resource.spec == Some(SpecSource::Manifest) {
            table.note("spec: manifest (the report of the cluster has no spec)")?;
        }
        if let Some(claims) = &resource.claims {
            table.note(&explanation::claims_line(claims))?;
        }
        match &resource.explanation {
            Some(explanation) => {
                let state = resource.cluster_status.as_deref().unwrap_or_default();
                table.note(&explanation::line(state, &resource.reason, explanation))
            }
            None => Ok(()),
        }
    }
}

/// Cell of an optional value; empty if there is no value.
fn text(maybe: Option<impl Display>) -> Cell<'static> {
    let text = maybe.map(|value| value.to_string());
    Cell::plain(text.unwrap_or_default())
}

/// Time since the object's creation, as `kubectl` shows it; empty if it is not known.
fn age(detail: Option<&Detail>, now_ms: i64) -> String {
    let object = detail.and_then(|detail| serde_json::from_str::<Value>(detail.as_str()).ok());
    let created = object.as_ref().and_then(|object| {
        let created = object.pointer("/metadata/creationTimestamp")?.as_str()?;
        created.parse::<Timestamp>().ok()
    });
    created.map_or_else(String::new, |created| {
        span(now_ms - created.as_millisecond())
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::table::without_styles;

    #[test]
    fn a_found_application_is_shown_with_its_hooks_and_gone_objects() {
        let resource = |kind: &str, name: &str, state: &str, reason: &str| {
            json!({
                "GVK": {"Group": "", "Version": "v1", "Kind": kind},
                "name": name, "cluster-status": state, "reason": reason, "expected": false,
            })
        };
        let mut hook = resource("Job", "migrate", "Failed", "BackoffLimitExceeded");
        hook["hook"] = true.into();
        let status = json!({
            "project": "-", "composite-app-name": "shop", "composite-app-version": "-", "name": "web",
            "state": {"Actions": []},
            "cluster-status": {"Failed": 1, "NotPresent": 1, "Ready": 1},
            "ready-status": "Ready",
            "apps": [{"name": "front", "clusters": [{
                "cluster-provider": "k", "cluster": "a", "stale-since": "2026-11-22T10:00:00Z",
                "resources": [
                    resource("Deployment", "front", "Ready", "Available"),
                    hook,
                    resource("ConfigMap", "old", "NotPresent", "Gone"),
                ],
            }]}],
        })
        .to_string();
        let mut out = Vec::new();
        let status = serde_json::from_str(&status).unwrap();
        print(&mut out, &status, QueryType::Cluster, None, 0).unwrap();
        expect![[r#"
            APP    CLUSTER  KIND        NAME     STATE                  REASON                AGE  MESSAGE
            front  a        Deployment  front    Ready (stale)          Available             -    -
            front  a        Job         migrate  Failed (hook) (stale)  BackoffLimitExceeded  -    -
            front  a        ConfigMap   old      NotPresent (stale)     Gone                  -    -

            web/shop; 1 Failed, 1 NotPresent, 1 Ready
            as a whole: Ready
        "#]].assert_eq(&without_styles(&out));
    }

    #[test]
    fn both_statuses_have_a_column_and_counts() {
        let resource = |kind: &str, name: &str, states: [Option<&str>; 2]| {
            let [sent, reported] = states;
            json!({
                "GVK": {"Group": "", "Version": "v1", "Kind": kind}, "name": name,
                "rsync-status": sent, "cluster-status": reported,
            })
        };
        let status = json!({
            "name": "dig", "state": {"Actions": []}, "status": "Instantiated",
            "rsync-status": {"Applied": 1, "Failed": 1},
            "cluster-status": {"NotPresent": 1, "Pending": 2},
            "ready-status": "NotPresent",
            "apps": [{"name": "sink", "clusters": [{
                "cluster-provider": "k", "cluster": "a", "stale-since": "2026-11-22T10:00:00Z",
                "resources": [
                    resource("Service", "sink", [Some("Applied"), Some("Pending")]),
                    resource("ConfigMap", "settings", [Some("Failed"), Some("NotPresent")]),
                    resource("Pod", "sink-1", [None, Some("Pending")]),
                ],
            }]}],
        })
        .to_string();
        let status = serde_json::from_str(&status).unwrap();
        let mut out = Vec::new();
        print(&mut out, &status, QueryType::All, Some("only app sink"), 0).unwrap();
        expect![[r#"
            APP   CLUSTER  KIND       NAME      SENT     REPORTED            REASON  AGE  MESSAGE
            sink  a        Service    sink      Applied  Pending (stale)     -       -    -
            sink  a        ConfigMap  settings  Failed   NotPresent (stale)  -       -    -
            sink  a        Pod        sink-1    -        Pending (stale)     -       -    -

            dig: Instantiated; only app sink: sent 1 Applied, 1 Failed; reported 1 NotPresent, 2 Pending
            only app sink: NotPresent
        "#]].assert_eq(&without_styles(&out));
    }

    #[test]
    fn competing_claims_are_below_their_resource() {
        let status = json!({
            "project": "-", "composite-app-name": "shop", "composite-app-version": "-", "name": "web",
            "state": {"Actions": []},
            "apps": [{"name": "front", "clusters": [{
                "cluster-provider": "k", "cluster": "a",
                "resources": [{
                    "GVK": {"Group": "", "Version": "v1", "Kind": "ConfigMap"}, "name": "settings",
                    "cluster-status": "Present", "reason": "Exists",
                    "claims": {"evidence": "label a", "others": [
                        {"application": "-/chart/-/web", "evidence": "label b"},
                        {"application": "-/base/-/flux", "evidence": "label c"},
                    ]},
                }],
            }]}],
        })
        .to_string();
        let mut out = Vec::new();
        let status = serde_json::from_str(&status).unwrap();
        print(&mut out, &status, QueryType::Cluster, None, 0).unwrap();
        expect![[r#"
            APP    CLUSTER  KIND       NAME      STATE    REASON  AGE  MESSAGE
            front  a        ConfigMap  settings  Present  Exists  -    -
              it belongs to this application by label a; -/chart/-/web claims it by label b; -/base/-/flux claims it by label c

            web/shop
        "#]].assert_eq(&without_styles(&out));
    }

    #[test]
    fn the_state_of_a_part_is_not_shown_as_the_state_of_the_application() {
        let status = json!({
            "project": "-", "composite-app-name": "shop", "name": "web", "state": {"Actions": []},
            "cluster-status": {"Ready": 1}, "ready-status": "Ready",
        })
        .to_string();
        let status = serde_json::from_str(&status).unwrap();
        let mut out = Vec::new();
        totals(&mut out, &status, Some("only app front")).unwrap();
        expect![[r#"

            web/shop; only app front: 1 Ready
            only app front: Ready
        "#]]
        .assert_eq(&without_styles(&out));
    }
}
