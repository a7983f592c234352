//! Limits of the contract, by name.

/// Values in one JSON text that is read: an object of ordinary make has one for every dozen bytes, so
/// that the largest object has 180,000. A text of nothing but `0,` would take eight times its size.
pub const TREE_NODES_MAX: usize = 256 * 1024;
