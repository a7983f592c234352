//! Kubeconfigs on the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use kindsight_server::clusters::{
    ClusterSource, KubeconfigError, WatchOptions, kubeconfig_clusters,
};

/// A kubeconfig, and the only context to use, if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KubeconfigArg {
    path: PathBuf,
    context: Option<String>,
}

impl FromStr for KubeconfigArg {
    type Err = String;

    /// Parses `FILE` or `FILE:CONTEXT`. If a file with the complete text as its name exists, the text has no context.
    fn from_str(text: &str) -> Result<Self, String> {
        let (path, context) = match text.split_once(':') {
            Some((path, context)) if !Path::new(text).exists() => (path, Some(context)),
            _ => (text, None),
        };
        if path.is_empty() || context.is_some_and(str::is_empty) {
            return Err("expected FILE or FILE:CONTEXT".to_owned());
        }
        Ok(Self {
            path: path.into(),
            context: context.map(str::to_owned),
        })
    }
}

impl KubeconfigArg {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its clusters, watched with these options.
    ///
    /// # Errors
    /// [`KubeconfigError`].
    pub(crate) fn clusters(
        &self,
        options: &WatchOptions,
    ) -> Result<Vec<ClusterSource>, KubeconfigError> {
        let clusters = kubeconfig_clusters(&self.path, self.context.as_deref())?;
        let clusters = clusters.into_iter().map(|cluster| {
            ClusterSource::Kubernetes(Box::new(cluster.with_options(options.clone())))
        });
        Ok(clusters.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_named_after_the_file() {
        let arg: KubeconfigArg = "/x/config:arn:aws:eks".parse().unwrap();
        assert_eq!(arg.path, Path::new("/x/config"));
        assert_eq!(arg.context.as_deref(), Some("arn:aws:eks"));
        let arg: KubeconfigArg = "/x/config".parse().unwrap();
        assert_eq!(arg.context, None);
        for wrong in ["", ":a", "/x/config:"] {
            assert!(wrong.parse::<KubeconfigArg>().is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a:b");
        std::fs::write(&path, "").unwrap();
        let arg: KubeconfigArg = path.to_str().unwrap().parse().unwrap();
        assert_eq!((arg.path, arg.context), (path, None));
    }
}
