//! The same check of a Gateway in Lua and in CEL: as an interpreter of kindsight, and in the engine of its project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kindsight_tests::{argo_scripts, flux_peer};
use serde_json::{Value, json};

use crate::{Engine, interpret};

/// Checks that decide as Argo CD's script does on the recorded Gateways: a condition that is False is a failure, and
/// `Programmed` and `Accepted` make it current.
fn checks() -> Value {
    let is = |kind: &str, status: &str| {
        format!("status.conditions.exists(c, c.type == '{kind}' && c.status == '{status}')")
    };
    json!({
        "failed": format!("{} || {}", is("Accepted", "False"), is("ResolvedRefs", "False")),
        "current": format!("{} && {}", is("Accepted", "True"), is("Programmed", "True")),
    })
}

/// The programs of the table, the native rule first. Only what Go can build is there.
pub(crate) fn commands(kindsight: &Path, peers: &Path, folder: &Path) -> Vec<Engine> {
    let mut commands = vec![("native rule", interpret(kindsight))];
    if let Some(scripts) = argo_scripts() {
        let component = folder.join("lua.wasm");
        convert(kindsight, "from-argo", &scripts, &component);
        commands.push(("Lua in kindsight", judged_by(kindsight, component)));
        commands.push(("Lua in Argo CD", vec![peers.into(), "argo-lua".into()]));
    }
    let list = folder.join("checks.yaml");
    let mut check = checks();
    let alone = folder.join("checks.json");
    fs::write(&alone, check.to_string()).expect("a file of checks");
    check["apiVersion"] = json!("gateway.networking.k8s.io/v1");
    check["kind"] = json!("Gateway");
    // JSON is YAML.
    fs::write(&list, json!([check]).to_string()).expect("a file of checks");
    let component = folder.join("cel.wasm");
    convert(kindsight, "from-flux", &list, &component);
    commands.push(("CEL in kindsight", judged_by(kindsight, component)));
    if let Some(flux) = flux_peer(&folder.join("flux-peer")) {
        commands.push(("CEL in Flux", vec![flux, alone]));
    }
    commands
}

/// Makes an interpreter of rules.
fn convert(kindsight: &Path, command: &str, rules: &Path, component: &Path) {
    let converted = Command::new(kindsight)
        .args(["plugin", command])
        .arg(rules)
        .arg("-o")
        .arg(component)
        .status();
    let is_converted = converted.is_ok_and(|status| status.success());
    assert!(is_converted, "kindsight plugin {command} failed");
}

fn judged_by(kindsight: &Path, component: PathBuf) -> Vec<PathBuf> {
    let mut command = interpret(kindsight);
    command.push("--interpreter".into());
    command.push(component);
    command
}
