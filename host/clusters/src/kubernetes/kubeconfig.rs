//! Kubeconfigs: each context of one is a cluster.

mod file;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use kindsight_model::{ClusterName, clean};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError as UnusableConfig};

pub(super) use self::file::KubeconfigFile;
use super::error_text::{without_credentials, without_paths};
use super::{Access, KubernetesCluster, REASON_BYTES_MAX, WatchOptions};

/// Provider of the clusters of a kubeconfig.
const PROVIDER: &str = "kubeconfig";
/// Maximum length of the name of a cluster, in bytes.
const NAME_BYTES_MAX: usize = 63;

/// The reason why a kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// The file cannot be read.
    #[error("the kubeconfig {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error.
        error: String,
    },
    /// It has no contexts.
    #[error("the kubeconfig {} has no contexts", path.display())]
    NoContexts {
        /// The file.
        path: PathBuf,
    },
    /// The file does not have the requested context.
    #[error("the kubeconfig {} has no context `{context}`: it has {known}", path.display())]
    NoSuchContext {
        /// The file.
        path: PathBuf,
        /// The requested context.
        context: String,
        /// The contexts of the file.
        known: String,
    },
}

/// The clusters of a kubeconfig, named `kubeconfig+<context>`: each of its contexts, or only the requested context.
/// Characters that a name cannot have become `-`.
///
/// # Errors
/// [`KubeconfigError`].
pub fn kubeconfig_clusters(
    path: &Path,
    context: Option<&str>,
) -> Result<Vec<KubernetesCluster>, KubeconfigError> {
    let path = path.to_owned();
    let file = KubeconfigFile::new(&path);
    let kubeconfig = file.read().map_err(|error| KubeconfigError::Unreadable {
        path: path.clone(),
        error: unreadable(&error),
    })?;
    let contexts = kubeconfig.contexts.iter();
    let all: Vec<String> = contexts.map(|it| it.name.clone()).collect();
    if all.is_empty() {
        return Err(KubeconfigError::NoContexts { path });
    }
    if let Some(context) = context
        && !all.iter().any(|known| known == context)
    {
        return Err(KubeconfigError::NoSuchContext {
            path,
            context: context.to_owned(),
            known: all.join(", "),
        });
    }
    let is_found = context.is_none();
    let mut taken = BTreeSet::new();
    let named = all
        .into_iter()
        .map(|context| (cluster_name(&context, &mut taken), context));
    let asked = named.filter(|(_, name)| context.is_none_or(|context| name == context));
    Ok(asked
        .filter_map(|(name, context)| {
            let content = content(&kubeconfig, Some(&context));
            let cluster = KubernetesCluster::of_context(name?, &file, Some(context), content);
            Some(KubernetesCluster {
                is_found,
                ..cluster
            })
        })
        .collect())
}

/// The reason why a kubeconfig cannot be used. The caller names the file.
pub(super) fn unreadable(error: &UnusableConfig) -> String {
    match error {
        UnusableConfig::ReadConfig(error, _) => error.to_string(),
        UnusableConfig::Parse(error) => {
            // The message quotes the text around the position, which may be a token.
            let at = error.location();
            let at = at.map(|at| format!(" at line {} column {}", at.line(), at.column()));
            let at = at.unwrap_or_default();
            format!(
                "its YAML is invalid{at}; expected a file of `apiVersion: v1` and `kind: Config`"
            )
        }
        UnusableConfig::KindMismatch | UnusableConfig::ApiVersionMismatch => {
            "expected a file of `apiVersion: v1` and `kind: Config`".to_owned()
        }
        UnusableConfig::CurrentContextNotSet => {
            "it has no `current-context`, and none is named".to_owned()
        }
        UnusableConfig::LoadContext(name) => format!("it has no context `{name}`"),
        UnusableConfig::LoadClusterOfContext(name) => format!("it has no cluster `{name}`"),
        error => without_credentials(error),
    }
}

/// A name for a context, different from all taken names.
fn cluster_name(context: &str, taken: &mut BTreeSet<String>) -> Option<ClusterName> {
    let is_legal = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let legal: String = context
        .chars()
        .map(|char| if is_legal(&char) { char } else { '-' })
        .collect();
    let is_edge = |character: char| !character.is_ascii_alphanumeric();
    let trimmed = legal.trim_matches(is_edge);
    // The end of a long name distinguishes clusters: names of clouds begin with the account.
    let from = trimmed.len().saturating_sub(NAME_BYTES_MAX - 3);
    let cut = trimmed.get(from..).unwrap_or(trimmed).trim_matches(is_edge);
    let cut = if cut.is_empty() { "context" } else { cut };
    let mut name = cut.to_owned();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{cut}-{number}");
        number += 1;
    }
    ClusterName::new(PROVIDER, &name).ok()
}

