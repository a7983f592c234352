//! The configuration: cloud regions, and instances that the label does not describe completely.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::{ClusterName, DigName, LABEL_VALUE_GRAMMAR, is_label_value};

/// Maximum number of configured instances. Each list of instances looks up all of them.
pub const INSTANCES_MAX: usize = 1000;
/// Maximum number of configured cloud regions.
pub const REGIONS_MAX: usize = 1000;

/// The configuration of instances. The default finds instances by their label alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceSettings {
    /// The clusters of cloud regions. Any other region is the name of a cluster, with or without its provider.
    pub cloud_regions: BTreeMap<String, ClusterName>,
    /// Instances with their applications and requests.
    pub instances: Vec<ConfiguredInstance>,
}

/// An instance of the configuration. Members that are not set come from the application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfiguredInstance {
    /// The ID: a label value.
    pub id: String,
    /// The application; `None` for the application that the label of the ID names.
    pub application: Option<DigName>,
    /// The cloud region; `None` for the only cluster of the application.
    pub cloud_region: Option<String>,
    /// The namespace; `None` for the namespace of most resources.
    pub namespace: Option<String>,
    /// The resource bundle.
    pub rb_name: Option<String>,
    /// Its version.
    pub rb_version: Option<String>,
    /// The profile.
    pub profile_name: Option<String>,
    /// The release.
    pub release_name: Option<String>,
    /// Labels of the request.
    pub labels: BTreeMap<String, String>,
    /// Overridden values of the request.
    pub override_values: BTreeMap<String, String>,
}

/// The reason why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstanceSettingsError {
    /// The ID cannot be the value of the label.
    #[error("the instance ID `{0}` is not the value of a label: {LABEL_VALUE_GRAMMAR}")]
    Id(String),
    /// Two entries have the same ID.
    #[error("the instance `{0}` is there twice; an ID has one entry")]
    Twice(String),
    /// Too many entries.
    #[error("{0} instances are over the limit of {INSTANCES_MAX}")]
    Instances(usize),
    /// Too many cloud regions.
    #[error("{0} cloud regions are over the limit of {REGIONS_MAX}")]
    Regions(usize),
}

impl InstanceSettings {
    /// Checks the limits, and that each ID is valid and occurs once.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), InstanceSettingsError> {
        if self.instances.len() > INSTANCES_MAX {
            return Err(InstanceSettingsError::Instances(self.instances.len()));
        }
        if self.cloud_regions.len() > REGIONS_MAX {
            return Err(InstanceSettingsError::Regions(self.cloud_regions.len()));
        }
        let mut ids = BTreeSet::new();
        for ConfiguredInstance { id, .. } in &self.instances {
            if !is_label_value(id) {
                return Err(InstanceSettingsError::Id(id.clone()));
            }
            if !ids.insert(id) {
                return Err(InstanceSettingsError::Twice(id.clone()));
            }
        }
        Ok(())
    }
}
