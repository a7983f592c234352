//! The input of one call, in either encoding.
//!
//! ```json
//! {"object": {…}, "related": [{"coverage": "complete", "total": 2, "objects": [{…}, {…}]}], "settings": {…}}
//! ```

use crate::fields::Fields;
use crate::fixture::Coverage;
use crate::node::Node;
use crate::writer::{Identity, Writer, write_object};

/// The names of the members of an input.
pub mod member {
    /// The object to judge.
    pub const OBJECT: &str = "object";
    /// One set of related objects for each rule, in the order of the rules.
    pub const RELATED: &str = "related";
    /// The operator's settings of the interpreter.
    pub const SETTINGS: &str = "settings";
    /// Coverage of a rule's objects: a [`Coverage`](crate::Coverage).
    pub const COVERAGE: &str = "coverage";
    /// Number of objects that a rule found.
    pub const TOTAL: &str = "total";
    /// The objects that are passed.
    pub const OBJECTS: &str = "objects";
}

/// Writes an input: the object, then the sets in order, then the settings.
pub struct InputWriter<'w, W> {
    writer: &'w mut W,
    root: usize,
}

impl<'w, W: Writer> InputWriter<'w, W> {
    /// Begins an input with its object. Also returns the object's place.
    pub fn begin(
        writer: &'w mut W,
        object: Node<'_>,
        fields: &Fields,
        identity: Option<Identity<'_>>,
    ) -> (Self, usize) {
        let root = writer.open_object(None);
        let place = write_object(writer, Some(member::OBJECT), object, fields, identity);
        (Self { writer, root }, place)
    }

    /// Begins the list of sets. Returns its place, for [`Self::end_related`].
    pub fn begin_related(&mut self) -> usize {
        self.writer.open_array(Some(member::RELATED))
    }

    /// Begins the set of one rule. Returns its place and the place of its objects, for
    /// [`Self::end_set`].
    pub fn begin_set(&mut self, coverage: Coverage, total: usize) -> (usize, usize) {
        let set = self.writer.open_object(None);
        self.writer.text(Some(member::COVERAGE), coverage.as_str());
        self.writer.number(Some(member::TOTAL), total);
        (set, self.writer.open_array(Some(member::OBJECTS)))
    }

    /// Adds a related object to the present set, unless the input would become larger than
    /// `bytes_max`. Returns the object's place.
    pub fn related(
        &mut self,
        object: Node<'_>,
        fields: &Fields,
        identity: Option<Identity<'_>>,
        bytes_max: usize,
    ) -> Option<usize> {
        let mark = self.writer.mark();
        let place = write_object(self.writer, None, object, fields, identity);
        if self.writer.bytes() > bytes_max {
            self.writer.rewind(mark);
            return None;
        }
        Some(place)
    }

    /// Ends a set with this number of objects.
    pub fn end_set(&mut self, (set, objects): (usize, usize), count: u32) {
        self.writer.close(objects, count);
        self.writer.close(set, 3);
    }

    /// Ends the list of sets, with this number of sets.
    pub fn end_related(&mut self, place: usize, count: u32) {
        self.writer.close(place, count);
    }

    /// The length of the text so far. See [`Writer::position`].
    pub fn position(&self) -> usize {
        self.writer.position()
    }

    /// Ends the input, with settings if this encoding includes them.
    pub fn finish(self, settings: Option<Node<'_>>) {
        if let Some(settings) = settings {
            self.writer.copy(Some(member::SETTINGS), settings);
        }
        self.writer
            .close(self.root, 2 + u32::from(settings.is_some()));
    }
}
