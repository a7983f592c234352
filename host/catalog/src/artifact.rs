//! Artifacts of OCI registries and of layout folders: pulled, verified, and admitted to the catalog.

mod cache;
mod in_turn;
mod signatures;
mod versions;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

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
pub use signatures::forget_artifacts;

/// The time after the first failure until an artifact is pulled again. It doubles with each
/// failure.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest time between two attempts to pull an artifact. A registry that is away for an hour
/// gets a dozen requests.
const RETRY_MAX: Duration = Duration::from_mins(5);

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
/// in the log of refusals.
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
        let wait = async {
            match next {
                Some(next) => tokio::time::sleep(next).await,
                None => std::future::pending().await,
            }
        };
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
) -> Option<Result<(ArtifactFollower, Option<Duration>), Panicked>> {
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

struct ArtifactFollower {
    source: ArtifactSource,
    reference: Reference,
    /// The reference as text, which the catalog uses like the name of a file.
    file: String,
    cache: Option<Cache>,
    /// The repository, which keeps its token between two looks.
    repository: Option<Repository>,
    /// The manifest that needs no further attempt: it is live, or it was refused for good.
    settled: Option<Digest>,
    /// True once the signature of the live version was verified, after a start.
    is_confirmed: bool,
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
            is_confirmed: false,
            reported: None,
            retry: RETRY_MIN,
        }
    }

    /// Looks once. Returns the time until the next look, or `None` if there is none.
    fn look(&mut self, catalog: &Catalog) -> Option<Duration> {
        let updated = self.update(catalog);
        // The live version may be another one than the version that cannot be pulled.
        let confirmed = self.confirm_live(catalog);
        match updated.and(confirmed) {
            Ok(()) => {
                if self.reported.take().is_some() {
                    tracing::info!(artifact = self.file, "the artifact can be pulled again");
                }
                self.retry = RETRY_MIN;
                let is_pinned = self.reference.digest.is_some();
                self.source.follow_every.filter(|_| !is_pinned)
            }
            Err(failure) => {
                self.report(catalog, &failure);
                if self.settled.is_none() {
                    self.admit_cached(catalog);
                }
                let retry = self.retry;
                self.retry = retry.saturating_mul(2).min(RETRY_MAX);
                Some(retry)
            }
        }
    }

    /// Admits the present version of the artifact, unless it is settled.
    fn update(&mut self, catalog: &Catalog) -> Result<(), Failure> {
        let repository = opened(&mut self.repository, &self.source, &self.reference)?;
        let version = repository.version(&self.reference)?;
        let digest = repository.digest(&version)?;
        if self.settled.as_ref() == Some(&digest) {
            return Ok(());
        }
        let version = Version::Digest(digest.clone());
        let pulled = match &self.cache {
            None => pull(
                repository,
                &version,
                &self.source.keys,
                self.source.component_bytes_max,
            )?,
            Some(cache) => {
                // Before the component is downloaded.
                if !self.source.keys.is_empty() {
                    verify(repository, &digest, &self.source.keys)?;
                }
                let bytes_max = self.source.component_bytes_max;
                cache.fetch(repository, &digest, &self.source.keys, bytes_max)?
            }
        };
        let admitted = self.admit(catalog, pulled);
        let is_settled = match &admitted {
            Ok(()) => true,
            // Another artifact with the same name may be removed.
            Err(Refusal::Refused { step, .. }) => *step != LoadStep::Published,
            Err(_) => false,
        };
        if is_settled {
            self.settled = Some(digest.clone());
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
            Err(Refusal::Refused { .. }) if is_settled => Ok(()),
            admitted => admitted.map_err(Failure::Admit),
        }
    }

    fn admit(&self, catalog: &Catalog, pulled: Pulled) -> Result<(), Refusal> {
        let signed = pulled.signed.map(|signed| signed.to_string());
        let manifest = pulled.digest;
        let component = IncomingComponent {
            source: self.source.rank,
            name: None,
            file: Some(self.file.clone()),
            gone: std::collections::BTreeSet::new(),
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

    /// Admits the artifact that was admitted last, if the catalog does not have it: its store is
    /// new, or the version was removed because its signature was not known.
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
        };
        if self.reported.as_ref() == Some(&why) {
            return;
        }
        match failure {
            // The catalog has recorded it.
            Failure::Admit(Refusal::Refused { .. }) => {}
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
