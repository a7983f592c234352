//! Items of a bundle: the lists of one Kind each, and the list of any Kind.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::coverage::{Coverage, LISTS};
use super::edits::Edits;
use super::{BUNDLE_ITEMS_MAX, Rejected, RejectedIdentity};
use crate::lenient::{self, Elements, Lenient, Text};
use crate::object::{identity, read_object};
use crate::redact::{may_hold_secret, redacted, with_res};
use crate::{Gvk, OBJECT_BYTES_MAX, Object, ObjectError};

/// Field of the list of any Kind.
const ANY_KIND: &str = "resourceStatuses";

/// Standard base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The `res` of an entry that is stored in place of one that may hold a Secret and cannot be read: it is
/// not base64 either.
const NOT_BASE64: &str = "?";

/// Maximum length of a base64-encoded object, in bytes.
const ENCODED_BYTES_MAX: usize = OBJECT_BYTES_MAX.div_ceil(3) * 4;

/// The lists in the `status` of a bundle. `ready` and `resourceCount` are ignored: no monitor keeps them
/// up to date.
#[derive(Default)]
pub(super) struct Lists<'de> {
    by_field: BTreeMap<&'static str, &'de RawValue>,
    /// The values of all other members, and of lists that a later duplicate replaced.
    unread: Vec<&'de RawValue>,
}

impl<'de> Lenient<'de> for Lists<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let mut fields = LISTS.iter().map(|list| list.field).chain([ANY_KIND]);
        let value = map.next_value()?;
        let unread = match fields.find(|&field| field == key) {
            Some(field) => self.by_field.insert(field, value),
            None => Some(value),
        };
        self.unread.extend(unread);
        Ok(())
    }
}

impl Lists<'_> {
    fn text(&self, field: &str) -> Option<&str> {
        self.by_field.get(field).map(|list| list.get())
    }
}

/// The contents of the `status` of a bundle.
pub(super) struct Contents {
    pub(super) objects: Vec<Object>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) coverage: Coverage,
    /// The status without the content of Secrets.
    pub(super) status_json: Arc<str>,
}

/// Reads every item of every list of this status.
pub(super) fn read(lists: &Lists<'_>, status: &str) -> Contents {
    let mut items = Items::of(status);
    for list in &LISTS {
        let gvk = list.gvk();
        items.read_list(lists, list.field, |item| read_item(item, &gvk));
    }
    items.read_list(lists, ANY_KIND, read_entry);
    for value in &lists.unread {
        items.edits.pass_over(value.get());
    }
    let coverage = Coverage::of(
        |field| lists.text(field),
        lists.text(ANY_KIND),
        items.dropped.is_some(),
    );
    items.finish(coverage)
}

/// One item that was read.
struct Item {
    object: Result<Object, ItemError>,
    /// The item without the content of Secrets; `None` if it has none.
    redacted: Option<String>,
}

/// The reason why an item was rejected.
struct ItemError {
    /// Its location in the item; empty for the item itself.
    place: &'static str,
    error: ObjectError,
    identity: Option<RejectedIdentity>,
}

/// The items read so far.
struct Items<'s> {
    objects: Vec<Object>,
    rejected: Vec<Rejected>,
    /// Positions in `objects` by Kind, namespace and name.
    positions: HashMap<(Gvk, Arc<str>, Arc<str>), usize>,
    /// Number of items read; at most [`BUNDLE_ITEMS_MAX`].
    count: usize,
    /// Number of items over the limit, and the pointer to the first of them.
    dropped: Option<(usize, String)>,
    edits: Edits<'s>,
    /// Bytes of the trees of `objects`; at most [`TREES_BYTES_MAX`].
    tree_bytes: usize,
}

/// Bytes of trees that one bundle's objects keep until they are judged. Objects past that are read again
/// then.
const TREES_BYTES_MAX: usize = 16 * 1024 * 1024;

impl<'s> Items<'s> {
    fn of(status: &'s str) -> Self {
        Self {
            objects: Vec::new(),
            rejected: Vec::new(),
            positions: HashMap::new(),
            count: 0,
            dropped: None,
            edits: Edits::of(status),
            tree_bytes: 0,
        }
    }

    fn read_list(&mut self, lists: &Lists<'_>, field: &str, read: impl Fn(&str) -> Item) {
        let pointer = format!("/status/{field}");
        let Some(list) = lists.text(field).filter(|list| *list != "null") else {
            return;
        };
        let elements = match elements(list) {
            Ok(elements) => elements,
            Err(error) => {
                self.edits.pass_over(list);
                return self.rejected.push(Rejected {
                    pointer,
                    error,
                    identity: None,
                });
            }
        };
        let taken = elements.kept.len().min(BUNDLE_ITEMS_MAX - self.count);
        self.count += taken;
        for (index, item) in elements.kept.iter().take(taken).enumerate() {
            let Item { object, redacted } = read(item.get());
            if let Some(redacted) = redacted {
                self.edits.replace(item.get(), redacted);
            }
            match object {
                Ok(object) => self.keep(object),
                Err(rejected) => self.rejected.push(Rejected {
                    pointer: format!("{pointer}/{index}{}", rejected.place),
                    error: rejected.error,
                    identity: rejected.identity,
                }),
            }
        }
        let rest = elements.kept.len() - taken + elements.dropped;
        if rest > 0 {
            let first = || (0, format!("{pointer}/{taken}"));
            self.dropped.get_or_insert_with(first).0 += rest;
            let last = taken.checked_sub(1).and_then(|at| elements.kept.get(at));
            self.edits.cut(list, last.map(|last| last.get()), rest);
        }
    }

