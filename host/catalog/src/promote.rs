//! The command that makes a candidate or a known version live.

use std::fmt::Write as _;

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};
use serde_json::{Map, Value};

use crate::conditional::Conditional;
use crate::snapshot::Loaded;
use crate::state::{Entry, Version};

/// The reason for the state of a version of a file or an artifact that another version replaces.
const PROMOTED_INSTEAD: &str = "another version was promoted by an operator";

/// A promotion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Promote {
    /// The digest of the version, or `None` for the candidate.
    pub digest: Option<Digest>,
    /// True to promote a candidate although its last shadow run had faults, and without a trial on
    /// the known objects.
    pub is_forced: bool,
    /// Settings that replace the present ones in the same change. `None` keeps the present ones.
    pub settings: Option<Map<String, Value>>,
}

impl Conditional<'_> {
    /// Makes the candidate live if it has this digest, or else the known version with this digest:
    /// one that was live before, was rolled back, or is built in. A known version also enables the
    /// name if it is disabled. Live versions of higher sources, which would override it, become
    /// previous versions.
    ///
    /// New settings are tried on the fixtures of the version, if it is in memory.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] if there is neither a candidate nor such a
    /// version, its settings are declared in a file and the promotion has others, the last shadow run of the candidate had faults, or it fails on more of the known
    /// objects than permitted; [`Refusal::Refused`] if the
    /// version refuses the settings.
    pub fn promote(&self, name: &InterpreterName, promote: &Promote) -> Result<Outcome, Refusal> {
        if let Some(settings) = &promote.settings {
            self.try_promoted(name, promote, settings)?;
        }
        let note = self.try_candidate(name, promote)?;
        self.change(name, CatalogAction::Promote, Source::Upload, |entry| {
            let (version, mut detail) = go_live(name, entry, promote)?;
            let declared = self.catalog.declare(name, entry, None)?;
            detail.push_str(&declared);
            if let Some(settings) = &promote.settings {
                entry.refuse_if_declared(name)?;
                entry.settings = Some(settings.clone());
                detail.push_str("; its settings are set");
            }
            detail.push_str(&note);
            Ok((version, detail))
        })
    }

    /// Tries the candidate on the known objects if this promotion makes it live. Returns the end of
    /// a sentence about the extent of the trial. A version that was live before is not tried: as
    /// after a rollback, its faults are known.
    fn try_candidate(&self, name: &InterpreterName, promote: &Promote) -> Result<String, Refusal> {
        self.check_name(name)?;
        let base = self.catalog.snapshot();
        let mut state = base.state.clone();
        let candidate = state.edit(name).filter(|entry| {
            let candidate = entry.candidate().map(|(_, version)| &version.digest);
            let wanted = promote.digest.as_ref();
            candidate.is_some_and(|digest| wanted.is_none_or(|wanted| wanted == digest))
        });
        let Some(entry) = candidate.filter(|_| !promote.is_forced) else {
            return Ok(String::new());
        };
        let (version, _) = go_live(name, entry, promote)?;
        self.catalog.declare(name, entry, None)?;
        if let Some(settings) = &promote.settings {
            entry.refuse_if_declared(name)?;
            entry.settings = Some(settings.clone());
        }
        let tried = self.catalog.try_state(&base, &state, Loaded::new(), name)?;
        tried.map_err(|worse| {
            let advice =
                "`shadow` shows the objects, and `promote --force` makes it live all the same";
            let why = worse.with_advice(advice);
            self.catalog.note_refused_candidate(name, version, &why);
            Refusal::Conflict(why)
        })
    }

    /// Tries settings with the version that would go live.
    fn try_promoted(
        &self,
        name: &InterpreterName,
        promote: &Promote,
        settings: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        self.check_name(name)?;
        let entry = self.catalog.entry(name);
        let candidate = entry.as_ref().and_then(|entry| entry.candidate());
        let candidate = candidate.map(|(_, version)| &version.digest);
        let loaded = promote.digest.as_ref().or(candidate);
        let loaded = loaded.and_then(|digest| self.catalog.loaded(digest));
        loaded.map_or(Ok(()), |interpreter| {
            self.catalog.try_on(name, &interpreter, settings).map(drop)
        })
    }
}

