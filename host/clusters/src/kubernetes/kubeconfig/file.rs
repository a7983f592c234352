//! A kubeconfig file that is parsed once for all its contexts, until it changes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kube::config::{Kubeconfig, KubeconfigError as UnusableConfig};

/// A kubeconfig file. Clones share its parsed content.
#[derive(Clone)]
pub(in crate::kubernetes) struct KubeconfigFile {
    path: Arc<Path>,
    /// The content at the last read; `None` before it, and after a read during a change of the file.
    last: Arc<Mutex<Option<Content>>>,
}

/// The bytes of a file with their meaning.
struct Content {
    bytes: Vec<u8>,
    kubeconfig: Arc<Kubeconfig>,
}

impl KubeconfigFile {
    /// The file at a path. Does not read it.
    pub(in crate::kubernetes) fn new(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        Self {
            path: path.into(),
            last: Arc::default(),
        }
    }

    /// The present content, with absolute paths. Reads the file, which blocks, and parses it if it has changed.
    ///
    /// # Errors
    /// The file cannot be read, or it is not a kubeconfig.
    pub(super) fn read(&self) -> Result<Arc<Kubeconfig>, UnusableConfig> {
        let bytes = std::fs::read(&self.path)
            .map_err(|error| UnusableConfig::ReadConfig(error, self.path.to_path_buf()))?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.bytes == bytes) {
            return Ok(Arc::clone(&last.kubeconfig));
        }
        let kubeconfig = Arc::new(Kubeconfig::read_from(&self.path)?);
        // The library reads the file once more.
        let is_unchanged = std::fs::read(&self.path).is_ok_and(|now| now == bytes);
        *last = is_unchanged.then(|| Content {
            bytes,
            kubeconfig: Arc::clone(&kubeconfig),
        });
        Ok(kubeconfig)
    }
}

impl PartialEq for KubeconfigFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for KubeconfigFile {}

/// Without the content, which has credentials.
impl fmt::Debug for KubeconfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KubeconfigFile").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_parsed_again_only_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let write = |token: &str| {
            let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config",
                "users": [{"name": "u", "user": {"token": token}}]});
            std::fs::write(&path, kubeconfig.to_string()).unwrap();
        };
        write("s3cret");
        let file = KubeconfigFile::new(&path);
        let first = file.read().unwrap();
        assert!(Arc::ptr_eq(&first, &file.clone().read().unwrap()));
        assert!(!format!("{file:?}").contains("s3cret"));
        write("other!");
        let second = file.read().unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &file.read().unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert!(file.read().is_err());
        assert_eq!(file, KubeconfigFile::new(path));
    }
}
