//! The input of one call.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use kindsight_contract::{
    Coverage, Document, Fields, Identity, InputWriter, Relation, TextWriter, Tree, ViewWriter,
    Writer, member,
};
use kindsight_model::Object;

use crate::bindings;
use crate::describe::HandledKind;
use crate::exports::Encoding;
use crate::limits::{BUFFER_BYTES_KEPT_MAX, INPUT_BYTES_MAX, RELATED_BYTES_READ_MAX};
use crate::related::{RelatedSet, Siblings};

/// The input of one call in the encoding of its component, which is also the key of the memo. At
/// most [`INPUT_BYTES_MAX`] long. Its buffers are reused for the next call.
#[derive(Default)]
pub(crate) struct CallInput {
    text: TextWriter,
    view: ViewWriter,
    /// The complete view, shared with a call while it runs.
    bytes: Arc<Vec<u8>>,
    /// Range of the object's own JSON in the text.
    object: Range<usize>,
    sets: Vec<Set>,
    /// Ranges of the related objects' JSON in the text, one set after another.
    places: Vec<Range<usize>>,
    /// Positions of the related objects among the siblings.
    related: Vec<usize>,
}

/// The related objects of one rule.
struct Set {
    coverage: Coverage,
    total: usize,
    /// Number of the objects that are passed.
    count: usize,
    /// True if other objects may be between the object and its related objects.
    is_descendant: bool,
}

/// The objects from which an input is written.
#[derive(Clone, Copy)]
pub(crate) struct InputObjects<'o> {
    /// The object to judge.
    pub(crate) object: &'o Object,
    /// The tree of the object.
    pub(crate) tree: &'o Tree,
    /// The objects among which related objects are searched.
    pub(crate) siblings: &'o Siblings,
}

impl CallInput {
    /// The complete input in its encoding, which the memo compares.
    pub(crate) fn key(&self, encoding: Encoding) -> &[u8] {
        match encoding {
            Encoding::Text => self.text.text().as_bytes(),
            Encoding::View => &self.bytes,
        }
    }

    /// The related objects with all their fields and with their coverage. Descendants include the
    /// owners between them and the object, without which no rule finds them. `siblings` must be the
    /// same as when the input was written.
    pub(crate) fn related_siblings(&self, siblings: &Siblings) -> Siblings {
        let mut positions = BTreeSet::new();
        let mut related = self.related.iter().copied();
        for set in &self.sets {
            for at in related.by_ref().take(set.count) {
                positions.insert(at);
                if set.is_descendant
                    && let Some(descendant) = siblings.objects().get(at)
                {
                    positions.extend(siblings.ancestors(descendant));
                }
            }
        }
        siblings.only(positions)
    }

    /// Releases the objects, and buffers that are larger than usual.
    pub(crate) fn clear(&mut self) {
        self.text.clear(BUFFER_BYTES_KEPT_MAX);
        self.view.clear(BUFFER_BYTES_KEPT_MAX);
        if self.bytes.capacity() > BUFFER_BYTES_KEPT_MAX {
            self.bytes = Arc::default();
        }
        self.sets.clear();
        self.places.clear();
        self.related.clear();
    }

    /// Writes an object, reduced to its fields, with its related objects.
    pub(crate) fn fill(
        &mut self,
        encoding: Encoding,
        handled: &HandledKind,
        objects: InputObjects<'_>,
        settings: &Settings,
    ) {
        self.clear();
        let Self {
            text,
            view,
            object,
            sets,
            places,
            related,
            ..
        } = self;
        let mut filling = Filling {
            handled,
            objects,
            sets,
            places,
            related,
        };
        match encoding {
            Encoding::Text => *object = filling.write(text, None),
            Encoding::View => {
                filling.write(view, Some(&settings.document()));
                view.finish(Arc::make_mut(&mut self.bytes));
            }
        }
    }