/// Makes the version of a promotion live. Returns it, and a sentence about it.
fn go_live(
    name: &InterpreterName,
    entry: &mut Entry,
    promote: &Promote,
) -> Result<(Option<Version>, String), Refusal> {
    let digest = promote.digest.as_ref();
    let candidate = entry
        .candidate()
        .map(|(source, version)| (source, version.clone()));
    match (candidate, digest) {
        (Some((source, candidate)), digest)
            if digest.is_none_or(|digest| *digest == candidate.digest) =>
        {
            if !promote.is_forced {
                refuse_faulting(name, &candidate)?;
            }
            let replaced = entry.replaced();
            let version = &candidate.version;
            let detail = if entry.is_disabled {
                format!("{name} {version} is promoted{}", entry.disabled())
            } else {
                format!("{name} {version} is live{replaced}")
            };
            if let Some(versions) = entry.sources.get_mut(&source) {
                versions.go_live(candidate.clone());
            }
            Ok((Some(candidate), detail))
        }
        (candidate, Some(digest)) => {
            let candidate = candidate.map(|(_, version)| version.digest);
            bring_back(name, entry, digest, candidate.as_ref())
        }
        (_, None) => Err(no_candidate(name)),
    }
}

/// Refuses a candidate whose last shadow run had faults.
fn refuse_faulting(name: &InterpreterName, candidate: &Version) -> Result<(), Refusal> {
    match candidate.shadow_faults {
        0 => Ok(()),
        faults => Err(Refusal::Conflict(format!(
            "{faults} calls of the last shadow run of `{name}` {} ended in a fault: `promote --force` makes it live all the same",
            candidate.version
        ))),
    }
}

pub(crate) fn no_candidate(name: &InterpreterName) -> Refusal {
    Refusal::Conflict(format!("`{name}` has no candidate"))
}

/// Makes a version live that is not a candidate.
fn bring_back(
    name: &InterpreterName,
    entry: &mut Entry,
    digest: &Digest,
    candidate: Option<&Digest>,
) -> Result<(Option<Version>, String), Refusal> {
    let known = entry.sources.iter().rev().find_map(|(source, versions)| {
        let version = versions.of(digest)?;
        let is_usable = version.outcome != VersionOutcome::Refused;
        is_usable.then(|| (*source, version.clone()))
    });
    let Some((source, version)) = known else {
        return Err(Refusal::Conflict(match candidate {
            Some(candidate) => format!("the candidate of `{name}` is {candidate}, not {digest}"),
            None => format!("`{name}` has no stored version with the digest {digest}"),
        }));
    };
    let replaced = entry.replaced();
    // A version that replaces an unusable live version is not live itself.
    let is_live = entry
        .live(digest)
        .is_ok_and(|(_, version)| version.outcome == VersionOutcome::Live);
    let was_disabled = std::mem::replace(&mut entry.is_disabled, false);
    let covering = cover_no_more(entry, source);
    if let Some(versions) = entry.sources.get_mut(&source)
        && !is_live
    {
        // The file or the artifact may still contain the version that is replaced, and must not
        // restore it.
        if versions.file.is_some() {
            versions.step_down(VersionOutcome::RolledBack, PROMOTED_INSTEAD);
        }
        versions.go_live(version.clone());
    }
    let detail = match (is_live, was_disabled) {
        (true, true) => format!("{name} {} is enabled and live", version.version),
        (true, false) => format!(
            "{name} {} is live already: nothing changed",
            version.version
        ),
        (false, true) => format!("{name} {} is enabled and live{replaced}", version.version),
        (false, false) => format!("{name} {} is live{replaced}", version.version),
    };
    Ok((Some(version), format!("{detail}{covering}")))
}

/// Replaces the live versions of all sources above this one. Returns the end of a sentence that
/// reports this. Versions of the directory are not loaded again automatically.
fn cover_no_more(entry: &mut Entry, source: Source) -> String {
    let mut detail = String::new();
    let higher = entry
        .sources
        .iter_mut()
        .filter(|(other, _)| **other > source);
    for (higher, versions) in higher {
        let Some(version) = versions.with(VersionOutcome::Live).cloned() else {
            continue;
        };
        let (to, why) = if *higher == Source::Upload {
            (VersionOutcome::Previous, "")
        } else {
            (VersionOutcome::RolledBack, PROMOTED_INSTEAD)
        };
        versions.step_down(to, why);
        let (version, word) = (version.version, to.as_str());
        // Writing to a String does not fail.
        let _ = write!(
            detail,
            "; {version} from {higher}, which overrode it, is {word} now"
        );
    }
    detail
}
