//! Rules that differ from another tool say so: a comment of the rule names the tool.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kindsight_conversion::declarative;
use serde_json::Value;

use super::cases::Case;
use crate::catalogue::sorted;
use crate::root;

/// The comments of the rules, by the group and the Kind that they judge.
pub(super) struct Comments(BTreeMap<(String, String), String>);

impl Comments {
    /// # Panics
    /// If a file of the catalogue cannot be read.
    pub(super) fn read() -> Self {
        let folders = sorted(&root().join("catalogue"));
        let files = folders.into_iter().filter(|path| path.is_dir());
        let mut comments = BTreeMap::new();
        for file in files.flat_map(|folder| sorted(&folder)) {
            let text = fs::read_to_string(&file).expect("text");
            let rules = declarative::read(&file.display().to_string(), &text);
            let rules = rules.unwrap_or_else(|error| panic!("{error}"));
            let lines = text.lines().filter(|line| line.starts_with('#'));
            let lines: Vec<&str> = lines.collect();
            for rule in rules.rules {
                comments.insert((rule.group, rule.kind), lines.join("\n"));
            }
        }
        Self(comments)
    }

    /// The Kinds whose rule does not name the tool of a case that it judges in another way, each with the tool.
    pub(super) fn silent(&self, differing: &[&Case]) -> BTreeSet<String> {
        let lacking = differing.iter().filter_map(|case| {
            let kind = kind(&case.object);
            let comment = self.0.get(&kind)?;
            let tool = tool(&case.suite);
            let is_named = comment.contains(tool);
            (!is_named).then(|| format!("{}.{}: no comment names {tool}", kind.1, kind.0))
        });
        lacking.collect()
    }
}

/// The group and the Kind of an object.
fn kind(object: &Value) -> (String, String) {
    let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let version = text("apiVersion");
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    (group.to_owned(), text("kind"))
}

/// The name of a tool in the comments.
fn tool(suite: &str) -> &str {
    match suite {
        "argoproj+argo-cd" | "Argo CD 3.1.9" | "argocd" => "Argo CD",
        "argoproj+argo-rollouts" => "GetRolloutPhase",
        "karmada" | "karmada-io+karmada" => "Karmada",
        "rancher+wrangler" => "Wrangler",
        "akuity+kargo" => "Kargo",
        "aws+eks-anywhere" => "EKS Anywhere",
        "kserve+kserve" => "KServe",
        "kubernetes-sigs+prow" => "Prow",
        "netgroup-polito+CrownLabs" => "CrownLabs",
        "kubeflow+pipelines" => "Kubeflow Pipelines",
        "openkruise+kruise" => "CloneSetAvailable",
        "openshift-pipelines+pipelines-as-code" => "Pipelines-as-Code",
        "stolostron+cluster-backup-operator" => "cluster-backup-operator",
        other => other.rsplit_once('+').map_or(other, |(_, name)| name),
    }
}
