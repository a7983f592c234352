//! The fields that an interpreter requests: a set of JSON pointers, as a tree.

/// The pointer step that matches every item of an array. In an object, it is an ordinary key.
pub const EVERY_ITEM: &str = "*";

/// A set of JSON pointers through objects and, with `*`, through the items of arrays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// True if the complete value is requested.
    whole: bool,
    below: Vec<(String, Fields)>,
}

impl Fields {
    /// Makes a set from JSON pointers, and adds `apiVersion` and `kind`, which every object has.
    pub fn new(pointers: &[impl AsRef<str>]) -> Self {
        let mut fields = Self::default();
        fields.add("/apiVersion");
        fields.add("/kind");
        for pointer in pointers {
            fields.add(pointer.as_ref());
        }
        fields
    }

    /// The same as [`Fields::new`] for related objects: also adds name and namespace.
    pub fn of_related(pointers: &[impl AsRef<str>]) -> Self {
        let mut fields = Self::new(pointers);
        fields.add("/metadata/name");
        fields.add("/metadata/namespace");
        fields
    }

    fn add(&mut self, pointer: &str) {
        let mut node = self;
        for token in tokens(pointer) {
            let position = node.below.iter().position(|(key, _)| *key == token);
            let position = position.unwrap_or_else(|| {
                node.below.push((token, Self::default()));
                node.below.len() - 1
            });
            let Some((_, child)) = node.below.get_mut(position) else {
                return;
            };
            node = child;
        }
        node.whole = true;
    }

    /// The set with one additional pointer, for the search for a missing field.
    #[must_use]
    pub fn with(mut self, pointer: &str) -> Self {
        self.add(pointer);
        self
    }

    /// Returns whether the complete value is requested, with all its parts.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The fields below the member with this name.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let child = self.below.iter().find(|(name, _)| name == key);
        child.map(|(_, fields)| fields)
    }

    /// The fields below a place. [`EVERY_ITEM`] in the place matches items of arrays. If the place
    /// is part of a value that is requested completely, returns the set of that value. Returns
    /// `None` if nothing at the place is requested.
    pub(crate) fn below(&self, place: &[String]) -> Option<&Self> {
        let mut steps = place.iter();
        steps.try_fold(self, |fields, step| {
            if fields.whole {
                Some(fields)
            } else {
                fields.get(step)
            }
        })
    }

    /// The fields of every item, if this is an array.
    pub fn of_items(&self) -> Option<&Self> {
        self.get(EVERY_ITEM)
    }

    /// The pointers from which the set was made, including the added ones, for reports to users.
    pub fn pointers(&self) -> Vec<String> {
        let mut pointers = Vec::new();
        self.collect(&mut String::new(), &mut pointers);
        pointers
    }

    fn collect(&self, path: &mut String, pointers: &mut Vec<String>) {
        if self.whole {
            pointers.push(path.clone());
            return;
        }
        for (key, fields) in &self.below {
            let len = path.len();
            path.push('/');
            path.push_str(&escaped(key));
            fields.collect(path, pointers);
            path.truncate(len);
        }
    }
}

/// The steps of a JSON pointer, with escapes decoded.
pub(crate) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    let tokens = pointer.split('/').skip(1);
    tokens.map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Converts a key to a step of a JSON pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
