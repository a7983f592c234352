//! Search of one JSON text for Secrets, in one pass: its cost is the size of the text, however deep the
//! values in it are nested.
//!
//! The Kind of an object may follow its data, and that of a list its items. So places are noted first, and
//! settled where their object ends.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::{Edit, Opaque, may_hold_secret, without_values};

/// Maximum nesting that is searched. An [`Object`](crate::Object) is never deeper, but JSON in its
/// annotations may be.
const DEPTH_MAX: usize = 128;

/// Maximum number of texts within each other, as annotations of what annotations hold.
const TEXTS_MAX: usize = 8;

/// The replacements for the content of Secrets in a JSON text, in order. `is_secret` says that the whole
/// text is a Secret.
pub(super) fn search(text: &str, is_secret: bool) -> Result<Vec<Edit>, Opaque> {
    search_within(text, is_secret, TEXTS_MAX)
}

fn search_within(text: &str, is_secret: bool, texts_left: usize) -> Result<Vec<Edit>, Opaque> {
    let _: &RawValue = serde_json::from_str(text).map_err(|_| Opaque)?;
    let mut search = Search {
        text,
        at: 0,
        is_secret,
        texts_left,
        frames: Vec::new(),
        data: Vec::new(),
        maps: Vec::new(),
    };
    search.run()?;
    Ok(search.edits())
}

struct Search<'t> {
    text: &'t str,
    at: usize,
    /// True if the whole text is a Secret by its context.
    is_secret: bool,
    texts_left: usize,
    frames: Vec<Frame>,
    /// The values of `data` and `stringData` of Secrets.
    data: Vec<Range<usize>>,
    /// Annotations, those of inner objects first.
    maps: Vec<Annotations>,
}

/// An object or array that has begun.
struct Frame {
    start: usize,
    is_array: bool,
    /// True if it is a Secret by its context, or an array of such.
    is_secret: bool,
    /// True if it is an item of a list, or an array of such.
    is_item: bool,
    /// The present member, where its key was read.
    member: Option<Member>,
    says: Says,
    /// The values of `data` and `stringData`.
    data: Vec<Range<usize>>,
    /// Those of its items.
    item_data: Vec<Range<usize>>,
    /// The annotations in it begin at this place.
    maps_before: usize,
    /// The members that were read, where these are annotations.
    annotations: Option<Vec<Annotation>>,
}

/// A member whose key was read.
struct Member {
    start: usize,
    role: Role,
    /// True if a tool may keep the last applied configuration under it.
    is_applied: bool,
    data_before: usize,
    maps_before: usize,
}

/// The part of a member in the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Kind,
    ApiVersion,
    Data,
    Annotations,
    Items,
    Other,
}

/// The Kinds that an object names itself. Of duplicate members any counts, and no `apiVersion` is core.
#[derive(Default)]
struct Says {
    secret: bool,
    list: bool,
    /// True if any `apiVersion` is core; none without one.
    core: Option<bool>,
}

impl Says {
    fn is_core(&self) -> bool {
        self.core != Some(false)
    }
}

/// The annotations of one object.
struct Annotations {
    range: Range<usize>,
    members: Vec<Annotation>,
    in_secret: bool,
}

struct Annotation {
    range: Range<usize>,
    /// True if it holds a Secret, or cannot be searched.
    goes: bool,
    /// True if it goes from a Secret.
    goes_from_secret: bool,
}

impl Annotations {
    fn has_gone(&self, annotation: &Annotation) -> bool {
        annotation.goes || (self.in_secret && annotation.goes_from_secret)
    }
}

