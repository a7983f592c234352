//! Relations, which determine how related objects are found, and the rules that request related
//! objects.

use serde_json::Value;

use crate::json::ObjectWriter;
use crate::limits::{FIELDS_MAX, LABEL_BYTES_MAX, RELATED_MAX};
use crate::pattern::KindPattern;
use crate::pointer;
use crate::reading::{Members, Report, cut, text};

/// The relation by which a related object is found. The contract may add relations: a host refuses
/// a component with a relation that it does not know, and names the relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// The related object names the judged object in its `metadata.ownerReferences`.
    Owned,
    /// The same as [`Self::Owned`], through any number of intermediate owners.
    Descendant,
    /// The judged object names the related object in its `metadata.ownerReferences`.
    Owner,
    /// The related object's labels match the label selector, or the plain map of labels, at this JSON
    /// pointer of the judged object.
    SelectedBy(String),
    /// The related object's label with this key has the judged object's name as its value.
    Labelled(String),
    /// The value at this JSON pointer of the judged object is the related object's name. `*`
    /// matches the items of a list.
    Named(String),
}

impl Relation {
    /// The words of all relations.
    pub const WORDS: [&str; 6] = [
        "owned",
        "descendant",
        "owner",
        "selected-by",
        "labelled",
        "named",
    ];

    /// The word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Owned => "owned",
            Self::Descendant => "descendant",
            Self::Owner => "owner",
            Self::SelectedBy(_) => "selected-by",
            Self::Labelled(_) => "labelled",
            Self::Named(_) => "named",
        }
    }

    /// The JSON pointer or the label key of the relation, if it has one.
    pub fn by(&self) -> Option<&str> {
        match self {
            Self::SelectedBy(by) | Self::Labelled(by) | Self::Named(by) => Some(by),
            Self::Owned | Self::Descendant | Self::Owner => None,
        }
    }
}

/// Related objects that an interpreter needs for one of its Kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedRule {
    /// Pattern of their Kinds.
    pub pattern: KindPattern,
    /// Their relation to the judged object.
    pub relation: Relation,
    /// The requested fields, as JSON pointers.
    pub fields: Vec<String>,
    /// The maximum number of objects that are passed, 1 to 256, in order of namespace and name.
    pub limit: u32,
}

const MEMBERS: [&str; 8] = [
    "group", "version", "kind", "relation", "at", "label", "fields", "limit",
];

impl RelatedRule {
    /// Reads a rule outside of a description: an object with the members of `kinds[].related[]`.
    ///
    /// # Errors
    /// The problems, each with its place below `place`, for the author.
    pub fn parse(value: &Value, place: &str) -> Result<Self, Vec<String>> {
        let mut report = Report::default();
        match Self::read(value, place, &mut report) {
            Some(rule) if report.problems.is_empty() => Ok(rule),
            _ => Err(report.problems),
        }
    }

    /// Reads the rule at `place`, and adds its problems to the report.
    pub(crate) fn read(value: &Value, place: &str, report: &mut Report) -> Option<Self> {
        let members = Members::of(value, place, &MEMBERS, report)?;
        let pattern = pattern(&members, report);
        let relation = relation(&members, report);
        let fields = fields(&members, report);
        let limit = limit(&members, report);
        Some(Self {
            pattern: pattern?,
            relation: relation?,
            fields,
            limit: limit?,
        })
    }

    pub(crate) fn write(&self, to: &mut String) {
        let mut object = ObjectWriter::begin(to);
        write_pattern(&self.pattern, &mut object);
        object.text("relation", self.relation.as_str());
        match &self.relation {
            Relation::SelectedBy(at) | Relation::Named(at) => object.text("at", at),
            Relation::Labelled(label) => object.text("label", label),
            Relation::Owned | Relation::Descendant | Relation::Owner => {}
        }
        object.texts("fields", &self.fields);
        object.key("limit").push_str(&self.limit.to_string());
        object.end();
    }
}

/// Reads `group`, `version` and `kind`.
pub(crate) fn pattern(members: &Members<'_>, report: &mut Report) -> Option<KindPattern> {
    let group = members.text("group", report);
    let version = members.optional_text("version", report);
    let kind = members.text("kind", report);
    let pattern = KindPattern {
        group: group?.to_owned(),
        version: version.unwrap_or("*").to_owned(),
        kind: kind?.to_owned(),
    };
    for (name, what) in pattern.problems() {
        report.problem(&members.at(name), what);
    }
    Some(pattern)
}

