//! The manifests of one app in one cluster.

use std::sync::Arc;

use kindsight_appcontext::ResourceSnapshot;
use kindsight_model::manifest;
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
        for resource in resources {
            let expected = manifests.expect(resource);
            manifests.expected.push(expected);
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
