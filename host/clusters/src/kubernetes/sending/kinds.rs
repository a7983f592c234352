//! The Kinds of the API server, listed when a manifest needs them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_cluster_index::ApiKind;
use serde::Deserialize;

use super::ObjectError;
use super::failure::unexpected;
use super::link::{Call, JSON, Link};
use super::manifest::Manifest;
use crate::kubernetes::discovery::appliable_kinds;

/// Maximum number of versions of groups that are remembered.
const VERSIONS_MAX: usize = 256;

/// A version of a group.
type GroupVersion = (String, String);

/// The versions of a group.
#[derive(Deserialize)]
struct Group {
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

/// Known Kinds, by the version of their group.
#[derive(Default)]
pub(super) struct Kinds(Mutex<BTreeMap<GroupVersion, Arc<[ApiKind]>>>);

impl Kinds {
    /// The Kind of a manifest; none if the server does not serve it. A Kind that is not known is requested.
    ///
    /// # Errors
    /// The server does not answer, or does not list its Kinds.
    pub(super) async fn of(
        &self,
        link: &Link,
        manifest: &Manifest,
    ) -> Result<Option<ApiKind>, ObjectError> {
        let known = self.known().get(&version_of(manifest)).cloned();
        let known = known.and_then(|kinds| find(&kinds, manifest));
        if known.is_some() {
            return Ok(known);
        }
        let (group, version) = (&*manifest.group, &*manifest.version);
        let path = match group {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let reply = link.call(&Call::get(&path, JSON, None)).await?;
        let kinds = match reply.code {
            200..300 => appliable_kinds(group, version, &reply.body),
            404 => Ok(Vec::new()),
            _ => return Err(unexpected(&reply, &format!("list the Kinds of {path}"))),
        };
        let kinds = kinds.map_err(|error| ObjectError::Unreachable(error.to_string()))?;
        let found = find(&kinds, manifest);
        if found.is_some() {
            let mut known = self.known();
            if known.len() >= VERSIONS_MAX {
                known.clear();
            }
            known.insert(version_of(manifest), kinds.into());
        }
        Ok(found)
    }

    /// The Kind of a manifest in any version of its group; none if the server does not serve it.
    ///
    /// # Errors
    /// The errors of [`Kinds::of`].
    pub(super) async fn in_any_version(
        &self,
        link: &Link,
        manifest: &Manifest,
    ) -> Result<Option<ApiKind>, ObjectError> {
        let found = self.of(link, manifest).await?;
        if found.is_some() || manifest.group.is_empty() {
            return Ok(found);
        }
        let path = format!("/apis/{}", manifest.group);
        let reply = link.call(&Call::get(&path, JSON, None)).await?;
        let group = match reply.code {
            200..300 => serde_json::from_slice::<Group>(&reply.body),
            404 => return Ok(None),
            _ => return Err(unexpected(&reply, &format!("list the versions of {path}"))),
        };
        let group = group.map_err(|error| ObjectError::Unreachable(error.to_string()))?;
        for Version { version } in group.versions {
            let manifest = Manifest {
                version,
                ..manifest.clone()
            };
            let found = self.of(link, &manifest).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Forgets the Kinds of a version, because the server does not serve them as before.
    pub(super) fn forget(&self, manifest: &Manifest) {
        self.known().remove(&version_of(manifest));
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<GroupVersion, Arc<[ApiKind]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn version_of(manifest: &Manifest) -> GroupVersion {
    (manifest.group.clone(), manifest.version.clone())
}

fn find(kinds: &[ApiKind], manifest: &Manifest) -> Option<ApiKind> {
    let mut kinds = kinds.iter();
    kinds.find(|kind| *kind.gvk.kind == *manifest.kind).cloned()
}
