//! The messages and the service that the build generates from `proto/`.

#![expect(
    missing_docs,
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::clone_on_ref_ptr,
    unused_qualifications,
    reason = "generated code"
)]

tonic::include_proto!("_");
