//! The place of an object in the API: its path, after the check of the project's rights.

use kindsight_cluster_index::ApiKind;
use kindsight_model::clean;

use super::manifest::{Manifest, escaped};
use super::{ObjectError, ObjectSender, SentObject};
use crate::RightsError;
use crate::absences::ObjectName;
use crate::kubernetes::REASON_BYTES_MAX;
use crate::kubernetes::discovery::path_of;

/// The namespace of a manifest that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// An object in the API.
pub(super) struct Place {
    pub(super) manifest: Manifest,
    /// Empty for a cluster-scoped object.
    namespace: String,
    /// The path of the object.
    pub(super) path: String,
}

impl ObjectSender {
    /// The place of an object; none if the API server does not serve its Kind. The project must have the right to use
    /// the Kind and the namespace.
    ///
    /// # Errors
    /// The manifest or the project's rights do not allow it, or the server does not answer.
    pub(super) async fn permitted_place(
        &self,
        object: &SentObject<'_>,
    ) -> Result<Option<Place>, ObjectError> {
        let manifest = Manifest::read(object.manifest)?;
        let rights = object.rights;
        rights
            .check_kind(manifest.sent_kind())
            .map_err(|error| no_right(&error))?;
        let Some(kind) = self.kinds.of(&self.link, &manifest).await? else {
            return Ok(None);
        };
        let namespace = namespace_of(&kind, &manifest);
        let checked = rights.check(manifest.sent_kind(), namespace, &manifest.name);
        checked.map_err(|error| no_right(&error))?;
        Ok(Some(Place::of(&kind, manifest)))
    }

    /// The place of an object whose Kind the API server must serve.
    ///
    /// # Errors
    /// The errors of [`ObjectSender::permitted_place`], and [`ObjectSender::unserved`].
    pub(super) async fn served_place(&self, object: &SentObject<'_>) -> Result<Place, ObjectError> {
        match self.permitted_place(object).await? {
            Some(place) => Ok(place),
            None => Err(self.unserved(&Manifest::read(object.manifest)?)),
        }
    }

    /// The place of an object that may exist, in any version of its Kind. A later change of the project's rights does not
    /// prevent its deletion.
    ///
    /// # Errors
    /// The manifest has no legal names, or the server does not answer.
    pub(super) async fn place(
        &self,
        object: &SentObject<'_>,
    ) -> Result<Option<Place>, ObjectError> {
        let manifest = Manifest::read(object.manifest)?;
        let kind = self.kinds.in_any_version(&self.link, &manifest).await?;
        Ok(kind.map(|kind| Place::of(&kind, manifest)))
    }

    /// The failure about a Kind that the API server does not serve. For some time after a CustomResourceDefinition of
    /// the group was applied, the Kind is awaited.
    pub(super) fn unserved(&self, manifest: &Manifest) -> ObjectError {
        let kind = manifest.kind_text();
        if self.awaited.has(&manifest.group) {
            return ObjectError::Unreachable(format!(
                "the API server does not serve the new Kind {kind} yet"
            ));
        }
        ObjectError::Refused(format!(
            "the API server does not serve the Kind {kind}, or its objects cannot be applied"
        ))
    }
}

impl Place {
    fn of(kind: &ApiKind, manifest: Manifest) -> Self {
        let namespace = namespace_of(kind, &manifest);
        let path = format!("{}/{}", path_of(kind, namespace), escaped(&manifest.name));
        let namespace = namespace.unwrap_or_default().to_owned();
        Self {
            manifest,
            namespace,
            path,
        }
    }

    /// The names of the object, for questions to the source of the cluster.
    pub(super) fn object_name(&self) -> ObjectName {
        ObjectName {
            group: self.manifest.group.clone(),
            kind: self.manifest.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.manifest.name.clone(),
        }
    }
}

/// The namespace that an object is sent to; none for a cluster-scoped Kind.
fn namespace_of<'a>(kind: &ApiKind, manifest: &'a Manifest) -> Option<&'a str> {
    let namespace = manifest.namespace.as_deref();
    kind.is_namespaced
        .then(|| namespace.unwrap_or(DEFAULT_NAMESPACE))
}

fn no_right(error: &RightsError) -> ObjectError {
    ObjectError::Refused(clean(&error.to_string(), REASON_BYTES_MAX).into_owned())
}
