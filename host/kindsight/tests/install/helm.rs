//! Helm over `deploy/chart`.

use std::path::PathBuf;
use std::process::{Command, Output};

use kindsight_cluster::{Binaries, Binary};
use serde_json::Value;

use crate::root;

/// The namespace of the release.
pub(crate) const NAMESPACE: &str = "kindsight";

/// The executable of Helm.
pub(crate) struct Helm(PathBuf);

impl Helm {
    /// Builds Helm with Go if necessary. `None` if this is not possible; with `CI=true`, that fails the test.
    pub(crate) fn or_skip() -> Option<Self> {
        let binaries = Binaries::or_skip(&[Binary::Helm])?;
        Some(Self(binaries.path(Binary::Helm).to_owned()))
    }

    /// Runs a command. `deploy/chart` is the path of the chart.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.0);
        command.args(arguments).current_dir(root());
        command.output().expect("helm")
    }

    /// The rendered manifests of a release `kindsight` with these values (`KEY=JSON`).
    ///
    /// # Errors
    /// The message of Helm, if it refuses the values.
    pub(crate) fn template(&self, values: &[&str]) -> Result<String, String> {
        let mut arguments = vec!["template", "kindsight", "deploy/chart"];
        arguments.extend(["--namespace", NAMESPACE]);
        for value in values {
            arguments.extend(["--set-json", value]);
        }
        let output = self.run(&arguments);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// The objects of [`Helm::template`].
    pub(crate) fn objects(&self, values: &[&str]) -> Vec<Value> {
        let text = self.template(values).expect("manifests");
        objects(&text)
    }
}

/// The objects of a file of manifests.
pub(crate) fn objects(text: &str) -> Vec<Value> {
    let documents = format!("\n{text}");
    let documents = documents.split("\n---\n").map(|document| {
        let object: Option<Value> = serde_saphyr::from_str(document).expect("a manifest");
        object
    });
    documents.flatten().collect()
}

/// The only object of a Kind.
pub(crate) fn object<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let mut of_kind = objects.iter().filter(|object| object["kind"] == kind);
    let object = of_kind.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(of_kind.next().is_none(), "several objects of Kind {kind}");
    object
}
