//! The tasks that bring interpreters into the catalog: from the directory, from registries, from the catalogue of rules,
//! and from Argo CD.

use std::sync::Arc;

use kindsight_catalog::{
    ArtifactSource, Catalog, ComponentDirectory, follow_artifact, follow_artifacts_in_turn,
    forget_artifacts, watch_directory,
};

use crate::argo_cm::{self, Followed};
use crate::error::Error;
use crate::settings::Settings;
use crate::tasks::Tasks;

/// The configured sources of interpreters.
pub(crate) struct InterpreterSources {
    directory: Option<ComponentDirectory>,
    artifacts: Option<ArtifactSource>,
    catalogue: Option<ArtifactSource>,
    argo_cm: Option<Followed>,
}

impl InterpreterSources {
    /// Takes the sources out of the settings.
    ///
    /// # Errors
    /// [`Error::ArgoCm`] if the ConfigMap of Argo CD cannot be followed.
    pub(crate) fn of(settings: &mut Settings) -> Result<Self, Error> {
        Ok(Self {
            directory: settings.component_directory(),
            artifacts: settings.artifacts.take(),
            catalogue: settings.catalogue.take(),
            argo_cm: Followed::of(settings)?,
        })
    }

    /// Removes versions of sources that are not configured any more. Called before the first request. Blocks.
    pub(crate) fn forget(&self, catalog: &Catalog) {
        for artifacts in [&self.artifacts, &self.catalogue].into_iter().flatten() {
            forget_artifacts(catalog, artifacts);
        }
        argo_cm::forget(catalog, self.argo_cm.as_ref());
    }

    /// Begins to follow each source. Each artifact has a task of its own, so that a slow registry delays no other.
    pub(crate) fn begin(self, tasks: &Tasks, catalog: &Arc<Catalog>) {
        if let Some(directory) = self.directory {
            let watching = watch_directory(Arc::clone(catalog), directory, tasks.shutdown());
            tasks.spawn("watcher of the directory of interpreters", watching);
        }
        if let Some(artifacts) = self.artifacts {
            for reference in artifacts.references.clone() {
                let (catalog, artifacts) = (Arc::clone(catalog), artifacts.clone());
                let following = follow_artifact(catalog, artifacts, reference, tasks.shutdown());
                tasks.spawn("follower of an artifact", following);
            }
        }
        if let Some(catalogue) = self.catalogue {
            let following =
                follow_artifacts_in_turn(Arc::clone(catalog), catalogue, tasks.shutdown());
            tasks.spawn("follower of the catalogue of rules", following);
        }
        if let Some(followed) = self.argo_cm {
            argo_cm::begin(tasks, catalog, followed);
        }
    }
}
