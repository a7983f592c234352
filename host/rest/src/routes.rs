//! The handlers, by whom they ask.

pub(crate) mod interpret;
pub(crate) mod interpreters;
pub(crate) mod service;
pub(crate) mod status;
