//! The manifests of one app in one cluster.

use std::sync::Arc;

use kindsight_appcontext::ResourceSnapshot;
use kindsight_model::{Hook, RsyncStatus, manifest};
use kindsight_status::Expected;

/// The resources that were sent, and the faults of their manifests.
#[derive(Default)]
pub(super) struct Manifests {
    pub(super) expected: Vec<Expected>,
    pub(super) faults: Vec<Arc<str>>,
}

impl Manifests {
    /// Reads the manifests. One that cannot be read is a fault; its resource stays.
    pub(super) fn read(resources: &[ResourceSnapshot]) -> Self {
        let mut manifests = Self::default();
        for resource in resources.iter().filter(|it| is_expected(it)) {
            let expected = manifests.expect(resource);
            manifests.expected.push(Expected {
                is_hook: runs_once(resource),
                ..expected
            });
        }
        manifests
    }

    fn expect(&mut self, resource: &ResourceSnapshot) -> Expected {
        let ResourceSnapshot {
            name,
            kind,
            manifest,
            status,
            hook: _,
        } = resource;
        match manifest.as_deref().map(manifest::object) {
            Some(Ok(object)) => return Expected::new(object, *status),
            Some(Err(why)) => {
                let fault = format!("manifest of {kind} {name}: {why}");
                self.faults.push(fault.into());
            }
            None => {}
        }
        Expected::without_manifest(name, kind, *status)
    }
}

/// Returns whether a resource runs once and may be removed then. Definitions of custom resources stay.
fn runs_once(resource: &ResourceSnapshot) -> bool {
    !matches!(resource.hook, None | Some(Hook::CrdInstall))
}

/// Returns whether a resource is to be listed. Hooks of other moments than the installation
/// are missing until their moment comes, and are expected once they were sent.
fn is_expected(resource: &ResourceSnapshot) -> bool {
    match resource.hook {
        None | Some(Hook::CrdInstall | Hook::PreInstall | Hook::PostInstall) => true,
        Some(_) => matches!(
            resource.status,
            Some(RsyncStatus::Applied | RsyncStatus::Failed | RsyncStatus::Retrying)
        ),
    }
}
