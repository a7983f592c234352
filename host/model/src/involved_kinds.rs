//! Kinds that an answer about an application relies on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Kinds by group and name, with the namespaces in which their objects matter. The group is `None` if only the name
/// of the Kind is known. The namespace is empty for a cluster-scoped object, and if it is unknown.
pub type InvolvedKinds = BTreeMap<(Option<Arc<str>>, Arc<str>), BTreeSet<Arc<str>>>;
