//! The store in an etcd.

mod options;

pub use options::EtcdOptions;
