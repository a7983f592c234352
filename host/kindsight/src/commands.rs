//! The commands, a module each.

pub(crate) mod applications;
pub(crate) mod backup;
pub(crate) mod clusters;
pub(crate) mod completion;
pub(crate) mod demo;
pub(crate) mod health_scope;
pub(crate) mod history;
pub(crate) mod interpret;
pub(crate) mod interpreters;
pub(crate) mod lifecycle;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod notify;
pub(crate) mod plugin;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod token;
