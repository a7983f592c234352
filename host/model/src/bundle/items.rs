//! Items of a bundle: the lists of one Kind each, and the list of any Kind.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kindsight_contract::{Node, Tree};

use super::edits::Edits;
use super::header::Header;
use super::lists::{self, LISTS};
use super::status::{ListItem, Lists};
use super::{BUNDLE_ITEMS_MAX, Rejected, RejectedIdentity};
use crate::object::{NO_BRACE, identity};
use crate::redact::{may_hold_secret, redacted, with_res};
use crate::texts::Texts;
use crate::{Coverage, Gvk, OBJECT_BYTES_MAX, Object, ObjectError};

/// Field of the list of any Kind.
pub(super) const ANY_KIND: &str = "resourceStatuses";

/// Standard base64, with or without padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The `res` that replaces an unreadable `res` that may hold a Secret. It is not valid base64, so a later
/// reader rejects the entry too.
const NOT_BASE64: &str = "?";

/// Maximum length of a base64-encoded object, in bytes.
const ENCODED_BYTES_MAX: usize = OBJECT_BYTES_MAX.div_ceil(3) * 4;

/// The contents of the `status` of a bundle.
pub(super) struct Contents {
    pub(super) objects: Vec<Object>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) coverage: Coverage,
    /// The status without the content of Secrets.
    pub(super) status_json: Arc<str>,
}

/// Reads every item of every list of this status. `header` is the header of the report, which only kindsight's monitor
/// writes.
pub(super) fn read(mut lists: Lists<'_>, status: &str, header: Option<&Header>) -> Contents {
    let is_altered = lists.count.is_some_and(|count| count != lists.items());
    let mut items = Items::of(status);
    for list in &LISTS {
        let gvk = list.gvk();
        items.read_list(&mut lists, list.field, |item, texts| {
            read_item(item, &gvk, texts)
        });
    }
    items.read_list(&mut lists, ANY_KIND, |item, texts| read_entry(&item, texts));
    for value in lists.unread.iter().chain(&lists.header) {
        items.edits.pass_over(value);
    }
    let (list, is_cut) = (|field: &str| lists.text(field), items.dropped.is_some());
    let coverage = match header {
        None => lists::coverage(list, is_cut),
        Some(header) => lists::limited(header.coverage.coverage(), list, is_cut, is_altered),
    };
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
    /// Texts that the objects share.
    texts: Texts,
    /// Positions in `objects`. The key is a hash of Kind, namespace and name; if it is taken, the next free
    /// number.
    positions: HashMap<u64, usize>,
    /// Number of items read; at most [`BUNDLE_ITEMS_MAX`].
    count: usize,
    /// Number of items over the limit, and a pointer to the first one.
    dropped: Option<(usize, String)>,
    edits: Edits<'s>,
}

impl<'s> Items<'s> {
    fn of(status: &'s str) -> Self {
        Self {
            objects: Vec::new(),
            rejected: Vec::new(),
            texts: Texts::default(),
            positions: HashMap::new(),
            count: 0,
            dropped: None,
            edits: Edits::of(status),
        }
    }