impl Search<'_> {
    fn run(&mut self) -> Result<(), Opaque> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'{' | b'[' => self.begin(start, *byte == b'[')?,
                b'}' | b']' => self.end(),
                b'"' => {
                    self.skip_string();
                    if self.is_key() {
                        self.key(start..self.at);
                    } else {
                        self.value(start..self.at);
                    }
                }
                // The text is valid JSON, so these say nothing.
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {}
                _ => {
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    let end = rest.iter().position(|byte| b" \t\n\r,]}".contains(byte));
                    self.at += end.unwrap_or(rest.len());
                    self.value(start..self.at);
                }
            }
        }
        Ok(())
    }

    /// Goes behind a string whose quotation mark was read.
    fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return;
            }
        }
    }

    fn is_key(&self) -> bool {
        let last = self.frames.last();
        last.is_some_and(|frame| !frame.is_array && frame.member.is_none())
    }

    fn key(&mut self, range: Range<usize>) {
        let key = self.string(range.clone()).unwrap_or_default();
        let role = match &*key {
            "kind" => Role::Kind,
            "apiVersion" => Role::ApiVersion,
            "data" | "stringData" => Role::Data,
            "annotations" => Role::Annotations,
            "items" => Role::Items,
            _ => Role::Other,
        };
        let member = Member {
            start: range.start,
            role,
            is_applied: holds_last_applied(&key),
            data_before: self.data.len(),
            maps_before: self.maps.len(),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.member = Some(member);
        }
    }

    /// The text of a string; none for another value.
    fn string(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        let text = self.text.get(range).filter(|text| text.starts_with('"'))?;
        let plain = text.get(1..text.len().saturating_sub(1))?;
        if plain.contains('\\') {
            serde_json::from_str(text).ok().map(Cow::Owned)
        } else {
            Some(plain.into())
        }
    }

    fn begin(&mut self, start: usize, is_array: bool) -> Result<(), Opaque> {
        if self.frames.len() > DEPTH_MAX {
            return Err(Opaque);
        }
        let outer = self.frames.last();
        let role = outer.and_then(|frame| Some(frame.member.as_ref()?.role));
        let (is_secret, is_item) = match outer {
            None => (self.is_secret, false),
            Some(outer) if outer.is_array => (outer.is_secret, outer.is_item),
            Some(_) => (false, role == Some(Role::Items)),
        };
        let is_annotations = !is_array && role == Some(Role::Annotations);
        self.frames.push(Frame {
            start,
            is_array,
            is_secret,
            is_item,
            member: None,
            says: Says::default(),
            data: Vec::new(),
            item_data: Vec::new(),
            maps_before: self.maps.len(),
            annotations: is_annotations.then(Vec::new),
        });
        Ok(())
    }

    /// Settles what was noted in an object that ends.
    fn end(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let range = frame.start..self.at;
        if let Some(members) = frame.annotations {
            self.maps.push(Annotations {
                range: range.clone(),
                members,
                in_secret: false,
            });
        }
        let is_secret = frame.is_secret || (frame.says.secret && frame.says.is_core());
        let is_list = frame.says.list && frame.says.is_core();
        if is_secret {
            self.data.extend(frame.data);
        } else if frame.is_item {
            let mut outer = self.frames.iter_mut().rev();
            if let Some(list) = outer.find(|frame| !frame.is_array) {
                list.item_data.extend(frame.data);
            }
        }
        if is_list {
            self.data.extend(frame.item_data);
        }
        if is_secret || is_list {
            let inner = self.maps.iter_mut().skip(frame.maps_before);
            inner.for_each(|map| map.in_secret = true);
        }
        self.value(range);
    }

    /// Notes a value that ends in the object that it is a member of.
    fn value(&mut self, range: Range<usize>) {
        let member = match self.frames.last_mut() {
            Some(frame) if !frame.is_array => frame.member.take(),
            _ => None,
        };
        let Some(member) = member else {
            return;
        };
        let text = match member.role {
            Role::Kind | Role::ApiVersion => self.string(range.clone()).map(Cow::into_owned),
            _ => None,
        };
        let is_map = self
            .frames
            .last()
            .is_some_and(|it| it.annotations.is_some());
        let annotation = is_map.then(|| self.annotation(&member, &range));
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if let (Some(annotations), Some(annotation)) = (&mut frame.annotations, annotation) {
            annotations.push(annotation);
        }
        match (member.role, text) {
            (Role::Kind, Some(text)) => {
                frame.says.secret |= text == "Secret";
                frame.says.list |= text == "SecretList";
            }
            (Role::ApiVersion, Some(text)) => {
                let is_core = !text.contains('/') || frame.says.core == Some(true);
                frame.says.core = Some(is_core);
            }
            (Role::Data, _) => frame.data.push(range),
            _ => {}
        }
    }

    fn annotation(&self, member: &Member, range: &Range<usize>) -> Annotation {
        let text = self.string(range.clone());
        let holds_secret = if let Some(text) = &text {
            self.text_holds_secret(text)
        } else {
            // No annotation of Kubernetes; whatever was found in it goes with it.
            let maps = self.maps.iter().skip(member.maps_before);
            let mut members = maps.flat_map(|map| &map.members);
            self.data.len() > member.data_before || members.any(|it| it.goes)
        };
        Annotation {
            range: member.start..range.end,
            goes: holds_secret,
            goes_from_secret: member.is_applied || text.is_none(),
        }
    }

    /// Returns whether a text is JSON that holds a Secret or cannot be searched. Other text is kept.
    fn text_holds_secret(&self, text: &str) -> bool {
        if !text.trim_start().starts_with(['{', '[']) || !may_hold_secret(text) {
            return false;
        }
        if serde_json::from_str::<&RawValue>(text).is_err() {
            return false;
        }
        let left = self.texts_left.checked_sub(1);
        let edits = left.map(|left| search_within(text, false, left));
        !matches!(edits, Some(Ok(edits)) if edits.is_empty())
    }

    /// The replacements, in order; of those within each other the outermost.
    fn edits(&self) -> Vec<Edit> {
        let maps = self.maps.iter().enumerate();
        let maps = maps.filter(|(_, map)| map.members.iter().any(|it| map.has_gone(it)));
        let maps = maps.map(|(at, map)| (map.range.clone(), Some(at)));
        let data = self.data.iter().map(|range| (range.clone(), None));
        let mut places: Vec<(Range<usize>, Option<usize>)> = maps.chain(data).collect();
        places.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let (mut edits, mut end) = (Vec::new(), 0);
        for (range, map) in places {
            if range.start < end {
                continue;
            }
            end = range.end;
            let new = match map.and_then(|at| self.maps.get(at)) {
                Some(map) => Some(self.without_gone(map)),
                None => without_values(self.text.get(range.clone()).unwrap_or_default()),
            };
            edits.extend(new.map(|new| (range, new)));
        }
        edits
    }

    fn without_gone(&self, map: &Annotations) -> String {
        let kept = map.members.iter().filter(|it| !map.has_gone(it));
        let kept: Vec<&str> = kept
            .filter_map(|it| self.text.get(it.range.clone()))
            .collect();
        format!("{{{}}}", kept.join(","))
    }
}

/// Returns whether tools store the last applied configuration under this annotation. Decided by the key,
/// since some compress the value: `kubectl.kubernetes.io/last-applied-configuration`,
/// `objectset.rio.cattle.io/applied`, `banzaicloud.com/last-applied`.
fn holds_last_applied(key: &str) -> bool {
    key.contains("applied")
}
