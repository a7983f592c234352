//! The versions of artifacts in the state of the catalog.

use std::collections::BTreeSet;

use kindsight_api::interpreters::Refusal;
use kindsight_model::{Digest, InterpreterName, Source, VersionOutcome};

use crate::catalog::Catalog;
use crate::commit::Edit;
use crate::snapshot::Loaded;
use crate::state::{Entry, SourceVersions, Version};

impl Catalog {
    /// The live versions that an artifact of this source fills.
    pub(super) fn live_versions_of(
        &self,
        source: Source,
        artifact: &str,
    ) -> Vec<(InterpreterName, Version)> {
        let snapshot = self.snapshot();
        let live = |entry: &Entry| {
            let versions = entry.sources.get(&source)?;
            versions.file.as_deref().filter(|file| *file == artifact)?;
            versions.with(VersionOutcome::Live).cloned()
        };
        let entries = snapshot.state.entries.iter();
        let found = entries.filter_map(|(name, entry)| Some((name.clone(), live(entry)?)));
        found.collect()
    }

    /// The components of this source that the catalog keeps.
    pub(super) fn kept_components(&self, source: Source) -> BTreeSet<Digest> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.values();
        let versions = entries.filter_map(|entry| entry.sources.get(&source));
        let versions = versions.flat_map(|versions| &versions.versions);
        let kept = versions.filter(|version| version.outcome != VersionOutcome::Refused);
        kept.map(|version| version.digest.clone()).collect()
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