    /// The view, for `judge-view`.
    pub(crate) fn view(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.bytes)
    }

    /// The complete input as JSON for users, read back from its encoding.
    pub(crate) fn to_json(
        &self,
        encoding: Encoding,
        now_ms: Option<i64>,
        settings: &Settings,
    ) -> String {
        let mut json = TextWriter::default();
        let whole = match encoding {
            Encoding::Text => self.text.text(),
            Encoding::View => {
                if let Ok(view) = Document::view(&self.bytes) {
                    json.copy(None, view.root());
                }
                json.text()
            }
        };
        let mut text = whole.strip_suffix('}').unwrap_or_default().to_owned();
        if encoding == Encoding::Text {
            text.extend([",\"", member::SETTINGS, "\":", settings.text()]);
        }
        if let Some(now_ms) = now_ms {
            text.extend([",\"now-ms\":", &now_ms.to_string()]);
        }
        text + "}"
    }

    /// Calls `judge` with the input of the interface `text`.
    pub(crate) fn with_text<T>(
        &self,
        now_ms: Option<i64>,
        settings: &Settings,
        judge: impl FnOnce(bindings::Input<'_>) -> T,
    ) -> T {
        let text = |range: &Range<usize>| self.text.text().get(range.clone()).unwrap_or_default();
        let mut places = self.places.iter();
        let sets = self.sets.iter().map(|set| bindings::RelatedSet {
            objects: places.by_ref().take(set.count).map(text).collect(),
            total: u32::try_from(set.total).unwrap_or(u32::MAX),
            coverage: set.coverage.into(),
        });
        let related: Vec<bindings::RelatedSet<'_>> = sets.collect();
        judge(bindings::Input {
            object: text(&self.object),
            related: &related,
            now_ms,
            settings: settings.text(),
        })
    }
}

/// The settings of an interpreter: a JSON object, parsed once when the interpreter is published.
#[derive(Debug)]
pub(crate) struct Settings {
    text: Arc<str>,
    tree: Tree,
}

impl Settings {
    /// Parses settings. Without settings, the result is an empty object.
    pub(crate) fn of(text: Option<&Arc<str>>) -> Self {
        let text = text.map_or_else(|| Arc::from("{}"), Arc::clone);
        let tree = Tree::read(&text).unwrap_or_default();
        Self { text, tree }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn document(&self) -> Document<'_> {
        self.tree.document(&self.text)
    }
}

/// An input during writing.
struct Filling<'f, 'o> {
    handled: &'f HandledKind,
    objects: InputObjects<'o>,
    sets: &'f mut Vec<Set>,
    places: &'f mut Vec<Range<usize>>,
    related: &'f mut Vec<usize>,
}

impl Filling<'_, '_> {
    /// Writes the complete input. Returns the range of the object in the writer's text.
    fn write<W: Writer>(
        &mut self,
        writer: &mut W,
        settings: Option<&Document<'_>>,
    ) -> Range<usize> {
        let InputObjects { object, tree, .. } = self.objects;
        let document = tree.document(&object.json);
        let api_version = missing_api_version(object);
        let identity = identity(object, api_version.as_deref());
        let (mut input, place) =
            InputWriter::begin(writer, document.root(), &self.handled.fields, identity);
        let range = place..input.position();
        let place = input.begin_related();
        let mut bytes_read = 0;
        for rule in &self.handled.related {
            let found = (self.objects.siblings).find(&rule.rule, object, document.root());
            let RelatedSet {
                positions,
                total,
                coverage,
            } = found;
            let set_place = input.begin_set(coverage, total);
            let before = self.related.len();
            for at in positions {
                let Some(related) = self.objects.siblings.objects().get(at) else {
                    continue;
                };
                bytes_read += related.json.len();
                if bytes_read > RELATED_BYTES_READ_MAX {
                    break;
                }
                let Some(place) = write_related(&mut input, &rule.fields, related) else {
                    break;
                };
                self.places.push(place);
                self.related.push(at);
            }
            let count = self.related.len() - before;
            input.end_set(set_place, u32::try_from(count).unwrap_or(u32::MAX));
            self.sets.push(Set {
                coverage,
                total,
                count,
                is_descendant: rule.rule.relation == Relation::Descendant,
            });
        }
        let rules = u32::try_from(self.handled.related.len()).unwrap_or(u32::MAX);
        input.end_related(place, rules);
        input.finish(settings.map(Document::root));
        range
    }
}

/// Writes a related object, and returns its range. If it does not fit, writes nothing and returns
/// `None`.
fn write_related<W: Writer>(
    input: &mut InputWriter<'_, W>,
    fields: &Fields,
    object: &Object,
) -> Option<Range<usize>> {
    let tree = object.tree();
    let document = tree.document(&object.json);
    let api_version = missing_api_version(object);
    let identity = identity(object, api_version.as_deref());
    let place = input.related(document.root(), fields, identity, INPUT_BYTES_MAX)?;
    Some(place..input.position())
}

/// The `apiVersion` of an object that lacks it or its Kind.
fn missing_api_version(object: &Object) -> Option<String> {
    (!object.names_itself).then(|| object.gvk.api_version())
}

/// Version and Kind of an object that lacks them. The contract guarantees both.
fn identity<'i>(object: &'i Object, api_version: Option<&'i str>) -> Option<Identity<'i>> {
    api_version.map(|api_version| Identity {
        api_version,
        kind: &object.gvk.kind,
    })
}

#[cfg(test)]
mod tests;
