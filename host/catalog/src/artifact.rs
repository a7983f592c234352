//! Artifacts of OCI registries and of layout folders: pulled, verified, and admitted to the catalog.

mod cache;
mod in_turn;
mod required;
mod signatures;
mod versions;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_api::interpreters::Refusal;
use kindsight_model::{Digest, LoadStep, Source};
use kindsight_registry::{
    Client, Error as RegistryError, PublicKey, Pulled, Reference, Repository, Version, pull, verify,
};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::follow::Panicked;
use crate::incoming::IncomingComponent;
use cache::Cache;

pub use in_turn::follow_artifacts_in_turn;
pub(crate) use required::RequiredSignatures;
pub use signatures::forget_artifacts;

/// The time after the first failure until an artifact is pulled again. It doubles with each
/// failure.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest time between two attempts to pull an artifact. A registry that is away for an hour
/// gets a dozen requests.
const RETRY_MAX: Duration = Duration::from_mins(5);
/// The longest time until a follower searches the catalog for its artifact. If another host removed
/// the artifact, the follower admits it again. If another host admitted a version, the follower
/// verifies it.
const KEPT_EVERY: Duration = Duration::from_secs(10);

/// Artifacts that are admitted to the catalog.
#[derive(Debug, Clone)]
pub struct ArtifactSource {
    /// The source of their versions: [`Source::Registry`] or [`Source::Catalogue`].
    pub rank: Source,
    /// The client of the registries.
    pub client: Client,
    /// The artifacts.
    pub references: Vec<Reference>,
    /// The accepted keys: each artifact needs a signature of one of them. Without keys, no artifact needs
    /// a signature.
    pub keys: Vec<PublicKey>,
    /// The interval at which the tags are looked up again. Without one, an artifact is pulled once
    /// at each start.
    pub follow_every: Option<Duration>,
    /// The folder with the artifacts that were admitted last, and with the signatures of all kept
    /// versions, for a start without the registry.
    pub cache: Option<PathBuf>,
    /// Maximum size of a component in bytes. A larger one is refused without being read.
    pub component_bytes_max: usize,
    /// True if an artifact may use the name of a built-in interpreter without judging all of its
    /// Kinds.
    pub replaces_built_in: bool,
}

/// Admits one artifact to the catalog, and its new versions as its tag moves, until `shutdown`.
///
/// If the registry is away, or a new version is refused, the live version is kept and the reason is
/// in the log of refusals. If another host that shares the store removes the artifact, because its
/// configuration does not name it, this host admits the artifact again.
///
/// # Errors
/// [`Panicked`]: the artifact is no longer followed.
pub async fn follow_artifact(
    catalog: Arc<Catalog>,
    source: ArtifactSource,
    reference: Reference,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    let mut follower = ArtifactFollower::new(&source, reference);
    loop {
        let Some(looked) = looked(follower, &catalog, &shutdown).await else {
            return Ok(());
        };
        let next;
        (follower, next) = looked?;
        let wait = tokio::time::sleep(next);
        if shutdown.run_until_cancelled(wait).await.is_none() {
            return Ok(());
        }
    }
}

/// Looks at an artifact on a thread for blocking steps. Returns `None` at `shutdown`, and otherwise
/// the follower with the time until its next look.
async fn looked(
    mut follower: ArtifactFollower,
    catalog: &Arc<Catalog>,
    shutdown: &CancellationToken,
) -> Option<Result<(ArtifactFollower, Duration), Panicked>> {
    let catalog = Arc::clone(catalog);
    let look = move || {
        let next = follower.look(&catalog);
        (follower, next)
    };
    // A pull and a compilation block for minutes. A stop does not wait for them.
    let looked = tokio::task::spawn_blocking(look);
    let looked = shutdown.run_until_cancelled(looked).await?;
    Some(looked.map_err(|_| Panicked))
}

/// The reason why an artifact is not live.
enum Failure {
    /// The registry or the artifact.
    Pull(RegistryError),
    /// The catalog.
    Admit(Refusal),
    /// The tag was moved while its version was pulled and admitted.
    Moved,
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        Self::Pull(error)
    }
}

/// The repository of a reference, which is opened by the first look.
fn opened<'r>(
    repository: &'r mut Option<Repository>,
    source: &ArtifactSource,
    reference: &Reference,
) -> Result<&'r Repository, RegistryError> {
    let opened = match repository.take() {
        Some(opened) => opened,
        None => source.client.open(reference)?,
    };
    Ok(repository.insert(opened))
}

