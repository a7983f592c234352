//! The dependencies of resources: at once, or as hooks.

use std::collections::BTreeSet;

use kindsight_model::Hook;
use serde::{Deserialize, Serialize};

use super::{GO, instruction_of_members, remove_name};
use crate::Result;
use crate::members::Members;

const DEPENDENCY: &str = "resdependency";
/// The member of our own, with the resources that wait for others.
const OWN: &str = "kindsight";
const VERSION: u64 = 1;

/// A resource that waits for another resource of the same app in the same cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceWait {
    /// The resource that waits, as `<name>+<Kind>`.
    pub resource: String,
    /// The other resource, as `<name>+<Kind>`.
    pub on: String,
    /// The status that it must have: `Ready` or `Deployed`.
    #[serde(rename = "opstatus")]
    pub status: String,
    /// The time to wait once it has that status, in seconds.
    #[serde(rename = "wait")]
    pub wait_seconds: i64,
}

#[derive(Serialize, Deserialize)]
struct Waits {
    version: u64,
    waits: Vec<ResourceWait>,
}

/// The dependencies of the resources of an app in a cluster.
///
/// The first generation has a word for each resource (`{"resdependency":{"a+Pod":"go"}}`), the later
/// one a list of resources for each hook (`{"resdependency":{"pre-install":["b+Job"]}}`). Both are
/// read, and one may hold both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceDependency {
    stored: Members,
    dependencies: Members,
}

impl ResourceDependency {
    /// Resources that are all applied at once, each as `<name>+<Kind>`.
    ///
    /// # Errors
    /// None that this leads to: see [`Error::Encode`](crate::Error::Encode).
    pub fn go<S: AsRef<str> + Ord>(resources: impl IntoIterator<Item = S>) -> Result<Self> {
        // Go writes maps in the order of their keys.
        let names: BTreeSet<S> = resources.into_iter().collect();
        let mut dependency = Self::default();
        for name in names {
            dependency.dependencies.push(name.as_ref(), GO)?;
        }
        Ok(dependency)
    }

    /// The same dependencies with resources that wait for others. They are in a member of our own, which other
    /// orchestrators do not read.
    ///
    /// # Errors
    /// None that this leads to: see [`Error::Encode`](crate::Error::Encode).
    pub fn with_waits(mut self, waits: &[ResourceWait]) -> Result<Self> {
        if !waits.is_empty() {
            let waits = waits.to_vec();
            let version = VERSION;
            self.stored.set(OWN, &Waits { version, waits })?;
        }
        Ok(self)
    }

    /// The resources that wait for others.
    pub fn waits(&self) -> Vec<ResourceWait> {
        let waits: Option<Waits> = self.stored.get(OWN).ok().flatten();
        let known = waits.filter(|waits| waits.version == VERSION);
        known.map(|known| known.waits).unwrap_or_default()
    }

    /// The hook that a resource is; none for one of normal operation.
    pub fn hook(&self, resource: &str) -> Option<Hook> {
        let mut hooks = Hook::ALL.iter().copied();
        hooks.find(|hook| self.resources(*hook).iter().any(|known| known == resource))
    }

    /// The resources that are a hook, each as `<name>+<Kind>`, in their order.
    pub fn resources(&self, hook: Hook) -> Vec<String> {
        let list = self.dependencies.get(hook.as_str());
        list.ok().flatten().unwrap_or_default()
    }

    /// The word of a resource, in the first generation; none in the later one.
    pub fn word(&self, resource: &str) -> Option<String> {
        self.dependencies.get(resource).ok().flatten()
    }

    /// Takes a resource out, of lists and as a name of its own. Returns whether it was in.
    ///
    /// # Errors
    /// None that this leads to: see [`Error::Encode`](crate::Error::Encode).
    pub fn remove(&mut self, resource: &str) -> Result<bool> {
        let mut is_changed = false;
        let lists: Vec<String> = self.dependencies.names().map(str::to_owned).collect();
        for name in lists {
            let Ok(Some(mut list)) = self.dependencies.get::<Vec<String>>(&name) else {
                continue;
            };
            if remove_name(&mut list, resource) {
                self.dependencies.set(&name, &list)?;
                is_changed = true;
            }
        }
        let is_kept = |name: &str, json: &str| name != resource || json.starts_with('[');
        Ok(!self.dependencies.retain(is_kept) || is_changed)
    }

    fn of(stored: Members) -> Result<Self, String> {
        let dependencies = stored.get(DEPENDENCY)?.unwrap_or_default();
        Ok(Self {
            stored,
            dependencies,
        })
    }

    fn members(&self) -> Result<Members> {
        let mut members = self.stored.clone();
        let is_stored = members
            .get::<Members>(DEPENDENCY)
            .is_ok_and(|stored| stored.unwrap_or_default() == self.dependencies);
        if !is_stored || members.is_empty() {
            members.set(DEPENDENCY, &self.dependencies)?;
        }
        Ok(members)
    }
}

instruction_of_members!(ResourceDependency);
