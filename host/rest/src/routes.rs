//! Handlers of all routes.

pub(crate) mod applications;
pub(crate) mod confirmation;
mod emco;
pub(crate) mod errors;
pub(crate) mod health_scopes;
pub(crate) mod history;
pub(crate) mod interpret;
pub(crate) mod interpreters;
pub(crate) mod k8splugin;
pub(crate) mod lifecycle;
pub(crate) mod missing_rules;
pub(crate) mod notify;
pub(crate) mod page;
mod paths;
pub(crate) mod push;
pub(crate) mod recorded;
pub(crate) mod registration;
pub(crate) mod replication;
pub(crate) mod service;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod watch;
