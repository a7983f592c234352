//! One object of a report, as it is written.

use std::borrow::Cow;

use base64::Engine as _;
use serde_json::{Map, Value};

use super::BundleDialect;
use super::shorten::Shortening;
use crate::Object;
use crate::bundle::items::BASE64;
use crate::bundle::lists::{LISTS, List};

/// The annotation of `kubectl apply` with the complete configuration.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// One object of a report, and its list.
#[derive(Debug)]
pub(super) struct Piece<'r> {
    pub(super) object: &'r Object,
    /// The list of one Kind; `None` for the list of any Kind.
    list: Option<usize>,
    json: Cow<'r, str>,
}

impl<'r> Piece<'r> {
    /// The object without `managedFields`, the configuration of `kubectl apply` and the content of a Secret.
    pub(super) fn of(object: &'r Object, dialect: BundleDialect) -> Self {
        let list = LISTS.iter().position(|list| is_in(list, object, dialect));
        let mut piece = Self {
            object,
            list,
            json: Cow::Borrowed(&object.json),
        };
        let found = list.and_then(|at| LISTS.get(at));
        if object.gvk.is_secret() {
            piece.shorten(Shortening::Metadata);
        } else if found.is_some_and(|list| !is_of_one_version(list, dialect)) {
            piece.shorten(Shortening::Content);
        }
        if piece.json.contains("\"managedFields\"") || piece.json.contains(LAST_APPLIED) {
            piece.edit(without_bookkeeping);
        }
        let is_typed = found.is_some_and(|list| list.is_exactly_of(&object.gvk));
        if !object.names_itself && !is_typed {
            piece.json = Cow::Owned(with_type(&piece.json, object));
        }
        piece
    }

    /// The position of its list of one Kind.
    pub(super) fn list(&self) -> Option<usize> {
        self.list
    }

    /// Returns whether another object owns it.
    pub(super) fn is_owned(&self) -> bool {
        !self.object.owners.is_empty()
    }

    /// Shortens it. Returns whether it changed.
    pub(super) fn shorten(&mut self, shortening: Shortening) -> bool {
        self.edit(|object| shortening.apply(object))
    }

    /// Its size in its list, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self.list {
            Some(_) => self.json.len() + 1,
            None => self.entry_bytes(),
        }
    }

    /// Its size in the list of any Kind, in bytes; at most a few bytes too large.
    pub(super) fn entry_bytes(&self) -> usize {
        /// The names of the members of an entry, with their punctuation.
        const NAMES: usize = 80;
        let object = self.object;
        let gvk = &object.gvk;
        let texts = [
            &gvk.group,
            &gvk.version,
            &gvk.kind,
            &object.namespace,
            &object.name,
        ];
        // An escaped character of a text takes up to six bytes.
        let escaped = |text: &str| Value::from(text).to_string().len();
        let texts: usize = texts.iter().map(|text| escaped(text)).sum();
        NAMES + texts + self.json.len().div_ceil(3) * 4
    }

    /// Writes it as an item of its list of one Kind.
    pub(super) fn write_item(&self, to: &mut String) {
        to.push_str(&self.json);
    }

    /// Writes it as an entry of the list of any Kind.
    pub(super) fn write_entry(&self, to: &mut String) {
        let object = self.object;
        let gvk = &object.gvk;
        let mut member = |name: &str, value: &str| {
            to.push_str(name);
            to.push_str(&Value::from(value).to_string());
        };
        member(r#"{"group":"#, &gvk.group);
        member(r#","version":"#, &gvk.version);
        member(r#","kind":"#, &gvk.kind);
        member(r#","name":"#, &object.name);
        if !object.namespace.is_empty() {
            member(r#","namespace":"#, &object.namespace);
        }
        to.push_str(r#","res":""#);
        BASE64.encode_string(self.json.as_bytes(), to);
        to.push_str("\"}");
    }

    /// Changes the object. Returns whether it changed.
    fn edit(&mut self, edit: impl FnOnce(&mut Map<String, Value>) -> bool) -> bool {
        // The text was read as an object, so it is JSON.
        let Ok(mut members) = serde_json::from_str(&self.json) else {
            return false;
        };
        let is_changed = edit(&mut members);
        if is_changed {
            self.json = Cow::Owned(Value::Object(members).to_string());
        }
        is_changed
    }
}

/// Returns whether an object is written into a list of one Kind.
fn is_in(list: &List, object: &Object, dialect: BundleDialect) -> bool {
    match dialect {
        BundleDialect::V22 if !list.is_in_all() => false,
        _ if is_of_one_version(list, dialect) => list.is_exactly_of(&object.gvk),
        _ => list.is_of(&object.gvk),
    }
}

/// Returns whether a list has complete objects of one version.
///
/// Go reads an item as one version of its Kind, and loses members of other versions. So most lists take objects of this
/// version only. The lists that only ONAP's monitors have, and its CertificateSigningRequests, are of versions that
/// clusters do not serve any more. They take objects of every version, without the spec, whose members differ.
fn is_of_one_version(list: &List, dialect: BundleDialect) -> bool {
    dialect == BundleDialect::V22 || list.is_in_all() && !list.is_of_certificates()
}

fn without_bookkeeping(object: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return false;
    };
    let fields = metadata.remove("managedFields");
    let annotations = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut);
    let applied = annotations.and_then(|annotations| annotations.remove(LAST_APPLIED));
    fields.is_some() || applied.is_some()
}

/// The object with its `apiVersion` and `kind`, for a reader that does not know them. Later members with these names are
/// equal.
fn with_type(json: &str, object: &Object) -> String {
    let members = json.trim_start().strip_prefix('{').unwrap_or_default();
    let is_empty = members.trim_start().starts_with('}');
    let separator = if is_empty { "" } else { "," };
    let api_version = Value::from(object.gvk.api_version());
    let kind = Value::from(&*object.gvk.kind);
    format!(r#"{{"apiVersion":{api_version},"kind":{kind}{separator}{members}"#)
}
