//! The Kinds that a swap affects.

use std::collections::HashMap;

use kindsight_interpreter::Published;
use kindsight_model::Gvk;

/// The Kinds that a swap affects, by the set that is left: two swaps that follow closely leave contexts
/// at different sets. Looked up once per Kind and kept until the swap is done.
#[derive(Default)]
pub(crate) struct Affected {
    by_generation: HashMap<u64, HashMap<Gvk, bool>>,
}

impl Affected {
    /// The Kinds whose objects may get another verdict by `to` than by `from`. For one `to` only.
    pub(crate) fn between<'a>(&'a mut self, from: &'a Published, to: &'a Published) -> Kinds<'a> {
        let known = self.by_generation.entry(from.generation()).or_default();
        Kinds { from, to, known }
    }
}

/// The Kinds that are affected by a swap from one set to another.
pub(crate) struct Kinds<'a> {
    from: &'a Published,
    to: &'a Published,
    known: &'a mut HashMap<Gvk, bool>,
}

impl Kinds<'_> {
    /// Returns whether an object of this Kind may get another verdict.
    pub(crate) fn are_affected(&mut self, gvk: &Gvk) -> bool {
        if let Some(&is_affected) = self.known.get(gvk) {
            return is_affected;
        }
        let is_affected = self.from.differs(self.to, gvk);
        self.known.insert(gvk.clone(), is_affected);
        is_affected
    }
}
