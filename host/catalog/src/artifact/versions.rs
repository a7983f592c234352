//! The versions of artifacts in the state of the catalog.

use std::collections::BTreeSet;

use kindsight_api::interpreters::Refusal;
use kindsight_model::{Digest, InterpreterName, Source, VersionOutcome};

use crate::catalog::Catalog;
use crate::commit::Edit;
use crate::snapshot::Loaded;
use crate::state::{SourceVersions, Version};

/// A version that the catalog keeps.
pub(super) struct KeptVersion {
    pub(super) name: InterpreterName,
    /// The artifact that fills the source of the name, if there is one.
    pub(super) file: Option<String>,
    pub(super) version: Version,
}

impl KeptVersion {
    pub(super) fn is_live(&self) -> bool {
        self.version.outcome == VersionOutcome::Live
    }
}

impl Catalog {
    /// The versions of this source that the catalog keeps: all but the refused ones.
    pub(super) fn kept_versions(&self, source: Source) -> Vec<KeptVersion> {
        let snapshot = self.snapshot();
        let mut kept = Vec::new();
        for (name, entry) in &snapshot.state.entries {
            let Some(versions) = entry.sources.get(&source) else {
                continue;
            };
            let of_source = versions.versions.iter();
            let of_source = of_source.filter(|of| of.outcome != VersionOutcome::Refused);
            kept.extend(of_source.map(|version| KeptVersion {
                name: name.clone(),
                file: versions.file.clone(),
                version: version.clone(),
            }));
        }
        kept
    }

    /// The components of this source that the catalog keeps.
    pub(super) fn kept_components(&self, source: Source) -> BTreeSet<Digest> {
        let kept = self.kept_versions(source).into_iter();
        kept.map(|kept| kept.version.digest).collect()
    }

    /// Records the manifest with which an artifact named a component. Another host that shares the
    /// store, or the next start, can then verify the signature of a version that the tag does not
    /// name any more.
    ///
    /// # Errors
    /// Among others [`Refusal::Conflict`], if another host was faster.
    pub(super) fn record_manifest(
        &self,
        source: Source,
        component: &Digest,
        manifest: &Digest,
    ) -> Result<(), Refusal> {
        let lacks_it = |version: &Version| {
            version.digest == *component && version.manifest.as_ref() != Some(manifest)
        };
        self.transact(Loaded::new(), |_, _, state| {
            let entries = state.entries.iter();
            let lacking = entries.filter(|(_, entry)| {
                let versions = entry.sources.get(&source);
                versions.is_some_and(|versions| versions.versions.iter().any(lacks_it))
            });
            let lacking: Vec<InterpreterName> = lacking.map(|(name, _)| name.clone()).collect();
            if lacking.is_empty() {
                return Ok(Edit::Unchanged(()));
            }
            for name in &lacking {
                let entry = state.edit(name);
                if let Some(versions) = entry.and_then(|entry| entry.sources.get_mut(&source)) {
                    versions.set_manifest(component, manifest);
                }
            }
            Ok(Edit::Changed(()))
        })
    }
}

impl SourceVersions {
    /// Sets the manifest of a component.
    fn set_manifest(&mut self, component: &Digest, manifest: &Digest) {
        let versions = self.versions.iter_mut();
        for version in versions.filter(|version| version.digest == *component) {
            version.manifest = Some(manifest.clone());
        }
    }
}
