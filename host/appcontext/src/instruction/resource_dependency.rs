//! The dependencies of resources: at once, or as hooks.

use std::collections::BTreeSet;

use kindsight_model::Hook;

use super::{GO, instruction_of_members, remove_name};
use crate::Result;
use crate::members::Members;

const DEPENDENCY: &str = "resdependency";

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
