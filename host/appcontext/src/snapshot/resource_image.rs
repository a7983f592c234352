//! One resource of an app in a cluster, as it is stored in one context.

use std::sync::Arc;

use kindsight_model::{ContextId, RsyncStatus};

use super::decode::{self, Decoded};
use super::slot::Slot;
use crate::keys::{self, ClusterKey};
use crate::status::StatusValue;

/// The text that rsync stores in the status context instead of the manifest of another context.
const NO_MANIFEST: &str = "nil";

/// A resource, or keys below a resource that does not exist.
pub(super) struct ResourceImage {
    /// The name in the keys.
    pub(super) key_name: String,
    manifest: Slot<Manifest>,
    pub(super) status: Slot<RsyncStatus>,
    pub(super) reference: Slot<ContextId>,
}

/// A manifest as it is stored.
#[derive(Debug)]
enum Manifest {
    Yaml(Arc<str>),
    /// Another context has the manifest.
    Elsewhere,
}

impl ResourceImage {
    pub(super) fn new(key_name: &str) -> Self {
        Self {
            key_name: key_name.to_owned(),
            manifest: Slot::default(),
            status: Slot::default(),
            reference: Slot::default(),
        }
    }

    /// Sets the manifest. `None` means that its key was deleted.
    pub(super) fn set_manifest(&mut self, value: Option<&[u8]>) {
        self.manifest.set(value, Manifest::decode);
    }

    /// Sets the status. `None` means that its key was deleted.
    pub(super) fn set_status(&mut self, value: Option<&[u8]>) {
        let status = |stored: &[u8]| decode::object::<StatusValue<_>>(stored);
        self.status.set(value, |stored| Ok(status(stored)?.status));
    }

    /// Name and Kind, if the name in the keys has both.
    pub(super) fn name_and_kind(&self) -> Option<(&str, &str)> {
        keys::split_resource(&self.key_name)
    }

    /// A resource exists even if its manifest cannot be read.
    pub(super) fn exists(&self) -> bool {
        self.manifest.is_present() && self.name_and_kind().is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.manifest.is_present() && !self.status.is_present() && !self.reference.is_present()
    }

    /// The manifest, if it is stored here and can be read.
    pub(super) fn yaml(&self) -> Option<&Arc<str>> {
        match self.manifest.get()? {
            Manifest::Yaml(yaml) => Some(yaml),
            Manifest::Elsewhere => None,
        }
    }

    /// Returns whether another context has the manifest.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self.manifest.get(), Some(Manifest::Elsewhere))
    }

    /// Returns whether rsync added the resource to the status context `own` for a later instance.
    pub(super) fn is_of_a_later(&self, own: &ContextId) -> bool {
        self.is_elsewhere() && self.reference.get().is_some_and(|id| id != own)
    }

    /// Visits each present key, with the reason if it cannot be read.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(ClusterKey<'_>, Option<&str>)) {
        let name = &*self.key_name;
        let missing = || format!("the cluster has no resource `{name}`");
        if self.manifest.is_present() {
            let nameless = self.name_and_kind().is_none();
            let nameless = nameless.then_some("a resource is named `<name>+<Kind>`");
            let why = nameless.or_else(|| self.manifest.fault());
            visit(ClusterKey::Resource(name), why);
        }
        let (status, reference) = (&self.status, &self.reference);
        if status.is_present() && !self.exists() {
            visit(ClusterKey::ResourceStatus(name), Some(&missing()));
        } else if status.is_present() {
            visit(ClusterKey::ResourceStatus(name), status.fault());
        }
        if reference.is_present() && !reference.is_unreadable() && !self.exists() {
            visit(ClusterKey::ResourceReference(name), Some(&missing()));
        } else if reference.is_present() {
            visit(ClusterKey::ResourceReference(name), reference.fault());
        }
    }
}

impl Manifest {
    fn decode(stored: &[u8]) -> Decoded<Self> {
        let yaml: String = decode::value(stored)?;
        Ok(if yaml == NO_MANIFEST {
            Self::Elsewhere
        } else {
            Self::Yaml(yaml.into())
        })
    }
}