/// Pulls a version, with a valid signature if one is required. With a cache, it is stored there.
fn fetched(
    repository: &Repository,
    digest: &Digest,
    cache: Option<&Cache>,
    source: &ArtifactSource,
) -> Result<Pulled, RegistryError> {
    let (keys, bytes_max) = (&source.keys, source.component_bytes_max);
    let Some(cache) = cache else {
        let version = Version::Digest(digest.clone());
        return pull(repository, &version, keys, bytes_max);
    };
    // Before the component is downloaded.
    if !keys.is_empty() {
        verify(repository, digest, keys)?;
    }
    cache.fetch(repository, digest, keys, bytes_max)
}

/// Looks a version up again, and fails if it is not the same manifest any more.
fn refuse_moved(
    repository: &Repository,
    version: &Version,
    digest: &Digest,
) -> Result<(), Failure> {
    let is_moved = match version {
        // A digest cannot move.
        Version::Digest(_) => false,
        Version::Tag(_) => repository.digest(version)? != *digest,
    };
    if is_moved {
        return Err(Failure::Moved);
    }
    Ok(())
}

/// A manifest that needs no further attempt.
struct Settled {
    manifest: Digest,
    /// True if it was admitted, and false if it was refused for good.
    is_admitted: bool,
}

struct ArtifactFollower {
    source: ArtifactSource,
    reference: Reference,
    /// The reference as text, which the catalog uses like the name of a file.
    file: String,
    cache: Option<Cache>,
    /// The repository, which keeps its token between two looks.
    repository: Option<Repository>,
    settled: Option<Settled>,
    /// The time of the last lookup of the tag; `None` if it failed.
    looked_up: Option<Instant>,
    /// The components whose signatures were looked up in the repository, whatever the result.
    verified: BTreeSet<Digest>,
    /// The failure that was reported last.
    reported: Option<String>,
    /// The time until the attempt after a failure.
    retry: Duration,
}

impl ArtifactFollower {
    fn new(source: &ArtifactSource, reference: Reference) -> Self {
        let file = reference.to_string();
        let cache = source.cache.as_deref();
        Self {
            cache: cache.map(|folder| Cache::new(folder, &file)),
            source: source.clone(),
            reference,
            file,
            repository: None,
            settled: None,
            looked_up: None,
            verified: BTreeSet::new(),
            reported: None,
            retry: RETRY_MIN,
        }
    }

    /// Looks once. Returns the time until the next look.
    fn look(&mut self, catalog: &Catalog) -> Duration {
        let is_due = self.until_lookup().is_zero() || self.is_removed(catalog);
        let updated = if is_due { self.update(catalog) } else { Ok(()) };
        // The live version may be another one than the version that cannot be pulled.
        let confirmed = self.confirm(catalog);
        if is_due {
            self.looked_up = updated.is_ok().then(Instant::now);
        }
        match updated.and(confirmed) {
            Ok(()) => {
                if self.reported.take().is_some() {
                    tracing::info!(artifact = self.file, "the artifact can be pulled again");
                }
                self.retry = RETRY_MIN;
                self.until_lookup().min(KEPT_EVERY)
            }
            Err(failure) => {
                self.report(catalog, &failure);
                if self.settled.is_none() || self.is_removed(catalog) {
                    self.admit_cached(catalog);
                }
                let retry = self.retry;
                self.retry = retry.saturating_mul(2).min(RETRY_MAX);
                retry
            }
        }
    }

    /// The time until the tag is looked up again.
    fn until_lookup(&self) -> Duration {
        let Some(looked_up) = self.looked_up else {
            return Duration::ZERO;
        };
        let is_pinned = self.reference.digest.is_some();
        let every = self.source.follow_every.filter(|_| !is_pinned);
        every.map_or(Duration::MAX, |every| {
            every.saturating_sub(looked_up.elapsed())
        })
    }

    /// Returns whether the artifact was admitted, and another host that shares the store has removed
    /// it. Another host does so only at its start, so that hosts with different configurations do not
    /// undo each other's changes for ever.
    fn is_removed(&self, catalog: &Catalog) -> bool {
        let is_admitted = self
            .settled
            .as_ref()
            .is_some_and(|settled| settled.is_admitted);
        is_admitted && catalog.names_in(self.source.rank, &self.file).is_empty()
    }

