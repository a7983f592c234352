use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{NAME, from_config_map, from_path};

fn data(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    let entries = entries.iter();
    entries
        .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
        .collect()
}

const SCRIPT: &str = "return {status = 'Healthy'}";

#[test]
fn keys_and_the_older_yaml_become_rules() {
    let older = "
'*.example.com/*':
  health.lua: |
    return {status = 'Progressing'}
  health.lua.useOpenLibs: true
argoproj.io/Application:
  actions: ''
";
    let conversion = from_config_map(
        NAME,
        &data(&[
            ("resource.customizations", older),
            ("resource.customizations.health.Pod", SCRIPT),
            (
                "resource.customizations.health.cert-manager.io_Certificate",
                SCRIPT,
            ),
            (
                "resource.customizations.useOpenLibs.cert-manager.io_Certificate",
                "true",
            ),
            ("resource.customizations.actions.apps_Deployment", "x"),
            ("resource.customizations.health.a_b_c", SCRIPT),
            ("resource.customizations.health.broken.io_Thing", "return {"),
            ("url", "https://example.com"),
        ]),
    )
    .expect("three scripts are valid");
    assert_eq!((conversion.rules, conversion.fixtures), (3, 0));
    let refused: Vec<String> = conversion.refused.iter().map(ToString::to_string).collect();
    assert_eq!(
        refused,
        [
            "resource.customizations.health.a_b_c: `a_b_c` is not GROUP_KIND: use one `_` between group and Kind, or the Kind alone for the core group",
            "resource.customizations.health.broken.io_Thing: the script of broken.io/Thing is not valid: line 1: syntax error near the end of the script",
        ]
    );
}

#[test]
fn without_a_valid_script_there_is_no_interpreter() {
    let error = |entries: &[(&str, &str)]| {
        from_config_map(NAME, &data(entries))
            .unwrap_err()
            .to_string()
    };
    assert!(error(&[("url", "x")]).starts_with("no rule was found: the ConfigMap has no key"));
    assert_eq!(
        error(&[("resource.customizations.health.Pod", "x = = 1")]),
        "no rule could be converted: resource.customizations.health.Pod: the script of Pod is not valid: line 1: syntax error near '='"
    );
    assert!(
        error(&[("resource.customizations", "- x")])
            .starts_with("`resource.customizations` is not valid YAML: ")
    );
    let invalid = from_config_map(
        "Argo CD",
        &data(&[("resource.customizations.health.Pod", SCRIPT)]),
    );
    assert_eq!(
        invalid.unwrap_err().to_string(),
        "`Argo CD` is not a name: use 1 to 63 lower-case letters, digits, `-` or `.`"
    );
}

#[test]
fn cases_beside_a_script_become_fixtures_if_the_script_agrees() {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = folder.path().join("example.com/Widget");
    fs::create_dir_all(kind.join("testdata")).expect("a folder");
    let write = |name: &str, text: &str| fs::write(kind.join(name), text).expect("a file");
    write(
        "health.lua",
        "return {status = 'Healthy', message = obj.status.phase}",
    );
    write(
        "testdata/ok.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nstatus: {phase: Up}",
    );
    write(
        "health_test.yaml",
        "tests:
- {inputPath: testdata/ok.yaml, healthStatus: {status: Healthy, message: Up}}
- {inputPath: ./testdata/ok.yaml, healthStatus: {status: Healthy, message: Down}}
- {inputPath: ../../../etc/passwd, healthStatus: {status: Healthy}}
- {inputPath: testdata/missing.yaml, healthStatus: {status: Healthy}}
- {healthStatus: {status: Healthy}}
",
    );
    let conversion = from_path(NAME, folder.path()).expect("a rule");
    assert_eq!((conversion.rules, conversion.fixtures), (1, 1));
    let reasons: Vec<&str> = conversion
        .refused
        .iter()
        .map(|refused| &*refused.reason)
        .collect();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(
        reasons.contains(&"tests[4] has no `inputPath`"),
        "{reasons:?}"
    );
    assert!(
        reasons.contains(&"the case expects Healthy `Down`, and the script states Healthy `Up`"),
        "{reasons:?}"
    );
}

/// The tree of the pinned Argo CD, from Go's module cache. `None` if Go is not installed.
fn upstream() -> Option<PathBuf> {
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/benches/peers");
    let mut go = Command::new("go");
    go.current_dir(peers);
    let listed = go
        .args(["mod", "download", "-json", "github.com/argoproj/argo-cd/v3"])
        .output();
    let listed = match listed {
        Ok(listed) if listed.status.success() => listed,
        _ => {
            assert!(
                std::env::var_os("CI").is_none(),
                "the test needs Go and its module proxy"
            );
            println!("NOT RUN: the cases of Argo CD need Go and its module proxy");
            return None;
        }
    };
    let module: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let folder = module["Dir"].as_str().expect("a folder");
    Some(PathBuf::from(folder).join("resource_customizations"))
}

#[test]
fn every_script_and_case_of_argo_cd_is_converted() {
    let Some(tree) = upstream() else {
        return;
    };
    let conversion = from_path(NAME, &tree).expect("rules");
    // Of 901 cases, 5 have no script. Upstream does not run them either.
    let refused: Vec<String> = conversion.refused.iter().map(ToString::to_string).collect();
    let [without_script] = refused.as_slice() else {
        panic!("{refused:#?}");
    };
    let expected = "/SQLUser/health_test.yaml: the cases have no health.lua beside them";
    assert!(without_script.ends_with(expected), "{without_script}");
    assert_eq!((conversion.rules, conversion.fixtures), (207, 896));
}
