//! The cases: objects of other projects' tests, with the word that the test expects.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kindsight_conversion::yaml;
use serde_json::Value;

use crate::argo_cases::{self, collect};
use crate::catalogue::sorted;
use crate::root;

/// An object with the word that its project expects.
pub(super) struct Case {
    pub(super) suite: String,
    pub(super) id: String,
    pub(super) object: Value,
    pub(super) word: String,
}

/// The first suites that no other test of this project used.
pub(super) const FIRST: [&str; 9] = [
    "argoproj+argo-cd",
    "karmada-io+karmada",
    "flanksource+is-healthy",
    "rancher+wrangler",
    "gardener+gardener",
    "knative+serving",
    "tektoncd+pipeline",
    "tektoncd+cli",
    "akuity+kargo",
];

/// Suites of the second set on which rules were corrected: the digest SHA-256 of `owner/name` begins with an even digit.
pub(super) const DEVELOPMENT: [&str; 5] = [
    "aws+eks-anywhere",
    "knative-extensions+net-certmanager",
    "kserve+kserve",
    "kubernetes-sigs+prow",
    "netgroup-polito+CrownLabs",
];

/// The other suites of the second set. Their deviations were counted, and not examined before the corrections.
pub(super) const HELD_OUT: [&str; 10] = [
    "argoproj+argo-rollouts",
    "dbonne+cnpg-ui",
    "fluxcd+flux2",
    "jenkins-x+lighthouse",
    "kubeflow+pipelines",
    "openkruise+kruise",
    "openmcp-project+control-plane-operator",
    "openmcp-project+service-provider-flux",
    "openshift-pipelines+pipelines-as-code",
    "stolostron+cluster-backup-operator",
];

/// Suites of the third set on which rules were corrected, divided as the second set.
pub(super) const THIRD_DEVELOPMENT: [&str; 5] = [
    "headlamp-k8s+plugins",
    "k0rdent+kcm",
    "konflux-ci+konflux-ui",
    "mhrivnak+ssvirt",
    "osac-project+osac-operator",
];

/// The other suites of the third set.
pub(super) const THIRD_HELD_OUT: [&str; 4] = [
    "argoproj+argo-workflows",
    "controlplaneio-fluxcd+flux-operator",
    "replicatedhq+kots",
    "vmware-tanzu+kubeapps",
];

/// Suites of the fourth set on which rules were corrected, divided as the second set.
pub(super) const FOURTH_DEVELOPMENT: [&str; 2] = [
    "janus-idp+backstage-plugins",
    "rhobs+observability-operator",
];

/// The other suites of the fourth set.
pub(super) const FOURTH_HELD_OUT: [&str; 8] = [
    "bergerx+kubectl-status",
    "fundament-oss+fundament",
    "kaito-project+kaito",
    "knative+eventing",
    "kubevirt+cloud-provider-kubevirt",
    "nebari-dev+nebari-operator",
    "openshift+hypershift",
    "weaveworks+weave-gitops",
];

/// The healths of is-healthy's fixtures.
const FIXTURE_WORDS: [&str; 4] = ["healthy", "warning", "unhealthy", "unknown"];

/// The folder with a checkout of each repository, which `tests/peers/suites/fetch` makes.
pub(super) fn folder() -> PathBuf {
    let given = std::env::var_os("KINDSIGHT_SUITES").map(PathBuf::from);
    given.unwrap_or_else(|| root().join("target/suites"))
}

/// Whether the folder has a checkout of each repository.
pub(super) fn are_in(folder: &Path) -> bool {
    let second = DEVELOPMENT.iter().chain(&HELD_OUT);
    let third = THIRD_DEVELOPMENT.iter().chain(&THIRD_HELD_OUT);
    let fourth = FOURTH_DEVELOPMENT.iter().chain(&FOURTH_HELD_OUT);
    let mut suites = FIRST.iter().chain(second).chain(third).chain(fourth);
    suites.all(|suite| folder.join(suite).is_dir())
}

/// The cases of the suites, without those whose objects are among `known`, and each object of a suite once.
pub(super) fn independent(folder: &Path, known: &BTreeSet<String>) -> Vec<Case> {
    let tree = folder.join("argoproj+argo-cd/resource_customizations");
    let mut cases = of_argo(&tree, "argoproj+argo-cd");
    let karmada = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations";
    of_karmada(&folder.join("karmada-io+karmada").join(karmada), &mut cases);
    cases.extend(extracted(folder));
    let fixtures = folder.join("flanksource+is-healthy/pkg/health/testdata/Kubernetes");
    of_fixtures(&fixtures, &mut cases);
    let mut seen = BTreeSet::new();
    cases.retain(|case| {
        let object = case.object.to_string();
        !known.contains(&object) && seen.insert((case.suite.clone(), case.word.clone(), object))
    });
    cases
}