    /// Adds an object, or replaces an earlier one of the same identity. Without a name an object has none.
    fn keep(&mut self, mut object: Object) {
        self.tree_bytes += object.tree_bytes();
        if self.tree_bytes > TREES_BYTES_MAX {
            object.settle();
        }
        let position = self.objects.len();
        if !object.name.is_empty() {
            let (namespace, name) = (Arc::clone(&object.namespace), Arc::clone(&object.name));
            let known = self.positions.entry((object.gvk.clone(), namespace, name));
            if let Some(earlier) = self.objects.get_mut(*known.or_insert(position)) {
                *earlier = object;
                return;
            }
        }
        self.objects.push(object);
    }

    fn finish(mut self, coverage: Coverage) -> Contents {
        if let Some((count, pointer)) = self.dropped {
            self.rejected.push(Rejected {
                pointer,
                error: ObjectError::TooMany(count),
                identity: None,
            });
        }
        Contents {
            objects: self.objects,
            rejected: self.rejected,
            coverage,
            status_json: self.edits.finish(),
        }
    }
}

fn elements(list: &str) -> Result<Elements<'_, BUNDLE_ITEMS_MAX>, ObjectError> {
    if !list.starts_with('[') {
        return Err(ObjectError::NotAnObject(
            "expected an array of objects".to_owned(),
        ));
    }
    lenient::read(list).map_err(|error| ObjectError::NotAnObject(error.to_string()))
}

/// Reads an item of a list of one Kind.
fn read_item(item: &str, gvk: &Gvk) -> Item {
    // Checked before it is copied.
    let read = if item.len() > OBJECT_BYTES_MAX {
        Err(ObjectError::TooLarge(item.len()))
    } else {
        Object::read(&item.into(), Some(gvk))
    };
    match read {
        Ok((object, is_redacted)) => Item {
            redacted: is_redacted.then(|| object.json.to_string()),
            object: Ok(object),
        },
        Err(error) => {
            let (namespace, name) = identity(item);
            Item {
                object: Err(ItemError {
                    place: "",
                    error,
                    identity: RejectedIdentity::of(gvk.clone(), &namespace, &name),
                }),
                redacted: match redacted(item, gvk.is_secret()) {
                    Ok(redacted) => redacted,
                    Err(_) => Some("null".to_owned()),
                },
            }
        }
    }
}

/// Reads an entry of the list of any Kind: the object is in `res`. Beside it are its Kind, name and
/// namespace, used where the object does not name them.
fn read_entry(item: &str) -> Item {
    let entry: Entry<'_> = match read_object(item) {
        Ok(entry) => entry,
        Err(error) => {
            return Item {
                object: Err(ItemError {
                    place: "",
                    error: ObjectError::NotAnObject(error),
                    identity: None,
                }),
                redacted: redacted(item, false).unwrap_or_else(|_| Some("null".to_owned())),
            };
        }
    };
    let gvk = Gvk::new(&entry.group.0, &entry.version.0, &entry.kind.0);
    let json = decode_res(&entry.res.0);
    let may_be_secret = gvk.is_secret() || json.as_deref().is_ok_and(may_hold_secret);
    let read = json.and_then(|json| Object::read(&json.into(), Some(&gvk)));
    match read {
        Ok((object, is_redacted)) => Item {
            redacted: if is_redacted {
                Some(with_res(item, &BASE64.encode(object.json.as_bytes())))
            } else {
                redacted(item, false).unwrap_or_else(|_| Some("null".to_owned()))
            },
            object: Ok(entry.complete(object)),
        },
        Err(error) => Item {
            redacted: may_be_secret.then(|| with_res(item, NOT_BASE64)),
            object: Err(ItemError {
                place: "/res",
                error,
                identity: RejectedIdentity::of(gvk, &entry.namespace.0, &entry.name.0),
            }),
        },
    }
}

fn decode_res(res: &str) -> Result<String, ObjectError> {
    if res.is_empty() {
        let missing = "`res` is missing or not a string";
        return Err(ObjectError::NotAnObject(missing.to_owned()));
    }
    if res.len() > ENCODED_BYTES_MAX {
        return Err(ObjectError::TooLarge(res.len() / 4 * 3));
    }
    let bytes = BASE64
        .decode(res)
        .map_err(|_| ObjectError::NotAnObject("`res` is not base64".to_owned()))?;
    String::from_utf8(bytes).map_err(|_| ObjectError::NotAnObject("`res` is not UTF-8".to_owned()))
}

#[derive(Default)]
struct Entry<'de> {
    group: Text<'de>,
    version: Text<'de>,
    kind: Text<'de>,
    name: Text<'de>,
    namespace: Text<'de>,
    res: Text<'de>,
}

impl Entry<'_> {
    /// The object with the name and namespace of its entry, where it has none.
    fn complete(self, mut object: Object) -> Object {
        if object.name.is_empty() {
            object.name = self.name.0.into();
        }
        if object.namespace.is_empty() {
            object.namespace = self.namespace.0.into();
        }
        object
    }
}

impl<'de> Lenient<'de> for Entry<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "group" => self.group = lenient::next(map)?,
            "version" => self.version = lenient::next(map)?,
            "kind" => self.kind = lenient::next(map)?,
            "name" => self.name = lenient::next(map)?,
            "namespace" => self.namespace = lenient::next(map)?,
            "res" => self.res = lenient::next(map)?,
            _ => lenient::next(map)?,
        }
        Ok(())
    }
}