/// Writes `group`, `version` and `kind`.
pub(crate) fn write_pattern(pattern: &KindPattern, object: &mut ObjectWriter<'_>) {
    object.text("group", &pattern.group);
    if pattern.version != "*" {
        object.text("version", &pattern.version);
    }
    object.text("kind", &pattern.kind);
}

/// Reads `fields`.
pub(crate) fn fields(members: &Members<'_>, report: &mut Report) -> Vec<String> {
    let mut fields = Vec::new();
    for (place, value) in members.list("fields", FIELDS_MAX, report) {
        let Some(field) = text(value, &place, report) else {
            continue;
        };
        if let Some(what) = pointer::problem(field) {
            report.problem(&place, &what);
        }
        fields.push(field.to_owned());
    }
    fields
}

/// Reads a pointer to a part of an object.
pub(crate) fn pointer_member(
    members: &Members<'_>,
    name: &str,
    report: &mut Report,
) -> Option<String> {
    let pointer = members.text(name, report)?;
    let place = members.at(name);
    if pointer.is_empty() {
        report.problem(
            &place,
            "the empty pointer refers to the complete object: give a field",
        );
    }
    if let Some(what) = pointer::problem(pointer) {
        report.problem(&place, &what);
    }
    Some(pointer.to_owned())
}

fn relation(members: &Members<'_>, report: &mut Report) -> Option<Relation> {
    let word = members.text("relation", report)?;
    let relation = match word {
        "owned" => Some(Relation::Owned),
        "descendant" => Some(Relation::Descendant),
        "owner" => Some(Relation::Owner),
        "selected-by" => pointer_member(members, "at", report).map(Relation::SelectedBy),
        "labelled" => label(members, report).map(Relation::Labelled),
        "named" => pointer_member(members, "at", report).map(Relation::Named),
        _ => {
            let words = Relation::WORDS.join(", ");
            let what = format!(
                "the relation `{}` is not known to this host, which knows {words}",
                cut(word)
            );
            report.problem(&members.at("relation"), &what);
            return None;
        }
    };
    for (name, owners) in [
        ("at", &["selected-by", "named"][..]),
        ("label", &["labelled"]),
    ] {
        if members.has(name) && !owners.contains(&word) {
            let owners = owners.join(" and ");
            let what = format!("belongs to the relation {owners}, not to {word}");
            report.problem(&members.at(name), &what);
        }
    }
    relation
}

fn label(members: &Members<'_>, report: &mut Report) -> Option<String> {
    let key = members.text("label", report)?;
    if !is_label_key(key) {
        let what = format!(
            "`{}` is not the key of a label: `name` or `prefix.example.com/name`",
            cut(key)
        );
        report.problem(&members.at("label"), &what);
    }
    Some(key.to_owned())
}

fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let of = |text: &str, others: &[u8]| {
        let ends = text.bytes().next().into_iter().chain(text.bytes().last());
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
            && !text.is_empty()
            && ends.into_iter().all(|byte| byte.is_ascii_alphanumeric())
    };
    key.len() <= LABEL_BYTES_MAX
        && name.len() <= 63
        && of(name, b"-_.")
        && prefix.is_none_or(|prefix| prefix.len() <= 253 && of(prefix, b"-."))
}

fn limit(members: &Members<'_>, report: &mut Report) -> Option<u32> {
    let place = members.at("limit");
    let Some(value) = members.get("limit") else {
        report.problem(&place, "is missing");
        return None;
    };
    let limit = whole(value);
    if limit.is_none() {
        let given = cut(&value.to_string());
        let what = format!("{given} is not a number from 1 to {RELATED_MAX}");
        report.problem(&place, &what);
    }
    limit
}

/// Parses a limit. A zero fraction is accepted, because JSON Schema treats such a number as whole.
fn whole(value: &Value) -> Option<u32> {
    let max = u32::try_from(RELATED_MAX).ok()?;
    let number = value.as_f64()?;
    let is_same = |limit: &u32| f64::from(*limit).total_cmp(&number).is_eq();
    (1..=max).find(is_same)
}