/// The cases that other tests of this project use: Argo CD 3.1.9's, and those beside the checkout.
pub(super) fn second(tree: &Path) -> Vec<Case> {
    let mut cases = of_argo(tree, "Argo CD 3.1.9");
    for file in ["argocd", "karmada"] {
        let path = root().join(format!("../shared/conformance/{file}.jsonl"));
        let Ok(text) = fs::read_to_string(&path) else {
            println!("NOT RUN: {} is missing", path.display());
            continue;
        };
        let lines = text
            .lines()
            .map(|line| line.replace("{{NOW}}", "2026-12-31T00:00:00Z"));
        cases.extend(lines.map(|line| {
            let line: Value = serde_json::from_str(&line).expect("a case");
            of_line(file, &line)
        }));
    }
    let mut seen = BTreeSet::new();
    cases.retain(|case| seen.insert((case.word.clone(), case.object.to_string())));
    cases
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn of_line(suite: &str, line: &Value) -> Case {
    Case {
        suite: suite.to_owned(),
        id: text(&line["id"]),
        object: line["object"].clone(),
        word: text(&line["expected_state"]),
    }
}

fn of_argo(tree: &Path, suite: &str) -> Vec<Case> {
    let mut cases: Vec<argo_cases::Case> = Vec::new();
    collect(tree, &mut cases);
    let cases = cases.into_iter().map(|case| Case {
        word: case.status().to_owned(),
        suite: suite.to_owned(),
        id: Path::new(&case.path)
            .strip_prefix(tree)
            .expect("a path in the tree")
            .display()
            .to_string(),
        object: case.object,
    });
    let mut cases: Vec<Case> = cases.collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    cases
}

/// The cases that `tests/peers/suites` finds in the source of tests.
fn extracted(folder: &Path) -> Vec<Case> {
    let output = Command::new("go")
        .args(["run", "."])
        .arg(fs::canonicalize(folder).expect("a folder"))
        .current_dir(root().join("tests/peers/suites"))
        .output()
        .expect("Go");
    let error = String::from_utf8_lossy(&output.stderr);
    print!("{error}");
    assert!(output.status.success(), "{error}");
    let lines = String::from_utf8(output.stdout).expect("text");
    lines.lines().map(|line| of_source(folder, line)).collect()
}

/// Karmada's tests of health: a document for each case.
fn of_karmada(folder: &Path, cases: &mut Vec<Case>) {
    for path in sorted(folder) {
        if path.is_dir() {
            of_karmada(&path, cases);
        } else if path.ends_with("interprethealth-test.yaml") {
            let content = fs::read_to_string(&path).expect("a file of cases");
            let documents = yaml::documents(&content).expect("YAML").into_iter();
            cases.extend(documents.map(|document| Case {
                suite: "karmada-io+karmada".to_owned(),
                id: text(&document["name"]),
                object: document["observedObj"].clone(),
                word: match document["output"]["healthy"].as_bool() {
                    Some(true) => "Healthy".to_owned(),
                    Some(false) => "Unhealthy".to_owned(),
                    None => panic!("{}: no expectation", path.display()),
                },
            }));
        }
    }
}

/// is-healthy's fixtures: the name of the file or an annotation is the expected health.
fn of_fixtures(folder: &Path, cases: &mut Vec<Case>) {
    for path in sorted(folder) {
        if path.is_dir() {
            of_fixtures(&path, cases);
            continue;
        }
        let content = fs::read_to_string(&path).expect("a fixture");
        // A time near now makes the verdict of another time another one.
        if content.contains("@now") {
            continue;
        }
        let object = yaml::documents(&content).expect("YAML").into_iter().next();
        let object = object.expect("a document");
        let name = path.file_stem().expect("a name").to_string_lossy();
        let annotated = object.pointer("/metadata/annotations/expected-health");
        let word = annotated.map_or_else(|| name.clone().into_owned(), text);
        if FIXTURE_WORDS.contains(&word.as_str()) {
            cases.push(Case {
                suite: "flanksource+is-healthy".to_owned(),
                id: path
                    .iter()
                    .rev()
                    .take(2)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect::<PathBuf>()
                    .display()
                    .to_string(),
                object,
                word,
            });
        }
    }
}

fn of_source(folder: &Path, line: &str) -> Case {
    let line: Value = serde_json::from_str(line).expect("a line of the program");
    let file = line["file"].as_str();
    let file = file.map(|file| fs::read_to_string(folder.join(file)).expect("a file of the suite"));
    let content = file.or_else(|| line["yaml"].as_str().map(str::to_owned));
    let object = content.map_or_else(
        || line["object"].clone(),
        |content| {
            let documents = yaml::documents(&content).expect("YAML");
            documents.into_iter().next().expect("a document")
        },
    );
    Case {
        suite: text(&line["suite"]),
        id: text(&line["id"]),
        object,
        word: text(&line["word"]),
    }
}