/// A hash of a context in a kubeconfig: its server and its credentials. A changed content changes the hash. None
/// without such a context.
fn content(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<u64> {
    let Kubeconfig {
        contexts,
        clusters,
        auth_infos,
        ..
    } = of_context(kubeconfig, context);
    contexts.first()?.context.as_ref()?;
    let json = serde_json::to_string(&(contexts, clusters, auth_infos)).ok()?;
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    Some(hasher.finish())
}

/// The part of a kubeconfig that a context uses; the current context if none is named. A copy of it costs little,
/// although the file may have many contexts.
fn of_context(kubeconfig: &Kubeconfig, context: Option<&str>) -> Kubeconfig {
    let name = context.or(kubeconfig.current_context.as_deref());
    let mut contexts = kubeconfig.contexts.iter();
    let named = contexts.find(|named| Some(&*named.name) == name);
    let context = named.and_then(|named| named.context.as_ref());
    let mut clusters = kubeconfig.clusters.iter();
    let cluster = clusters.find(|named| context.is_some_and(|it| it.cluster == named.name));
    let mut users = kubeconfig.auth_infos.iter();
    let user = users.find(|named| context.is_some_and(|it| it.user.as_ref() == Some(&named.name)));
    Kubeconfig {
        contexts: named.cloned().into_iter().collect(),
        clusters: cluster.cloned().into_iter().collect(),
        auth_infos: user.cloned().into_iter().collect(),
        current_context: kubeconfig.current_context.clone(),
        ..Kubeconfig::default()
    }
}

impl KubernetesCluster {
    /// A cluster by a context of a kubeconfig; by the current context if none is named. Reads the file, so that a
    /// changed context makes the value differ from an earlier value.
    pub fn from_kubeconfig(
        name: ClusterName,
        path: impl Into<PathBuf>,
        context: Option<String>,
    ) -> Self {
        let file = KubeconfigFile::new(path);
        let kubeconfig = file.read().ok();
        let content = kubeconfig.and_then(|it| content(&it, context.as_deref()));
        Self::of_context(name, &file, context, content)
    }

    /// A cluster by a context of a kubeconfig, with the hash of the context's content.
    fn of_context(
        name: ClusterName,
        file: &KubeconfigFile,
        context: Option<String>,
        content: Option<u64>,
    ) -> Self {
        let origin = context.as_deref().unwrap_or("current");
        Self {
            name,
            origin: clean(origin, REASON_BYTES_MAX).into(),
            is_found: false,
            access: Access::Kubeconfig {
                file: file.clone(),
                context,
                content,
            },
            options: WatchOptions::default(),
        }
    }
}

impl Access {
    /// The configuration of a client. Reads files, which blocks.
    pub(super) async fn config(&self) -> Result<Config, String> {
        match self {
            Self::InCluster => {
                Config::incluster().map_err(|error| without_paths(&without_credentials(&error)))
            }
            Self::Registered {
                kubeconfig,
                context,
                ..
            } => kubeconfig.config(context.as_deref()).await,
            Self::Kubeconfig { file, context, .. } => {
                let kubeconfig = file.read().map_err(|error| unusable(&error))?;
                let kubeconfig = of_context(&kubeconfig, context.as_deref());
                let options = KubeConfigOptions {
                    context: context.clone(),
                    ..KubeConfigOptions::default()
                };
                let config = Config::from_custom_kubeconfig(kubeconfig, &options);
                config.await.map_err(|error| unusable(&error))
            }
        }
    }
}

/// The reason why the kubeconfig of a cluster cannot be used, without paths.
fn unusable(error: &UnusableConfig) -> String {
    let why = without_paths(&unreadable(error));
    format!("its kubeconfig cannot be used: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(contexts: &[&str], only: Option<&str>) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let contexts = contexts.iter().map(
            |name| serde_json::json!({"name": name, "context": {"cluster": "c", "user": "u"}}),
        );
        let contexts: Vec<_> = contexts.collect();
        let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config",
            "contexts": contexts, "clusters": [], "users": []});
        std::fs::write(&path, kubeconfig.to_string()).unwrap();
        let clusters = kubeconfig_clusters(&path, only).map_err(|error| {
            let error = error.to_string();
            error.replace(&path.display().to_string(), "FILE")
        })?;
        let named = clusters
            .iter()
            .map(|cluster| format!("{} {}", cluster.name(), cluster.origin()));
        Ok(named.collect())
    }

    #[test]
    fn each_context_is_a_cluster_with_a_legal_name_of_its_own() {
        let long = "arn:aws:eks:eu-central-1:123456789012:cluster/a-rather-long-name-of-a-cluster";
        let named = clusters(&["edge01", "me@home", "me:home", long, "@"], None);
        let expected = [
            "kubeconfig+edge01 edge01",
            "kubeconfig+me-home me@home",
            "kubeconfig+me-home-2 me:home",
            &format!(
                "kubeconfig+ntral-1-123456789012-cluster-a-rather-long-name-of-a-cluster {long}"
            ),
            "kubeconfig+context @",
        ];
        assert_eq!(named.unwrap(), expected);
    }

    #[test]
    fn an_error_of_the_syntax_has_its_position_and_no_part_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        for text in [
            "s3cret.token",
            "apiVersion: v1\nusers: s3cret",
            "users:\n- {name: a, user: {token: [s3cret]}}",
            "users: &s3cret\n- *s3crets",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = kubeconfig_clusters(&path, None).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
            assert!(error.contains("at line "), "{error}");
            assert!(error.contains("`kind: Config`"), "{error}");
        }
    }

    #[test]
    fn an_unknown_context_is_an_error_that_lists_the_contexts() {
        assert_eq!(
            clusters(&["a", "b"], Some("b")).unwrap(),
            ["kubeconfig+b b"]
        );
        let error = clusters(&["a", "b"], Some("c")).unwrap_err();
        assert_eq!(error, "the kubeconfig FILE has no context `c`: it has a, b");
        let error = clusters(&[], None).unwrap_err();
        assert_eq!(error, "the kubeconfig FILE has no contexts");
        let error = kubeconfig_clusters(Path::new("/nonexistent"), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the kubeconfig /nonexistent cannot be read: No such file or directory (os error 2)"
        );
        let error = unusable(&UnusableConfig::LoadContext("c".to_owned()));
        assert_eq!(
            error,
            "its kubeconfig cannot be used: it has no context `c`"
        );
    }
}
