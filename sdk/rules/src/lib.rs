//! The rules of the built-in interpreters as a library, for interpreters that amend one of them.
//!
//! Each module has the interpreter of one API group. Its `describe` declares the fields and related
//! objects that its rules read, and its `judge` evaluates an object. An author's interpreter takes
//! the declaration of a Kind from `describe` (`Description::only` of the SDK) and calls `judge` for
//! the cases that it does not change. `README.md` has an example.

pub use kindsight_plugin_apiextensions as apiextensions;
pub use kindsight_plugin_apiregistration as apiregistration;
pub use kindsight_plugin_apps as apps;
pub use kindsight_plugin_autoscaling as autoscaling;
pub use kindsight_plugin_batch as batch;
pub use kindsight_plugin_certificates as certificates;
pub use kindsight_plugin_core as core;
pub use kindsight_plugin_gateway as gateway;
pub use kindsight_plugin_generic as generic;
pub use kindsight_plugin_networking as networking;
pub use kindsight_plugin_nodus as nodus;
pub use kindsight_plugin_oam as oam;
pub use kindsight_plugin_policy as policy;
pub use kindsight_plugin_rbac as rbac;
pub use kindsight_plugin_storage as storage;