    /// Admits the present version of the artifact, unless it is settled.
    fn update(&mut self, catalog: &Catalog) -> Result<(), Failure> {
        let known = self.settled.as_ref().filter(|_| !self.is_removed(catalog));
        let repository = opened(&mut self.repository, &self.source, &self.reference)?;
        let version = repository.version(&self.reference)?;
        let digest = repository.digest(&version)?;
        if known.is_some_and(|settled| settled.manifest == digest) {
            return Ok(());
        }
        let pulled = fetched(repository, &digest, self.cache.as_ref(), &self.source)?;
        // After a slow download, another host may have admitted a later version, which this one
        // must not replace.
        refuse_moved(repository, &version, &digest)?;
        let admitted = self.admit(catalog, pulled);
        let is_settled = match &admitted {
            Ok(()) => true,
            // Another artifact with the same name may be removed.
            Err(Refusal::Refused { step, .. }) => *step != LoadStep::Published,
            Err(_) => false,
        };
        if is_settled {
            self.settled = Some(Settled {
                manifest: digest.clone(),
                is_admitted: admitted.is_ok(),
            });
        }
        if let Some(cache) = &self.cache {
            let components = catalog.kept_components(self.source.rank);
            let kept = cache.settle(admitted.is_ok().then_some(&digest), &components);
            kept.inspect_err(|error| {
                tracing::warn!(artifact = self.file, %error, "the artifact is not kept for a start without the registry");
            }).ok();
        }
        match admitted {
            // The catalog has recorded it.
            Err(Refusal::Refused { .. }) if is_settled => {}
            admitted => admitted.map_err(Failure::Admit)?,
        }
        // The tag may also have moved during the compilation, which can take minutes.
        let repository = opened(&mut self.repository, &self.source, &self.reference)?;
        refuse_moved(repository, &version, &digest)
    }

    fn admit(&self, catalog: &Catalog, pulled: Pulled) -> Result<(), Refusal> {
        if pulled.signed.is_some() {
            let component = Digest::of(&pulled.component);
            catalog.record_signature(self.source.rank, &self.file, &component, true);
            catalog.apply_signatures()?;
        }
        let signed = pulled.signed.map(|signed| signed.to_string());
        let manifest = pulled.digest;
        let component = IncomingComponent {
            source: self.source.rank,
            name: None,
            file: Some(self.file.clone()),
            gone: BTreeSet::new(),
            settings: None,
            expected: None,
            is_candidate: false,
            replaces_built_in: self.source.replaces_built_in,
            bytes: pulled.component,
        };
        let outcome = catalog.admit(&component)?;
        if let Some(digest) = &outcome.digest {
            catalog.record_manifest(self.source.rank, digest, &manifest)?;
        }
        let detail = outcome.detail;
        tracing::info!(artifact = self.file, %manifest, signed, detail, "artifact admitted");
        Ok(())
    }

    /// The artifact that was admitted last, with a valid signature if one is required.
    fn cached(&self) -> Result<Pulled, Option<RegistryError>> {
        let cache = self.cache.as_ref().ok_or(None)?;
        let bytes_max = self.source.component_bytes_max;
        cache.last(&self.source.keys, bytes_max).map_err(Some)
    }

    /// Admits the artifact that was admitted last, if the catalog does not have it, because its
    /// store is new.
    fn admit_cached(&self, catalog: &Catalog) {
        if !catalog.names_in(self.source.rank, &self.file).is_empty() {
            return;
        }
        let Ok(pulled) = self.cached() else { return };
        let pinned = self.reference.digest.as_ref();
        if pinned.is_some_and(|pinned| *pinned != pulled.digest) {
            return;
        }
        if let Err(refusal) = self.admit(catalog, pulled) {
            tracing::warn!(artifact = self.file, %refusal, "the stored artifact is not admitted");
        }
    }

    /// Reports a failure once, not at every attempt.
    fn report(&mut self, catalog: &Catalog, failure: &Failure) {
        let why = match failure {
            Failure::Pull(error) => error.to_string(),
            Failure::Admit(refusal) => refusal.to_string(),
            Failure::Moved => {
                tracing::info!(
                    artifact = self.file,
                    "its tag was moved: it is pulled again"
                );
                return;
            }
        };
        if self.reported.as_ref() == Some(&why) {
            return;
        }
        match failure {
            // Recorded by the catalog, or no fault.
            Failure::Admit(Refusal::Refused { .. }) | Failure::Moved => {}
            Failure::Admit(_) => {
                tracing::error!(
                    artifact = self.file,
                    why,
                    "the artifact was not admitted or not recorded completely; trying again later"
                );
            }
            Failure::Pull(_) => catalog.refuse_unread(self.source.rank, &self.file, &why),
        }
        self.reported = Some(why);
    }
}
