//! Objects in a request: parsing them, and assigning verdicts to them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use kindsight_api::interpret::ObjectVerdict;
use kindsight_model::{Gvk, Object, ObjectError, Verdict, host_reason};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The items of a request, in their order: each is an object, or the reason why it is not an object.
#[derive(Debug)]
pub struct Submission(Vec<Result<Object, ObjectError>>);

/// The reason why a request contains no objects to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmissionError {
    /// Not JSON at all.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// JSON, but neither an object nor an array.
    #[error("send one object, a `List`, or an array of objects")]
    NotAnObject,
    /// More objects than are judged at a time.
    #[error("{count} objects are more than the {max} that are judged at a time")]
    TooMany {
        /// Number of objects that were sent.
        count: usize,
        /// The most that are judged at a time.
        max: usize,
    },
}

/// Reads one object, a list as `kubectl get -o json` or the API server write it, or an array.
///
/// An item that is not an object does not affect other items. Items of a typed list need not name their Kind.
///
/// # Errors
/// [`SubmissionError`], if the body cannot be used.
pub fn read_submission(body: &[u8], objects_max: usize) -> Result<Submission, SubmissionError> {
    let whole: &RawValue = serde_json::from_slice(body)
        .map_err(|error| SubmissionError::NotJson(error.to_string()))?;
    let (items, default) = match whole.get().as_bytes().first() {
        Some(b'[') => (elements(whole, objects_max), None),
        Some(b'{') => list(whole, objects_max).unwrap_or_else(|| (Ok(vec![whole]), None)),
        _ => return Err(SubmissionError::NotAnObject),
    };
    let read = |item: &RawValue| match &default {
        Some(gvk) => Object::from_json_as(item.get(), gvk),
        None => Object::from_json(item.get()),
    };
    Ok(Submission(items?.into_iter().map(read).collect()))
}

type Items<'a> = Result<Vec<&'a RawValue>, SubmissionError>;

/// The items of a list, and their Kind if it is typed; `None` for any other object.
///
/// A Kind that ends with `List` is not always a list: if the object has a name, it is not a list.
fn list(raw: &RawValue, max: usize) -> Option<(Items<'_>, Option<Gvk>)> {
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(raw.get()).ok()?;
    let text = |key: &str| -> Option<String> { serde_json::from_str(members.get(key)?.get()).ok() };
    let kind = text("kind")?;
    let of = kind.strip_suffix("List")?;
    let items = members
        .get("items")
        .filter(|items| items.get().starts_with('['))?;
    if members
        .get("metadata")
        .is_some_and(|metadata| is_named(metadata))
    {
        return None;
    }
    let api_version = text("apiVersion").unwrap_or_default();
    let default = (!of.is_empty()).then(|| Gvk::from_api_version(&api_version, of).ok());
    Some((elements(items, max), default.flatten()))
}

fn is_named(metadata: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Metadata {
        name: Option<String>,
    }
    let metadata = serde_json::from_str::<Metadata>(metadata.get());
    metadata.is_ok_and(|metadata| metadata.name.is_some())
}

/// The elements of an array, if there are at most `max`. At most `max` elements are kept in memory, even if the array
/// has many small elements.
fn elements(array: &RawValue, max: usize) -> Items<'_> {
    let mut json = serde_json::Deserializer::from_str(array.get());
    let (kept, count) = json
        .deserialize_seq(Elements { max })
        .map_err(|error| SubmissionError::NotJson(error.to_string()))?;
    if count > max {
        return Err(SubmissionError::TooMany { count, max });
    }
    Ok(kept)
}

struct Elements {
    max: usize,
}

impl<'de> Visitor<'de> for Elements {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        let mut count: usize = 0;
        while kept.len() < self.max
            && let Some(element) = seq.next_element()?
        {
            kept.push(element);
            count = count.saturating_add(1);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            count = count.saturating_add(1);
        }
        Ok((kept, count))
    }
}

impl Submission {
    /// The items that are objects, in their order.
    pub fn objects(&self) -> Vec<Object> {
        self.0.iter().flatten().cloned().collect()
    }

