//! Clusters that operators register while servers run. All servers with the same store follow them.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_store::{Batch, Error as StoreError, Revision, Store, Watch};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, Unreadable, go_json, keys};

/// The version of registrations that this release writes and reads.
pub const REGISTRATION_VERSION: u64 = 1;

/// The registration of a cluster. The names are checked when they are used, and not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Registration {
    /// The place of the kubeconfig.
    pub kubeconfig: KubeconfigPlace,
    /// The context; the current one if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Only these namespaces; the entire cluster if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
}

/// The place of the kubeconfig of a registered cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KubeconfigPlace {
    /// The name of a file in the folder of kubeconfigs.
    File(String),
    /// The name of a Secret in the namespace of the host.
    Secret(String),
}

/// All registrations at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationList {
    /// The registrations that could be read, in order of their keys.
    pub registrations: Vec<(ClusterName, Registration)>,
    /// The registrations that could not be read. They are left as they are.
    pub unreadable: Vec<Unreadable>,
    /// The list contains all changes up to this revision, and may contain newer ones.
    pub revision: Revision,
}

#[derive(Serialize, Deserialize)]
struct Versioned {
    version: u64,
    registration: Registration,
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u64,
}

/// The registered clusters of a store. Cheap to clone.
#[derive(Clone)]
pub struct RegisteredClusters {
    store: Arc<dyn Store>,
}

impl RegisteredClusters {
    /// Opens the registrations of a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Reads the registration of a cluster; none if the cluster is not registered.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] for a registration that cannot be used.
    pub fn get(&self, name: &ClusterName) -> Result<Option<Registration>> {
        let key = keys::registration(name);
        let stored = self.store.get(&key)?;
        stored.map(|stored| decode(&key, &stored)).transpose()
    }

    /// Registers a cluster, or replaces its registration. Returns true if the cluster is new.
    ///
    /// # Errors
    /// Those of the store. An unreadable registration is not replaced.
    pub fn put(&self, name: &ClusterName, registration: &Registration) -> Result<bool> {
        let key = keys::registration(name);
        let current = self.store.get(&key)?;
        if let Some(current) = &current
            && decode(&key, current)? == *registration
        {
            return Ok(false);
        }
        let value = go_json::encode(&Versioned {
            version: REGISTRATION_VERSION,
            registration: registration.clone(),
        })?;
        let batch = match &current {
            Some(current) => Batch::new().equals(&key, current.clone()),
            None => Batch::new().absent(&key),
        };
        self.store.apply(&batch.put(&key, value))?;
        Ok(current.is_none())
    }

    /// Removes the registration of a cluster. Returns false if the cluster was not registered.
    ///
    /// # Errors
    /// Those of the store.
    pub fn remove(&self, name: &ClusterName) -> Result<bool> {
        let key = keys::registration(name);
        match self.store.apply(&Batch::new().present(&key).delete(&key)) {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists all registrations.
    ///
    /// # Errors
    /// Those of the store.
    pub fn list(&self) -> Result<RegistrationList> {
        let range = self.store.range(keys::REGISTRATIONS)?;
        let mut listed = RegistrationList {
            registrations: Vec::new(),
            unreadable: Vec::new(),
            revision: range.revision,
        };
        for entry in range.entries {
            let read = match keys::registration_of(&entry.key) {
                Some(name) => decode(&entry.key, &entry.value)
                    .map(|registration| (name, registration))
                    .map_err(|error| error.to_string()),
                None => Err("the key is not one of a registration".to_owned()),
            };
            match read {
                Ok(read) => listed.registrations.push(read),
                Err(why) => listed.unreadable.push(Unreadable {
                    key: entry.key,
                    why,
                }),
            }
        }
        Ok(listed)
    }

    /// Watches the registrations from the revision `after` on, by any writer.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] when the store does not keep changes that far back: list everything again.
    pub fn watch(&self, after: Revision) -> Result<Watch> {
        Ok(self.store.watch(keys::REGISTRATIONS, after)?)
    }
}

fn decode(key: &str, stored: &[u8]) -> Result<Registration> {
    let unreadable = |error: serde_json::Error| Error::Unreadable {
        key: key.to_owned(),
        why: error.to_string(),
    };
    let VersionOnly { version } = serde_json::from_slice(stored).map_err(unreadable)?;
    if version != REGISTRATION_VERSION {
        return Err(Error::UnknownVersion {
            key: key.to_owned(),
            found: version,
            known: REGISTRATION_VERSION,
        });
    }
    let versioned: Versioned = serde_json::from_slice(stored).map_err(unreadable)?;
    Ok(versioned.registration)
}

#[cfg(test)]
mod tests {
    use kindsight_store::RedbStore;

    use super::*;

    fn registration(file: &str) -> Registration {
        Registration {
            kubeconfig: KubeconfigPlace::File(file.to_owned()),
            context: None,
            namespaces: vec!["web".to_owned()],
        }
    }

    #[test]
    fn a_registered_cluster_remains_until_it_is_removed() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        let clusters = RegisteredClusters::new(Arc::clone(&store));
        let name: ClusterName = "lab+edge01".parse().unwrap();
        assert!(clusters.put(&name, &registration("a")).unwrap());
        assert!(!clusters.put(&name, &registration("a")).unwrap());
        assert!(!clusters.put(&name, &registration("b")).unwrap());
        assert_eq!(clusters.get(&name).unwrap(), Some(registration("b")));
        let listed = clusters.list().unwrap().registrations;
        assert_eq!(listed, [(name.clone(), registration("b"))]);
        let stored = store.get("/kindsight/registrations/lab+edge01/").unwrap();
        assert_eq!(
            String::from_utf8(stored.unwrap()).unwrap(),
            r#"{"version":1,"registration":{"kubeconfig":{"file":"b"},"namespaces":["web"]}}"#
        );
        assert!(clusters.remove(&name).unwrap());
        assert!(!clusters.remove(&name).unwrap());
        assert_eq!(clusters.get(&name).unwrap(), None);
    }

    #[test]
    fn a_registration_of_another_release_is_left_as_it_is() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        let clusters = RegisteredClusters::new(Arc::clone(&store));
        let key = "/kindsight/registrations/lab+edge01/";
        store
            .apply(&Batch::new().put(key, r#"{"version":2}"#))
            .unwrap();
        let name: ClusterName = "lab+edge01".parse().unwrap();
        let error = clusters.put(&name, &registration("a")).unwrap_err();
        assert!(matches!(error, Error::UnknownVersion { found: 2, .. }));
        let listed = clusters.list().unwrap();
        assert_eq!(listed.registrations, []);
        assert_eq!(listed.unreadable[0].key, key);
    }
}
