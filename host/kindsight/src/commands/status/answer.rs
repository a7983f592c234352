//! Answers to status queries as tables.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use jiff::Timestamp;
use kindsight_api::status::{App, Cluster, Detail, Instances, Readiness, Resource, Status};
use kindsight_model::{ContextStatus, DigName, RsyncStatus};
use serde_json::Value;

use crate::age::span;
use crate::explanation;
use crate::store_line;
use crate::table::{Table, clean};

/// Prints one line per resource, and the totals. Ages are relative to `now_ms`.
pub(super) fn print(mut to: impl Write, status: &Status<'_>, now_ms: i64) -> io::Result<()> {
    let explain = resources(status).any(|(.., resource)| resource.interpreter.is_some());
    let columns = Columns {
        explain,
        owners: explain && resources(status).any(|(.., resource)| resource.owner.is_some()),
        now_ms,
    };
    let mut head = vec!["APP", "CLUSTER", "KIND", "NAME", "STATE", "REASON", "AGE"];
    if columns.owners {
        head.push("OWNER");
    }
    if columns.explain {
        head.extend(["SINCE", "INTERPRETER", "DIGEST"]);
    }
    head.push("MESSAGE");
    let mut table = Table::new(&mut to, &head);
    for (app, cluster, resource) in resources(status) {
        let place = [&app.name, &cluster.cluster].map(AsRef::as_ref);
        columns.row(&mut table, place, resource, cluster.readiness.stale_since)?;
    }
    table.flush()?;
    totals(&mut to, status)
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

/// Prints the counts, what is stale or could not be read, and the state as a whole.
pub(super) fn totals(to: &mut impl Write, status: &Status<'_>) -> io::Result<()> {
    let mut line = name(status);
    let state = status.status.as_ref().map(ContextStatus::as_str);
    for part in [state, status.message.as_deref()].into_iter().flatten() {
        line.extend([": ", part]);
    }
    for counts in [&status.cluster_status, &status.rsync_status] {
        let counts: Vec<String> = counts
            .iter()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        if !counts.is_empty() {
            // Writing to a String does not fail.
            let _ = write!(line, "; {}", counts.join(", "));
        }
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
    whole(to, status)
}

/// The name of what is shown; of an application that was found with its namespace.
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

/// The last line: the state as a whole, and everything that casts doubt on it.
fn whole(to: &mut impl Write, status: &Status<'_>) -> io::Result<()> {
    let readiness = &status.readiness;
    let Some(whole) = &readiness.ready_status else {
        return Ok(());
    };
    let mut line = format!("as a whole: {whole}");
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
    writeln!(to, "{line}")
}

/// Columns of the table of resources.
struct Columns {
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
        [app, cluster]: [&str; 2],
        resource: &Resource<'_>,
        stale_since: Option<Timestamp>,
    ) -> io::Result<()> {
        let sent = resource.rsync_status.map_or("", RsyncStatus::as_str);
        let state = resource.cluster_status.as_deref().unwrap_or(sent);
        let mut state = state.to_owned();
        if resource.hook == Some(true) {
            state.push_str(" (hook)");
        }
        if stale_since.is_some() {
            state.push_str(" (stale)");
        }
        let age = age(resource.detail.as_ref(), self.now_ms);
        let mut cells: Vec<Cow<'_, str>> = vec![
            app.into(),
            cluster.into(),
            (&*resource.gvk.kind).into(),
            (&*resource.name).into(),
            state.into(),
            (&*resource.reason).into(),
            age.into(),
        ];
        if self.owners {
            let owner = resource.owner.as_ref();
            cells.push(text(owner.map(|it| format!("{} {}", it.gvk.kind, it.name))));
        }
        if self.explain {
            let by = resource.interpreter.as_deref();
            cells.extend([
                text(resource.since),
                text(by.map(|by| format!("{} {}", by.name, by.version))),
                by.map_or("", |by| by.digest.short()).into(),
            ]);
        }
        cells.push((&*resource.message).into());
        let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
        table.row(&cells)?;
        match &resource.explanation {
            Some(it) => {
                let state = resource.cluster_status.as_deref().unwrap_or_default();
                table.note(&explanation::line(state, &resource.reason, it))
            }
            None => Ok(()),
        }
    }
}

/// Text of an optional value; empty for none.
fn text<'a>(maybe: Option<impl Display>) -> Cow<'a, str> {
    maybe.map_or_else(|| "".into(), |it| it.to_string().into())
}

/// Time since the object's creation, as `kubectl` shows it; empty if it is not known.
fn age(detail: Option<&Detail>, now_ms: i64) -> String {
    let object = detail.and_then(|it| serde_json::from_str::<Value>(it.as_str()).ok());
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

    #[test]
    fn what_was_found_is_shown_under_its_name_with_its_hooks_and_what_is_gone() {
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
        print(&mut out, &serde_json::from_str(&status).unwrap(), 0).unwrap();
        expect![[r#"
            APP    CLUSTER  KIND        NAME     STATE                  REASON                AGE  MESSAGE
            front  a        Deployment  front    Ready (stale)          Available             -    -
            front  a        Job         migrate  Failed (hook) (stale)  BackoffLimitExceeded  -    -
            front  a        ConfigMap   old      NotPresent (stale)     Gone                  -    -

            web/shop; 1 Failed, 1 NotPresent, 1 Ready
            as a whole: Ready
        "#]].assert_eq(&String::from_utf8(out).unwrap());
    }
}
