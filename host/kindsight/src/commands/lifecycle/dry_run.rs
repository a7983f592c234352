//! The effect that an instantiation, an update or an application of network intents would have.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::ensure;
use kindsight_api::lifecycle::{DryRun, PlannedChange};
use ureq::http::Method;

use super::{JSON, Target};
use crate::FAILED;
use crate::client::{self, Request, Server};

/// Shows the effect of a content, or of the stored content if `body` is empty: one line for each resource. The exit code
/// is [`FAILED`] if a cluster would refuse a resource, because the action would then fail.
///
/// # Errors
/// When the server cannot be reached or refuses, or it left off resources, which no cluster has checked.
pub(super) fn show(server: &Server, target: &Target, body: Vec<u8>) -> anyhow::Result<ExitCode> {
    let mut request = Request::to(Method::POST, format!("{}/dry-run", target.path));
    if !body.is_empty() {
        request = request.with_body(JSON, body);
    }
    let shown: DryRun = client::read(&request.ask(server)?)?;
    print(io::stdout().lock(), &shown)?;
    if is_refused(&shown) {
        return Ok(ExitCode::from(FAILED));
    }
    check_complete(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether a cluster would refuse a resource.
fn is_refused(shown: &DryRun) -> bool {
    let mut resources = shown.resources.iter();
    resources.any(|resource| resource.change == PlannedChange::Refused)
}

/// Checks that the clusters were asked about every resource.
fn check_complete(shown: &DryRun) -> anyhow::Result<()> {
    ensure!(
        shown.left_off == 0,
        "the dry run has too many resources: a cluster may refuse one of the {} resources that were not checked",
        shown.left_off
    );
    Ok(())
}

fn print(mut to: impl Write, shown: &DryRun) -> io::Result<()> {
    for it in &shown.resources {
        let mut line = format!("{}: {} {} {}", it.change, it.app, it.cluster, it.resource);
        if !it.differences.is_empty() {
            line.extend([": ", &it.differences.join(", ")]);
        }
        if let Some(detail) = &it.detail {
            line.extend([": ", detail]);
        }
        writeln!(to, "{line}")?;
    }
    if shown.left_off > 0 {
        writeln!(to, "{} further resources were not checked", shown.left_off)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dry_run_with_a_refused_resource_does_not_succeed() {
        let shown = |change: &str| -> DryRun {
            let resource = |change: &str, name: &str| {
                json!({"app": "front", "cluster": "lab+a", "resource": name, "change": change,
                    "detail": "told"})
            };
            let resources = [resource("create", "ConfigMap/a"), resource(change, "Pod/b")];
            serde_json::from_value(json!({"resources": resources, "left-off": 2})).unwrap()
        };
        for (change, refused) in [("refused", true), ("update", false), ("unknown", false)] {
            assert_eq!(is_refused(&shown(change)), refused, "{change}");
        }
        let mut out = Vec::new();
        print(&mut out, &shown("refused")).unwrap();
        let expected = "\
create: front lab+a ConfigMap/a: told
refused: front lab+a Pod/b: told
2 further resources were not checked
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_dry_run_without_some_resources_does_not_succeed() {
        let shown = |left_off: usize| DryRun {
            resources: Vec::new(),
            left_off,
        };
        check_complete(&shown(0)).unwrap();
        let error = check_complete(&shown(7)).unwrap_err().to_string();
        assert!(
            error.contains("7 resources that were not checked"),
            "{error}"
        );
    }
}
