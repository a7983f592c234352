//! The manifests of one app in one cluster.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_appcontext::ResourceSnapshot;
use kindsight_model::{Hook, Object, RsyncStatus, manifest};
use kindsight_status::Expected;

/// The resources that were sent, and the faults of their manifests.
#[derive(Default)]
pub(super) struct Manifests {
    pub(super) expected: Vec<Expected>,
    pub(super) faults: Vec<Arc<str>>,
    /// The resources in the `AppContext`.
    resources: Arc<[ResourceSnapshot]>,
    /// The parsed manifest of each resource.
    parsed: Vec<Parsed>,
}

/// A parsed manifest, or the reason why it cannot be read. `None` without a manifest.
type Parsed = Option<Result<Object, Arc<str>>>;

impl Manifests {
    /// Reads the resources of the `AppContext`. Manifests that are the same as before are not parsed again. If a
    /// manifest cannot be read, the app gets a fault, and the resource is expected by its name and Kind.
    pub(super) fn read(&self, resources: &Arc<[ResourceSnapshot]>) -> Self {
        let mut next = Self {
            parsed: self.parse(resources),
            resources: Arc::clone(resources),
            ..Self::default()
        };
        for (resource, parsed) in resources.iter().zip(&next.parsed) {
            if !is_expected(resource) {
                continue;
            }
            let (name, kind) = (&resource.name, &resource.kind);
            let expected = match parsed {
                Some(Ok(object)) => Expected::new(object.clone(), resource.status),
                _ => Expected::without_manifest(name, kind, resource.status),
            };
            if let Some(Err(why)) = parsed {
                let fault = format!("manifest of {kind} {name}: {why}");
                next.faults.push(fault.into());
            }
            next.expected.push(Expected {
                is_hook: runs_once(resource),
                ..expected
            });
        }
        next
    }

    /// Returns whether the resources are the ones that were read.
    pub(super) fn are_of(&self, resources: &Arc<[ResourceSnapshot]>) -> bool {
        Arc::ptr_eq(&self.resources, resources)
    }

    fn parse(&self, resources: &[ResourceSnapshot]) -> Vec<Parsed> {
        let known = self.resources.iter().zip(&self.parsed);
        let known = known.map(|(resource, parsed)| {
            let name = (resource.name.as_str(), resource.kind.as_str());
            (name, (&resource.manifest, parsed))
        });
        let known: HashMap<_, _> = known.collect();
        let parsed = resources.iter().map(|resource| {
            let name = (resource.name.as_str(), resource.kind.as_str());
            match known.get(&name) {
                Some((manifest, parsed)) if **manifest == resource.manifest => (*parsed).clone(),
                _ => {
                    let manifest = resource.manifest.as_deref()?;
                    Some(manifest::object(manifest).map_err(Arc::from))
                }
            }
        });
        parsed.collect()
    }
}

/// Returns whether a resource runs once and may be removed afterwards. Definitions of custom resources stay.
fn runs_once(resource: &ResourceSnapshot) -> bool {
    !matches!(resource.hook, None | Some(Hook::CrdInstall))
}

/// Returns whether a resource is listed. A hook of another moment than the installation is expected once it was
/// sent.
fn is_expected(resource: &ResourceSnapshot) -> bool {
    match resource.hook {
        None | Some(Hook::CrdInstall | Hook::PreInstall | Hook::PostInstall) => true,
        Some(_) => matches!(
            resource.status,
            Some(RsyncStatus::Applied | RsyncStatus::Failed | RsyncStatus::Retrying)
        ),
    }
}
