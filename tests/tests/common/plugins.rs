//! The built-in interpreters natively: what they say about themselves.

use kindsight_sdk::Adapter;
use kindsight_sdk::bindings::exports::kindsight::interpreter::description::Guest;

/// A built-in interpreter.
#[derive(Clone, Copy)]
pub(crate) struct Plugin {
    /// Its folder under `plugins/`.
    pub(crate) folder: &'static str,
    /// Its description, JSON.
    pub(crate) describe: fn() -> String,
    /// Its fixtures, JSON.
    pub(crate) fixtures: fn() -> String,
}

macro_rules! plugins {
    ($($folder:literal => $crate_name:ident::$interpreter:ident),+ $(,)?) => {
        [$(Plugin {
            folder: $folder,
            describe: <Adapter<$crate_name::$interpreter> as Guest>::describe,
            fixtures: <Adapter<$crate_name::$interpreter> as Guest>::fixtures,
        }),+]
    };
}

/// All of them, in order of folder.
pub(crate) const PLUGINS: [Plugin; 15] = plugins! {
    "apiextensions" => kindsight_plugin_apiextensions::ApiExtensions,
    "apiregistration" => kindsight_plugin_apiregistration::ApiRegistration,
    "apps" => kindsight_plugin_apps::Apps,
    "autoscaling" => kindsight_plugin_autoscaling::Autoscaling,
    "batch" => kindsight_plugin_batch::Batch,
    "certificates" => kindsight_plugin_certificates::Certificates,
    "core" => kindsight_plugin_core::Core,
    "gateway" => kindsight_plugin_gateway::Gateway,
    "generic" => kindsight_plugin_generic::Generic,
    "networking" => kindsight_plugin_networking::Networking,
    "nodus" => kindsight_plugin_nodus::Nodus,
    "oam" => kindsight_plugin_oam::Oam,
    "policy" => kindsight_plugin_policy::Policy,
    "rbac" => kindsight_plugin_rbac::Rbac,
    "storage" => kindsight_plugin_storage::Storage,
};
