//! Documents judged in this process, with the inputs of their interpreters.

use std::sync::Arc;

use anyhow::Context as _;
use kindsight_api::explanation::Explanation;
use kindsight_api::interpret::ObjectVerdict;
use kindsight_model::{Coverage, Object};
use kindsight_server::interpreter::{GivenInput, Interpreters, Siblings};
use kindsight_server::{Document, Group};
use serde::Serialize;
use serde_json::value::RawValue;

/// Text that is shown beside a verdict.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Show {
    /// The explanation of its words.
    pub(crate) explain: bool,
    /// The inputs.
    pub(crate) input: bool,
}

/// The verdict on one document.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    #[serde(flatten)]
    pub(crate) verdict: ObjectVerdict,
    /// With `--explain`: what the interpreter declares of the state and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explanation: Option<Explanation>,
    /// With `--show-input`: the input of each interpreter that was asked; the last gave the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<Input>,
}

/// The input of one interpreter.
#[derive(Debug, Serialize)]
pub(crate) struct Input {
    /// Name and version of the interpreter.
    pub(crate) interpreter: String,
    /// A JSON object, as it is given to the component.
    pub(crate) input: Box<RawValue>,
}

impl Input {
    fn of(given: GivenInput) -> anyhow::Result<Self> {
        let GivenInput { by, json } = given;
        let input = RawValue::from_string(json);
        Ok(Self {
            interpreter: format!("{} {}", by.name, by.version),
            input: input.with_context(|| format!("show the input of {}", by.label()))?,
        })
    }
}

/// Judges a group, whose related objects have this coverage: one verdict per document, in order.
///
/// # Errors
/// When an input cannot be shown.
pub(crate) fn judged(
    interpreters: &Interpreters,
    group: Group,
    coverage: &Coverage,
    now_ms: i64,
    show: Show,
) -> anyhow::Result<Vec<Judged>> {
    let mut objects: Vec<Object> = Vec::with_capacity(group.documents.len());
    let documents: Vec<Result<(), String>> = group
        .documents
        .into_iter()
        .map(|document| match document {
            Document::Object(object) => {
                objects.push(object);
                Ok(())
            }
            Document::Other(why) => Err(why),
        })
        .collect();
    let objects: Arc<[Object]> = objects.into();
    let siblings = if group.related {
        Siblings::of(&objects)
    } else {
        Siblings::none()
    };
    let siblings = Arc::new(siblings.covered(coverage.clone()));
    let set = interpreters.published();
    let verdicts = interpreters.judge_among(&set, &objects, &siblings, now_ms);
    let mut judged = objects.iter().zip(verdicts).map(|(object, verdict)| {
        let inputs = if show.input {
            set.inputs(object, &siblings, now_ms, &verdict)
        } else {
            Vec::new()
        };
        let inputs = inputs.into_iter().map(Input::of);
        Ok(Judged {
            explanation: (show.explain.then(|| Explanation::of(&verdict))).flatten(),
            inputs: inputs.collect::<anyhow::Result<_>>()?,
            verdict: ObjectVerdict::new(object, verdict),
        })
    });
    let lines = documents.into_iter().filter_map(|document| match document {
        Ok(()) => judged.next(),
        Err(why) => Some(Ok(Judged {
            verdict: ObjectVerdict::not_an_object(why),
            explanation: None,
            inputs: Vec::new(),
        })),
    });
    lines.collect()
}
