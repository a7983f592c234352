//! Applications in the form of instances of ONAP's Kubernetes plugin (k8splugin).
//!
//! read-model, status -> **k8splugin** -> server
//!
//! ```text
//! id ──configuration, else label──▶ application ─┐
//! cloud region ──▶ cluster ──────────────────────┴▶ Found ──▶ RbInstance, RbInstanceStatus
//! ```
//!
//! An instance is an application in one cluster. The configuration names the application of an ID. Otherwise it is the
//! application that the label `k8splugin.io/rb-instance-id` of its objects names. Nothing is stored: each answer is made
//! from one snapshot of the read model. A reader sees the instances of visible applications.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod found;
mod instances;
mod settings;

#[cfg(test)]
mod tests;

pub use instances::{AnsweredStatus, Instances};
pub use settings::{
    ConfiguredInstance, INSTANCES_MAX, InstanceSettings, InstanceSettingsError, REGIONS_MAX,
};
