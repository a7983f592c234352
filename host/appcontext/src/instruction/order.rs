//! The order of apps for their instantiation, and of resources for their application.

use super::{instruction_of_members, names, remove_name, with_names};
use crate::Result;
use crate::members::Members;

const APP_ORDER: &str = "apporder";
const RESOURCE_ORDER: &str = "resorder";

/// The order of the apps of a context, for their instantiation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppOrder {
    /// The names of the apps, first one first.
    pub apps: Vec<String>,
    stored: Members,
}

impl AppOrder {
    /// An order of apps.
    pub fn new(apps: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            apps: apps.into_iter().map(Into::into).collect(),
            stored: Members::default(),
        }
    }

    /// Takes an app out. Returns whether it was in.
    pub fn remove(&mut self, app: &str) -> bool {
        remove_name(&mut self.apps, app)
    }

    fn of(stored: Members) -> Result<Self, String> {
        let apps = names(&stored, APP_ORDER)?;
        Ok(Self { apps, stored })
    }

    fn members(&self) -> Result<Members> {
        with_names(&self.stored, APP_ORDER, &self.apps)
    }
}

instruction_of_members!(AppOrder);

/// The order of the resources of an app, for applying them to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceOrder {
    /// The resources as `<name>+<Kind>`, first one first.
    pub resources: Vec<String>,
    stored: Members,
}

impl ResourceOrder {
    /// An order of resources, each as `<name>+<Kind>`.
    pub fn new(resources: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            resources: resources.into_iter().map(Into::into).collect(),
            stored: Members::default(),
        }
    }

    /// Takes a resource out. Returns whether it was in.
    pub fn remove(&mut self, resource: &str) -> bool {
        remove_name(&mut self.resources, resource)
    }

    fn of(stored: Members) -> Result<Self, String> {
        let resources = names(&stored, RESOURCE_ORDER)?;
        Ok(Self { resources, stored })
    }

    fn members(&self) -> Result<Members> {
        with_names(&self.stored, RESOURCE_ORDER, &self.resources)
    }
}

instruction_of_members!(ResourceOrder);
