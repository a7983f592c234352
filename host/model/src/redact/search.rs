//! Searches one JSON text for Secrets in one pass. The cost is linear in the size of the text, at any depth
//! of nesting.
//!
//! The `kind` of an object may follow its data, and the `kind` of a list may follow its items. So the search
//! records the positions of candidates and decides about them at the end of their object.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::{Edit, Opaque, may_hold_secret, without_values};

/// Maximum depth of nesting of a searched text. An [`Object`](crate::Object) is never deeper, but JSON in its
/// annotations may be.
const DEPTH_MAX: usize = 128;

/// Maximum depth of JSON texts within annotations of other JSON texts.
const TEXTS_MAX: usize = 8;

/// The replacements for the content of Secrets in a JSON text, in order. `is_secret` is true if the text
/// itself is a Secret.
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
    /// True if the text itself is a Secret because of its context.
    is_secret: bool,
    texts_left: usize,
    frames: Vec<Frame>,
    /// The values of `data` and `stringData` of Secrets.
    data: Vec<Range<usize>>,
    /// Annotations; inner objects precede outer objects.
    maps: Vec<Annotations>,
}

/// An object or array that has begun.
struct Frame {
    start: usize,
    is_array: bool,
    /// True if the context makes it a Secret or an array of Secrets.
    is_secret: bool,
    /// True if it is an item of a list, or an array of items.
    is_item: bool,
    /// The current member; `None` until its key was read.
    member: Option<Member>,
    says: Says,
    /// The values of `data` and `stringData`.
    data: Vec<Range<usize>>,
    /// The values of `data` and `stringData` of its items.
    item_data: Vec<Range<usize>>,
    /// Number of entries in [`Search::maps`] before this object or array began.
    maps_before: usize,
    /// The members read so far, if this object is a map of annotations.
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

/// The meaning of a member for the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Kind,
    ApiVersion,
    Data,
    Annotations,
    Items,
    Other,
}

/// The `kind` and `apiVersion` of an object. If members are duplicate, each one counts. An object without an
/// `apiVersion` counts as core.
#[derive(Default)]
struct Says {
    secret: bool,
    list: bool,
    /// True if any `apiVersion` is core; `None` if the object has none.
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
    /// True if it must be removed from any object: it holds a Secret, or cannot be searched.
    is_removed: bool,
    /// True if it must be removed from a Secret.
    is_removed_from_secret: bool,
}

impl Annotations {
    fn removes(&self, annotation: &Annotation) -> bool {
        annotation.is_removed || (self.in_secret && annotation.is_removed_from_secret)
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
                // The text is valid JSON, so separators can be skipped.
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

    /// Skips the rest of a string whose opening quotation mark was read.
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

    /// The text of a string; `None` for any other value.
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

    /// Ends an object or array, and decides about its recorded positions.
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

    /// Records the end of a value in the object that it is a member of.
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
            .is_some_and(|frame| frame.annotations.is_some());
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
            // Not a valid annotation. If a Secret was found in the value, the member is removed.
            let maps = self.maps.iter().skip(member.maps_before);
            let mut members = maps.flat_map(|map| &map.members);
            self.data.len() > member.data_before || members.any(|inner| inner.is_removed)
        };
        Annotation {
            range: member.start..range.end,
            is_removed: holds_secret,
            is_removed_from_secret: member.is_applied || text.is_none(),
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

    /// The replacements, in order. Of nested replacements, only the outermost is returned.
    fn edits(&self) -> Vec<Edit> {
        let maps = self.maps.iter().enumerate();
        let maps = maps.filter(|(_, map)| map.members.iter().any(|member| map.removes(member)));
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
                Some(map) => Some(self.without_removed(map)),
                None => without_values(self.text.get(range.clone()).unwrap_or_default()),
            };
            edits.extend(new.map(|new| (range, new)));
        }
        edits
    }

    fn without_removed(&self, map: &Annotations) -> String {
        let kept = map.members.iter().filter(|member| !map.removes(member));
        let kept: Vec<&str> = kept
            .filter_map(|member| self.text.get(member.range.clone()))
            .collect();
        format!("{{{}}}", kept.join(","))
    }
}

/// Returns whether tools store the last applied configuration under this annotation. The key decides, because
/// some tools compress the value: `kubectl.kubernetes.io/last-applied-configuration`,
/// `objectset.rio.cattle.io/applied`, `banzaicloud.com/last-applied`.
fn holds_last_applied(key: &str) -> bool {
    key.contains("applied")
}