    /// One verdict for each item, in the order of the request. `verdicts` are the verdicts on [`Submission::objects`].
    pub fn with_verdicts(self, verdicts: Vec<Verdict>) -> Vec<ObjectVerdict> {
        let mut verdicts = verdicts.into_iter();
        let items = self.0.into_iter().map(|item| match item {
            Ok(object) => {
                let verdict = verdicts.next().unwrap_or_else(no_answer);
                ObjectVerdict::new(&object, verdict)
            }
            Err(error) => ObjectVerdict::not_an_object(error.to_string()),
        });
        items.collect()
    }
}

/// The verdict on an object for which the interpreters returned no verdict.
fn no_answer() -> Verdict {
    Verdict::unknown(host_reason::NO_ANSWER, "no verdict came for this object")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 4;

    /// Kind and name of every item, or why it is none.
    fn read(body: &str) -> Vec<String> {
        let Submission(items) = read_submission(body.as_bytes(), MAX).unwrap();
        let line = |item: Result<Object, ObjectError>| match item {
            Ok(object) => format!("{} {}", object.gvk, object.name),
            Err(error) => error.to_string(),
        };
        items.into_iter().map(line).collect()
    }

    #[test]
    fn one_object_is_one_object() {
        let body = r#" {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}} "#;
        assert_eq!(read(body), ["v1 Pod a"]);
    }

    #[test]
    fn a_list_is_its_items() {
        let body = r#"{"apiVersion":"v1","kind":"List","items":[
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},
            7,
            {"apiVersion":"v1"}
        ]}"#;
        assert_eq!(
            read(body),
            [
                "v1 Pod a",
                "not a Kubernetes object: it does not start with `{`",
                "not a Kubernetes object: it has no `kind`",
            ]
        );
    }

    #[test]
    fn items_of_a_typed_list_need_no_kind() {
        let body = r#"{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},
            "items":[{"metadata":{"name":"a"}}]}"#;
        assert_eq!(read(body), ["apps/v1 Deployment a"]);
    }

    #[test]
    fn an_object_that_is_called_a_list_is_an_object() {
        let body =
            r#"{"apiVersion":"x/v1","kind":"AllowList","metadata":{"name":"a"},"items":[1]}"#;
        assert_eq!(read(body), ["x/v1 AllowList a"]);
        let body = r#"{"apiVersion":"x/v1","kind":"DenyList","spec":{}}"#;
        assert_eq!(read(body), ["x/v1 DenyList "]);
    }

    #[test]
    fn an_array_is_its_elements() {
        let body = r#"[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]"#;
        assert_eq!(read(body), ["v1 Pod a"]);
        assert_eq!(read("[]"), [""; 0]);
    }

    #[test]
    fn a_body_that_is_neither_object_nor_list_is_refused() {
        let error = |body: &str| read_submission(body.as_bytes(), MAX).unwrap_err();
        for body in ["7", "null", "\"Pod\""] {
            assert_eq!(error(body), SubmissionError::NotAnObject);
        }
        for body in ["", "{", "apiVersion: v1\nkind: Pod\n", "{} {}"] {
            assert!(matches!(error(body), SubmissionError::NotJson(_)), "{body}");
        }
        let too_many = SubmissionError::TooMany { count: 5, max: MAX };
        assert_eq!(error("[1,2,3,4,5]"), too_many);
        assert!(read_submission(b"[1,2,3,4]", MAX).is_ok());
    }

    #[test]
    fn verdicts_go_where_their_objects_were() {
        let body = br#"[1,{"kind":"A"},2,{"kind":"B"}]"#;
        let submission = read_submission(body, MAX).unwrap();
        let mut verdicts = vec![Verdict::no_report(); submission.objects().len()];
        verdicts.pop();
        let answer = submission.with_verdicts(verdicts);
        let lines: Vec<_> = answer
            .iter()
            .map(|one| format!("{} {}", one.kind, one.reason))
            .collect();
        assert_eq!(
            lines,
            [
                " NotAnObject",
                "A NoReportYet",
                " NotAnObject",
                "B NoAnswer"
            ]
        );
    }
}
