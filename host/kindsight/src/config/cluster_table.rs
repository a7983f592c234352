//! `[[cluster]]` tables of the configuration file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use kindsight_model::{NamePattern, ReportMode, parse_selector};
use kindsight_server::clusters::{
    ClusterSource, FolderCluster, KubeconfigRef, KubernetesCluster, PushedCluster, Selection,
    WatchOptions,
};
use serde::Deserialize;

/// Errors about `namespaces`, `selector`, `mode` and `kubeconfig-refs` of a folder.
const FOLDER: [&str; 4] = [
    "`namespaces` are of an API server, and a folder has none",
    "`selector` is of an API server: a folder has bundles alone",
    "`mode` is of an API server: a folder has bundles alone",
    "`kubeconfig-refs` are of an API server: a folder has bundles alone",
];
/// The same of a cluster whose agent pushes.
const PUSHED: [&str; 4] = [
    "`namespaces` are settings of the agent that pushes",
    "`selector` is a setting of the agent that pushes",
    "`mode` is a setting of the agent that pushes",
    "`kubeconfig-refs` are of clusters that the server watches",
];

/// One `[[cluster]]` of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClusterTable {
    /// `provider+name`.
    name: String,
    /// A folder of ResourceBundleState files.
    folder: Option<PathBuf>,
    /// A kubeconfig.
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; its current one where none is named.
    context: Option<String>,
    /// The cluster that the server itself runs in.
    #[serde(default)]
    in_cluster: bool,
    /// An agent pushes the reports.
    #[serde(default)]
    push: bool,
    /// Only these namespaces.
    #[serde(default)]
    namespaces: Vec<String>,
    /// A label selector in the syntax of `kubectl`. Only selected objects can belong to an application by their own
    /// metadata.
    selector: Option<String>,
    /// Patterns of Kinds whose objects have owners, in addition to such Kinds of Kubernetes.
    #[serde(default)]
    children: Vec<String>,
    /// Secrets and ConfigMaps whose kubeconfigs lead to the cluster, for objects of Flux in other clusters.
    #[serde(default)]
    kubeconfig_refs: Vec<String>,
    /// The source of reports on the apps of `AppContext`s.
    mode: Option<ReportMode>,
}

impl FromStr for ClusterTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Self = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[cluster]]: {text}")
        })?;
        table.source(&WatchOptions::default())?;
        Ok(table)
    }
}

impl ClusterTable {
    /// The kubeconfig that it names.
    pub(crate) fn kubeconfig(&self) -> Option<&Path> {
        self.kubeconfig.as_deref()
    }

    /// The source of the cluster, with these options in addition to its own.
    ///
    /// # Errors
    /// The table has no source or several, or a setting that its source does not have.
    pub(crate) fn source(&self, options: &WatchOptions) -> Result<ClusterSource, String> {
        let invalid = |what: &str| format!("[[cluster]] `{}`: {what}", self.name);
        let name = self
            .name
            .parse()
            .map_err(|error| invalid(&format!("{error}")))?;
        if self.context.is_some() && self.kubeconfig.is_none() {
            return Err(invalid("`context` is of a `kubeconfig`, and none is named"));
        }
        if !self.children.is_empty() && self.selector.is_none() {
            return Err(invalid(
                "`children` are Kinds that a `selector` does not concern, and none is named",
            ));
        }
        let cluster = match (&self.folder, &self.kubeconfig, self.in_cluster, self.push) {
            (Some(folder), None, false, false) => {
                self.check_unwatched(&FOLDER).map_err(invalid)?;
                return Ok(ClusterSource::Folder(FolderCluster::new(name, folder)));
            }
            (None, None, false, true) => {
                self.check_unwatched(&PUSHED).map_err(invalid)?;
                return Ok(ClusterSource::Pushed(PushedCluster::new(name)));
            }
            (None, Some(kubeconfig), false, false) => {
                let context = self.context.clone();
                KubernetesCluster::from_kubeconfig(name, kubeconfig, context)
            }
            (None, None, true, false) => KubernetesCluster::in_cluster(name),
            _ => {
                let one =
                    "expected one of `folder`, `kubeconfig`, `in-cluster = true` and `push = true`";
                return Err(invalid(one));
            }
        };
        let options = WatchOptions {
            namespaces: self
                .namespaces
                .iter()
                .map(|namespace| namespace.as_str().into())
                .collect(),
            selection: self.selection().map_err(|why| invalid(&why))?,
            mode: self.mode.unwrap_or_default(),
            kubeconfigs: self.kubeconfigs().map_err(|why| invalid(&why))?,
            ..options.clone()
        };
        let cluster = Box::new(cluster.with_options(options));
        Ok(ClusterSource::Kubernetes(cluster))
    }

