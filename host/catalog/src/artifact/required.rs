//! Required signatures: the versions of artifacts that this host may use.
//!
//! The requirement is a setting of this host. Another host that shares the store can have other
//! keys, or none. A version without a valid signature therefore keeps its place in the stored state,
//! and only this host does not use it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use kindsight_api::interpreters::Refusal;
use kindsight_model::{Digest, Source, VersionOutcome};

use crate::catalog::{Catalog, locked};
use crate::reconcile::OpenError;
use crate::state::{CatalogState, SourceVersions, Version};

/// The reason why a version is not used although its signatures were verified.
const NOT_SIGNED: &str = "`--require-signature` is set, and it has no valid signature";
/// The reason why a version is not used before its signatures were verified.
const NOT_VERIFIED: &str =
    "`--require-signature` is set, and this server has not verified a signature of it";

/// The sources whose versions need a valid signature, with the verified components.
#[derive(Default)]
pub(crate) struct RequiredSignatures(Mutex<BTreeMap<Source, Verified>>);

/// The known signatures of the versions of a source.
struct Verified {
    /// The components that were verified for each followed reference, and whether each has a valid
    /// signature.
    references: BTreeMap<String, BTreeMap<Digest, bool>>,
    /// The components that were live at the start. They are used until they are verified, so that a
    /// start without the registry changes nothing.
    live_at_start: BTreeSet<Digest>,
}

impl Verified {
    /// Returns whether a component has a valid signature; `None` if no signature was verified yet. One
    /// valid signature suffices, because it is a signature of the bytes.
    fn is_signed(&self, component: &Digest) -> Option<bool> {
        let verified = self.references.values();
        verified.filter_map(|of| of.get(component).copied()).max()
    }

    /// The reason why this host must not use a version, or `None` if it may.
    fn problem(&self, versions: &SourceVersions, version: &Version) -> Option<&'static str> {
        let was_live =
            version.outcome == VersionOutcome::Live && self.live_at_start.contains(&version.digest);
        match self.is_signed(&version.digest) {
            _ if version.outcome == VersionOutcome::Refused => None,
            Some(true) => None,
            Some(false) => Some(NOT_SIGNED),
            // The follower of its reference verifies it.
            None if was_live && self.follows(versions) => None,
            None => Some(NOT_VERIFIED),
        }
    }

    /// Returns whether the reference that fills a source is followed.
    fn follows(&self, versions: &SourceVersions) -> bool {
        let file = versions.file.as_ref();
        file.is_some_and(|file| self.references.contains_key(file))
    }
}

impl RequiredSignatures {
    /// Marks the versions of a state that this host must not use.
    pub(crate) fn mark(&self, state: &mut CatalogState) {
        for (source, verified) in &*locked(&self.0) {
            for entry in state.entries.values_mut() {
                let Some(versions) = entry.sources.get(source) else {
                    continue;
                };
                let unmarked = versions.versions.iter().filter_map(|version| {
                    let why = verified.problem(versions, version)?;
                    let is_marked = version.unavailable.is_some();
                    (!is_marked).then(|| (version.digest.clone(), why))
                });
                let unmarked: Vec<(Digest, &str)> = unmarked.collect();
                if unmarked.is_empty() {
                    continue;
                }
                if let Some(versions) = Arc::make_mut(entry).sources.get_mut(source) {
                    for (digest, why) in unmarked {
                        versions.set_unavailable(&digest, Some(&why.into()));
                    }
                }
            }
        }
    }

    /// Refuses a change that makes a version judge without a valid signature.
    ///
    /// # Errors
    /// [`Refusal::Conflict`].
    pub(crate) fn check(&self, before: &CatalogState, after: &CatalogState) -> Result<(), Refusal> {
        for (source, verified) in &*locked(&self.0) {
            for (name, entry) in &after.entries {
                let judging = entry.sources.get(source).and_then(SourceVersions::judging);
                let Some(version) = judging else { continue };
                let judged = before.entries.get(name);
                let judged = judged.and_then(|entry| entry.sources.get(source)?.judging());
                if judged.is_some_and(|judged| judged.digest == version.digest) {
                    continue;
                }
                let why = match verified.is_signed(&version.digest) {
                    Some(true) => continue,
                    Some(false) => NOT_SIGNED,
                    None => NOT_VERIFIED,
                };
                let version = &version.version;
                let why = format!("{name} {version} from {source} cannot be live: {why}");
                return Err(Refusal::Conflict(why));
            }
        }
        Ok(())
    }

    /// Returns whether the marks of a state are up to date.
    fn are_marked_in(&self, state: &CatalogState) -> bool {
        let required = locked(&self.0);
        required.iter().all(|(source, verified)| {
            let entries = state.entries.values();
            let mut filled = entries.filter_map(|entry| entry.sources.get(source));
            filled.all(|versions| {
                let mut versions_of = versions.versions.iter();
                versions_of.all(|version| {
                    let mark = version.unavailable.as_deref();
                    let own = mark.filter(|why| [NOT_SIGNED, NOT_VERIFIED].contains(why));
                    // A version that cannot be loaded is not used either.
                    let is_other = mark.is_some() && own.is_none();
                    is_other || own == verified.problem(versions, version)
                })
            })
        })
    }
}

impl Catalog {
    /// Requires valid signatures of the versions of a source. The followers of these references
    /// verify its live versions. Until then, `live_at_start` are used.
    pub(super) fn require_signatures(
        &self,
        source: Source,
        references: impl Iterator<Item = String>,
        live_at_start: BTreeSet<Digest>,
    ) {
        let references = references.map(|reference| (reference, BTreeMap::new()));
        let verified = Verified {
            references: references.collect(),
            live_at_start,
        };
        locked(&self.signatures.0).insert(source, verified);
    }

    /// Records whether a component has a valid signature. [`Self::apply_signatures`] makes it take
    /// effect.
    pub(super) fn record_signature(
        &self,
        source: Source,
        reference: &str,
        component: &Digest,
        is_signed: bool,
    ) {
        let kept = self.kept_versions(source);
        let kept: BTreeSet<&Digest> = kept.iter().map(|kept| &kept.version.digest).collect();
        let mut required = locked(&self.signatures.0);
        if let Some(verified) = required.get_mut(&source) {
            let verified = verified.references.entry(reference.to_owned());
            let verified = verified.or_default();
            verified.retain(|known, _| kept.contains(known));
            verified.insert(component.clone(), is_signed);
        }
    }

    /// Returns whether a component is known to have a valid signature.
    pub(super) fn is_signed(&self, source: Source, component: &Digest) -> bool {
        let required = locked(&self.signatures.0);
        let verified = required.get(&source);
        verified.and_then(|verified| verified.is_signed(component)) == Some(true)
    }

    /// Stops using versions that have no valid signature, and uses those again that have one now.
    ///
    /// # Errors
    /// The errors of [`Self::follow`].
    pub(super) fn apply_signatures(&self) -> Result<(), OpenError> {
        if !self.signatures.are_marked_in(&self.snapshot().state) {
            self.follow_stored(true)?;
        }
        Ok(())
    }
}