    fn read_list(
        &mut self,
        lists: &mut Lists<'_>,
        field: &str,
        read: impl Fn(ListItem<'_>, &mut Texts) -> Item,
    ) {
        let Some(list) = lists.take(field).filter(|list| list.text != "null") else {
            return;
        };
        let Some(items) = list.items else {
            self.edits.pass_over(list.text);
            return self.rejected.push(Rejected {
                pointer: format!("/status/{field}"),
                error: ObjectError::NotAnObject("expected an array of objects".to_owned()),
                identity: None,
            });
        };
        let number = items.kept.len();
        let taken = number.min(BUNDLE_ITEMS_MAX - self.count);
        self.count += taken;
        let mut last = None;
        for (index, item) in items.kept.into_iter().take(taken).enumerate() {
            let text = item.text;
            last = Some(text);
            let Item { object, redacted } = read(item, &mut self.texts);
            if let Some(redacted) = redacted {
                self.edits.replace(text, redacted);
            }
            match object {
                Ok(object) => self.keep(object),
                Err(rejected) => self.rejected.push(Rejected {
                    pointer: format!("/status/{field}/{index}{}", rejected.place),
                    error: rejected.error,
                    identity: rejected.identity,
                }),
            }
        }
        let rest = number - taken + items.dropped;
        if rest > 0 {
            let first = || (0, format!("/status/{field}/{taken}"));
            self.dropped.get_or_insert_with(first).0 += rest;
            self.edits.cut(list.text, last, rest);
        }
    }

    /// Adds an object, or replaces an earlier object with the same identity. An object without a name has no
    /// identity and is always added.
    fn keep(&mut self, object: Object) {
        if !object.name.is_empty() {
            let identity = (&object.gvk, &object.namespace, &object.name);
            let mut slot = self.positions.hasher().hash_one(identity);
            while let Some(earlier) = self.positions.get(&slot) {
                let earlier = self.objects.get_mut(*earlier);
                let earlier =
                    earlier.filter(|other| (&other.gvk, &other.namespace, &other.name) == identity);
                if let Some(earlier) = earlier {
                    *earlier = object;
                    return;
                }
                slot = slot.wrapping_add(1);
            }
            self.positions.insert(slot, self.objects.len());
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

/// Reads an item of a list of one Kind.
fn read_item(item: ListItem<'_>, gvk: &Gvk, texts: &mut Texts) -> Item {
    let ListItem { text, tree } = item;
    // The size is checked before the text is copied.
    let read = if text.len() > OBJECT_BYTES_MAX {
        Err(ObjectError::TooLarge(text.len()))
    } else if let Some(tree) = tree {
        Object::read_tree(text.into(), tree, Some(gvk), texts)
    } else {
        Object::read(text.into(), Some(gvk), texts)
    };
    match read {
        Ok((mut object, is_redacted)) => {
            // A monitor that updates only the status of an item omits the generation too.
            let is_typed = object.gvk.kind == gvk.kind && object.gvk.group == gvk.group;
            object.has_old_spec = is_typed && object.has_spec() && !object.has_generation();
            Item {
                redacted: is_redacted.then(|| object.json.to_string()),
                object: Ok(object),
            }
        }
        Err(error) => {
            let (namespace, name) = identity(text);
            Item {
                object: Err(ItemError {
                    place: "",
                    error,
                    identity: RejectedIdentity::of(gvk.clone(), &namespace, &name),
                }),
                redacted: match redacted(text, gvk.is_secret()) {
                    Ok(redacted) => redacted,
                    Err(_) => Some("null".to_owned()),
                },
            }
        }
    }
}

/// Reads an entry of the list of any Kind. The object is in `res`; the entry also has a Kind, a name and a
/// namespace, which apply if the object lacks them.
fn read_entry(item: &ListItem<'_>, texts: &mut Texts) -> Item {
    let read;
    let tree = match &item.tree {
        Some(tree) => tree,
        None => match read_again(item.text) {
            Ok(tree) => {
                read = tree;
                &read
            }
            Err(error) => return bad_entry(item.text, error),
        },
    };
    let document = tree.document(item.text);
    let entry = Entry::of(document.root());
    let gvk = texts.gvk(entry.group, entry.version, entry.kind);
    let json = decode_res(entry.res);
    let read = match &json {
        Ok(json) => Object::read(json.as_str().into(), Some(&gvk), texts),
        Err(error) => Err(error.clone()),
    };
    match read {
        Ok((object, is_redacted)) => Item {
            redacted: if is_redacted {
                Some(with_res(item.text, &BASE64.encode(object.json.as_bytes())))
            } else {
                redacted(item.text, false).unwrap_or_else(|_| Some("null".to_owned()))
            },
            object: Ok(entry.complete(object, texts)),
        },
        Err(error) => {
            let may_be_secret = gvk.is_secret() || json.as_deref().is_ok_and(may_hold_secret);
            Item {
                redacted: may_be_secret.then(|| with_res(item.text, NOT_BASE64)),
                object: Err(ItemError {
                    place: "/res",
                    error,
                    identity: RejectedIdentity::of(gvk, entry.namespace, entry.name),
                }),
            }
        }
    }
}

/// Parses an entry that the status kept without a tree: it is not a JSON object, or the trees reached their
/// limit.
fn read_again(entry: &str) -> Result<Tree, ObjectError> {
    if !entry.starts_with('{') {
        return Err(ObjectError::NotAnObject(NO_BRACE.to_owned()));
    }
    Ok(Tree::read(entry)?)
}

fn bad_entry(item: &str, error: ObjectError) -> Item {
    Item {
        object: Err(ItemError {
            place: "",
            error,
            identity: None,
        }),
        redacted: redacted(item, false).unwrap_or_else(|_| Some("null".to_owned())),
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

/// An entry of the list of any Kind; members that are not strings are empty.
struct Entry<'e> {
    group: &'e str,
    version: &'e str,
    kind: &'e str,
    name: &'e str,
    namespace: &'e str,
    res: &'e str,
}

impl<'e> Entry<'e> {
    fn of(entry: Node<'e>) -> Self {
        let text = |member: &str| entry.get(member).text_or_empty();
        Self {
            group: text("group"),
            version: text("version"),
            kind: text("kind"),
            name: text("name"),
            namespace: text("namespace"),
            res: text("res"),
        }
    }

    /// Adds the name and the namespace of the entry to an object that lacks them.
    fn complete(&self, mut object: Object, texts: &mut Texts) -> Object {
        if object.name.is_empty() {
            object.name = self.name.into();
        }
        if object.namespace.is_empty() {
            object.namespace = texts.share(self.namespace);
        }
        object
    }
}