    /// Refuses the settings of an API server that the server watches, with these texts.
    fn check_unwatched(&self, refused: &[&'static str; 4]) -> Result<(), &'static str> {
        let [namespaces, selector, mode, kubeconfigs] = *refused;
        let settings = [
            (!self.namespaces.is_empty(), namespaces),
            (self.selector.is_some(), selector),
            (self.mode.is_some(), mode),
            (!self.kubeconfig_refs.is_empty(), kubeconfigs),
        ];
        let mut set = settings.into_iter().filter(|(is_set, _)| *is_set);
        set.next().map_or(Ok(()), |(_, why)| Err(why))
    }

    /// The objects whose kubeconfigs lead to the cluster.
    fn kubeconfigs(&self) -> Result<BTreeSet<KubeconfigRef>, String> {
        let texts = self.kubeconfig_refs.iter();
        let all = texts.map(|text| {
            let parsed = text.parse();
            parsed.map_err(|error| format!("`kubeconfig-refs`: `{text}`: {error}"))
        });
        all.collect()
    }

    /// The objects that belong to applications by themselves; all of them where no selector is named.
    fn selection(&self) -> Result<Option<Selection>, String> {
        let Some(selector) = &self.selector else {
            return Ok(None);
        };
        let children = self
            .children
            .iter()
            .map(|pattern| pattern.parse().map_err(|_| pattern));
        let children = children.collect::<Result<Arc<[NamePattern]>, _>>();
        Ok(Some(Selection {
            selector: parse_selector(selector).map_err(|error| format!("`selector`: {error}"))?,
            children: children.map_err(|pattern| {
                format!("`children`: `{pattern}` is not a pattern of Kinds: write `Kind` or `Kind.group`, with `*` for any characters")
            })?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &str) -> Result<String, String> {
        let table: ClusterTable = json.parse()?;
        let source = table.source(&WatchOptions::default())?;
        Ok(format!("{} {source}", source.name()))
    }

    #[test]
    #[expect(
        clippy::too_many_lines,
        reason = "a table with one entry for each setting"
    )]
    fn a_table_names_one_source() {
        let edge = |rest: &str| parsed(&format!(r#"{{"name":"p+edge"{rest}}}"#));
        assert_eq!(edge(r#","folder":"/x""#).unwrap(), "p+edge /x");
        let kubeconfig = r#","kubeconfig":"/k","context":"a@b","namespaces":["web"]"#;
        assert_eq!(edge(kubeconfig).unwrap(), "p+edge context a@b");
        assert_eq!(
            edge(r#","kubeconfig":"/k""#).unwrap(),
            "p+edge context current"
        );
        assert_eq!(
            edge(r#","in-cluster":true"#).unwrap(),
            "p+edge context in-cluster"
        );
        assert_eq!(
            edge(r#","push":true"#).unwrap(),
            "p+edge an agent that pushes"
        );
        let check = |rest: &str, message: &str| assert_eq!(edge(rest).unwrap_err(), message);
        let one = "[[cluster]] `p+edge`: expected one of `folder`, `kubeconfig`, `in-cluster = true` and `push = true`";
        check("", one);
        check(r#","folder":"/x","in-cluster":true"#, one);
        check(r#","push":true,"in-cluster":true"#, one);
        check(
            r#","push":true,"namespaces":["a"]"#,
            "[[cluster]] `p+edge`: `namespaces` are settings of the agent that pushes",
        );
        check(
            r#","folder":"/x","context":"a""#,
            "[[cluster]] `p+edge`: `context` is of a `kubeconfig`, and none is named",
        );
        check(
            r#","folder":"/x","namespaces":["a"]"#,
            "[[cluster]] `p+edge`: `namespaces` are of an API server, and a folder has none",
        );
        check(
            r#","folder":"/x","mode":"direct""#,
            "[[cluster]] `p+edge`: `mode` is of an API server: a folder has bundles alone",
        );
        edge(r#","in-cluster":true,"mode":"bundles""#).unwrap();
        check(
            r#","folder":"/x","selector":"team=web""#,
            "[[cluster]] `p+edge`: `selector` is of an API server: a folder has bundles alone",
        );
        check(
            r#","in-cluster":true,"selector":"team is web""#,
            "[[cluster]] `p+edge`: `selector`: `is` after `team`: expected `=`, `==`, `!=`, `in (…)`, `notin (…)`, `,` or the end",
        );
        check(
            r#","in-cluster":true,"children":["Order.acme.io"]"#,
            "[[cluster]] `p+edge`: `children` are Kinds that a `selector` does not concern, and none is named",
        );
        check(
            r#","in-cluster":true,"selector":"team=web","children":["acme.io/Order"]"#,
            "[[cluster]] `p+edge`: `children`: `acme.io/Order` is not a pattern of Kinds: write `Kind` or `Kind.group`, with `*` for any characters",
        );
        check(
            r#","in-cluster":true,"kubeconfig-refs":["edge01"]"#,
            "[[cluster]] `p+edge`: `kubeconfig-refs`: `edge01`: expected NAMESPACE/NAME or PROVIDER+CLUSTER/NAMESPACE/NAME",
        );
        check(
            r#","folder":"/x","kubeconfig-refs":["flux-system/edge01"]"#,
            "[[cluster]] `p+edge`: `kubeconfig-refs` are of an API server: a folder has bundles alone",
        );
        edge(r#","in-cluster":true,"kubeconfig-refs":["a/b","p+hub/a/b"]"#).unwrap();
        edge(r#","in-cluster":true,"selector":"team in (a, b),!old","children":["*.acme.io"]"#)
            .unwrap();
        let error = edge(r#","in-cluster":true,"mode":"both""#).unwrap_err();
        let expected = "unknown variant `both`, expected one of `auto`, `bundles`, `direct`";
        assert!(error.contains(expected), "{error}");
        let error = edge(r#","kubeconfg":"/k""#).unwrap_err();
        assert!(
            error.starts_with("[[cluster]]: unknown field `kubeconfg`"),
            "{error}"
        );
        let error = parsed(r#"{"name":"edge","folder":"/x"}"#).unwrap_err();
        assert!(error.contains("`edge` is not a cluster"), "{error}");
    }
}
