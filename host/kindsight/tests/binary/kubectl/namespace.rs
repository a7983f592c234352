//! A network namespace for a test.

use std::process::Command;

use crate::process::text;

/// The variable that a test has in its namespace.
const IN_NAMESPACE: &str = "KINDSIGHT_TEST_IN_NAMESPACE";
/// Makes the interfaces of the namespace.
const INTERFACES: &str = "ip link set lo up && ip link add test0 type veth peer name test1 \
     && ip address add 10.99.0.1/24 dev test0 && ip link set test0 up && ip link set test1 up";

/// Runs a test again in a network namespace. Returns true in the namespace, where the test must run.
pub(super) fn enters_namespace(test: &str) -> bool {
    if std::env::var_os(IN_NAMESPACE).is_some() {
        return true;
    }
    let possible = Command::new("unshare")
        .args(["--net", "sh", "-c", INTERFACES])
        .output();
    let why = match possible {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(text(&output.stderr)),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        let line = format!(
            "the test of kubectl kindsight did not run: it needs root, unshare and ip: {}",
            why.trim()
        );
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
        eprintln!("{line}");
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let run = Command::new("unshare")
        .args(["--net", "sh", "-c"])
        .arg(format!("{INTERFACES} && exec \"$@\""))
        .args([
            "sh",
            program.to_str().unwrap(),
            "--exact",
            test,
            "--nocapture",
        ])
        .env(IN_NAMESPACE, "1")
        .status();
    assert!(
        run.unwrap().success(),
        "see the output of the test in the namespace"
    );
    false
}
