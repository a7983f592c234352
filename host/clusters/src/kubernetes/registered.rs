//! Kubeconfigs of clusters that are registered at run time.
//!
//! Whoever registers a cluster names a kubeconfig, and is no administrator of this host. A kubeconfig must therefore
//! have its credentials in itself: it can name no program and no file. It is checked each time that it is read.

mod checked;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kindsight_model::ClusterName;
use kube::Config;
use kube::config::KubeConfigOptions;
use serde::Deserialize;

use super::connection::ApiClient;
use super::error_text::without_paths;
use super::kubeconfig::unreadable;
use super::session::credentials;
use super::{Access, KubernetesCluster, WatchOptions};

/// Maximum size of a kubeconfig, in bytes.
const KUBECONFIG_BYTES_MAX: usize = 1024 * 1024;
/// Maximum length of the name of a file or a Secret, in bytes.
const NAME_BYTES_MAX: usize = 253;
/// The keys of a Secret that can have a kubeconfig, in the order in which they are tried. Cluster API uses `value`.
const SECRET_KEYS: [&str; 2] = ["kubeconfig", "value"];
/// The namespace of this host in its cluster.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The name of a file in the folder of kubeconfigs, or of a Secret in the namespace of this host. It has no path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BareName(Arc<str>);

/// A text that is not a [`BareName`]. The message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name without a path: 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` or `.`, beginning with a letter or digit"
)]
pub struct BareNameError;

impl BareName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BareName {
    type Err = BareNameError;

    fn from_str(text: &str) -> Result<Self, BareNameError> {
        let is_legal =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let begins = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_legal) {
            Ok(Self(text.into()))
        } else {
            Err(BareNameError)
        }
    }
}

impl fmt::Display for BareName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The Secrets in the namespace of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSecrets {
    /// The way to the cluster of this host.
    access: Box<Access>,
    namespace: Arc<str>,
}

/// The reason why this host has no Secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this process does not run in a Pod with a service account: {NAMESPACE_FILE} cannot be read: {0}"
)]
pub struct NoHostSecrets(String);

impl HostSecrets {
    /// The Secrets in the namespace of the Pod in which this process runs. Reads a file.
    ///
    /// # Errors
    /// [`NoHostSecrets`] if the process does not run in a Pod with a service account.
    pub fn of_pod() -> Result<Self, NoHostSecrets> {
        let namespace = std::fs::read_to_string(NAMESPACE_FILE);
        let namespace = namespace.map_err(|error| NoHostSecrets(error.to_string()))?;
        Ok(Self {
            access: Box::new(Access::InCluster),
            namespace: namespace.trim().into(),
        })
    }

    /// The Secrets in a namespace of any cluster.
    pub fn of_cluster(cluster: KubernetesCluster, namespace: &str) -> Self {
        Self {
            access: Box::new(cluster.access),
            namespace: namespace.into(),
        }
    }
}

/// The place of the kubeconfig of a registered cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisteredKubeconfig {
    /// A file in the folder of kubeconfigs.
    File {
        /// The folder.
        folder: PathBuf,
        /// The file.
        name: BareName,
    },
    /// A Secret in the namespace of this host.
    Secret {
        /// The Secrets.
        secrets: HostSecrets,
        /// The Secret.
        name: BareName,
    },
}

impl fmt::Display for RegisteredKubeconfig {
    /// For people, without the folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, .. } => write!(f, "file {name}"),
            Self::Secret { name, .. } => write!(f, "Secret {name}"),
        }
    }
}

impl KubernetesCluster {
    /// A registered cluster, by a context of its kubeconfig; by the current context if none is named. Reads a file, so
    /// that a changed file makes the value differ from an earlier value. A Secret is read at each connection.
    pub fn registered(
        name: ClusterName,
        kubeconfig: RegisteredKubeconfig,
        context: Option<String>,
        options: WatchOptions,
    ) -> Self {
        let content = match &kubeconfig {
            RegisteredKubeconfig::File { folder, name } => {
                let text = read_file(&folder.join(name.as_str()));
                text.ok().map(|text| {
                    let mut hasher = DefaultHasher::new();
                    text.hash(&mut hasher);
                    hasher.finish()
                })
            }
            RegisteredKubeconfig::Secret { .. } => None,
        };
        Self {
            name,
            origin: kubeconfig.to_string().into(),
            is_found: false,
            access: Access::Registered {
                kubeconfig,
                context,
                content,
            },
            options,
        }
    }

    /// Reads the configuration of the cluster, without a connection to the cluster. A Secret is read from the cluster of
    /// this host.
    ///
    /// # Errors
    /// The reason why the kubeconfig cannot be used, without a path or a credential.
    pub async fn check(&self) -> Result<(), String> {
        self.access.config().await.map(drop)
    }
}

impl RegisteredKubeconfig {
    /// The configuration of a client.
    pub(super) async fn config(&self, context: Option<&str>) -> Result<Config, String> {
        let text = match self {
            Self::File { folder, name } => {
                let path = folder.join(name.as_str());
                let read = tokio::task::spawn_blocking(move || read_file(&path)).await;
                let read = read.unwrap_or_else(|_| Err("it was not read".to_owned()));
                read.map_err(|why| format!("the kubeconfig {name} cannot be read: {why}"))?
            }
            Self::Secret { secrets, name } => {
                let read = secrets.read(name).await;
                read.map_err(|why| format!("the Secret {name} cannot be used: {why}"))?
            }
        };
        let kubeconfig =
            checked::parse(&text).map_err(|why| format!("its kubeconfig cannot be used: {why}"))?;
        let options = KubeConfigOptions {
            context: context.map(str::to_owned),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        config.map_err(|error| {
            let why = without_paths(&unreadable(&error));
            format!("its kubeconfig cannot be used: {why}")
        })
    }
}

impl HostSecrets {
    /// The kubeconfig in a Secret. A boxed future, because the way to the cluster of this host is an [`Access`] too.
    fn read<'a>(
        &'a self,
        name: &'a BareName,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        Box::pin(self.read_secret(name))
    }

    async fn read_secret(&self, name: &BareName) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Secret {
            #[serde(default)]
            data: BTreeMap<String, String>,
        }
        let mut config = self.access.config().await?;
        let token = credentials(&mut config).await;
        let (token, _) = token.map_err(|error| error.to_string())?;
        let client = ApiClient::connected(config, token).await;
        let client = client.map_err(|error| error.to_string())?;
        let namespace = &self.namespace;
        let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
        let answer = client.get(&path, "application/json").await;
        let answer = answer.map_err(|error| error.to_string())?;
        // An error of the parser could quote the Secret.
        let secret: Option<Secret> = serde_json::from_slice(&answer).ok();
        let secret = secret.ok_or("the answer is not a Secret")?;
        let value = SECRET_KEYS.iter().find_map(|key| secret.data.get(*key));
        let value =
            value.ok_or_else(|| format!("it has none of the keys {}", SECRET_KEYS.join(", ")))?;
        let bytes = STANDARD
            .decode(value)
            .map_err(|_| "its value is not Base64")?;
        String::from_utf8(bytes).map_err(|_| "its value is not text".to_owned())
    }
}

/// Reads a file of limited size. Anything but a file is an error, so that no read waits for a writer.
fn read_file(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let limit = u64::try_from(KUBECONFIG_BYTES_MAX).unwrap_or(u64::MAX);
    let mut file = file.take(limit.saturating_add(1));
    file.read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    if text.len() > KUBECONFIG_BYTES_MAX {
        return Err(format!("it has more than {KUBECONFIG_BYTES_MAX} bytes"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
