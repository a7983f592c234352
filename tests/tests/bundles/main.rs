//! ResourceBundleStates in real API servers, read by the structs of the original programs, and bundles of the original
//! monitors.

mod api_server;
mod go;
mod objects;
mod samples;
