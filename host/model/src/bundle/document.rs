//! The top level of a ResourceBundleState.

use kindsight_contract::{Cursor, ReadError};

use super::header::{Header, REPORT_ANNOTATION};
use super::split::{PART_LABEL, PartDocument, SplitBundle};
use super::status::Status;
use super::{Bundle, BundleError, decode, text_of};
use crate::labels::LabelledMetadata;
use crate::lenient;
use crate::object::NO_BRACE;
use crate::{DeploymentId, NameError};

/// A ResourceBundleState, by its place in a report.
#[derive(Debug, Clone)]
pub enum BundleDocument {
    /// It has the complete report.
    Whole(Box<Bundle>),
    /// It is the first of several objects.
    Split(Box<SplitBundle>),
    /// It is a further object of a report.
    Part(PartDocument),
}

/// Reads one ResourceBundleState. Called for each that a watch sends, and for each file of a folder of reports.
///
/// # Errors
/// Only errors that make the object unusable; bad items are listed in [`Report::rejected`](crate::Report::rejected).
pub fn read_bundle(bytes: &[u8]) -> Result<BundleDocument, BundleError> {
    let document = Document::read(text_of(bytes)?)?;
    if !matches!(&*document.kind, "" | "ResourceBundleState") {
        return Err(BundleError::NotABundle(
            "its `kind` is not `ResourceBundleState`".to_owned(),
        ));
    }
    let mut metadata = document.metadata()?;
    let labels = &mut metadata.labels.0;
    let deployment = labels.remove(DeploymentId::LABEL);
    if let (None, Some(report)) = (&deployment, labels.remove(PART_LABEL)) {
        let status = document.status.ok_or(BundleError::NoStatus)?;
        return Ok(BundleDocument::Part(PartDocument::of(
            label(&report)?,
            status.text,
        )));
    }
    let deployment = deployment.ok_or_else(|| BundleError::Label("it is missing".to_owned()))?;
    let deployment = label(&deployment)?;
    let status = document.status.ok_or(BundleError::NoStatus)?;
    let header = metadata.annotations.0.remove(REPORT_ANNOTATION);
    let header = header.map(|json| Header::read(&json)).transpose()?;
    Ok(match header {
        Some(header) if header.is_bound() => {
            let split = SplitBundle::of(deployment, header, status.text);
            BundleDocument::Split(Box::new(split))
        }
        header => BundleDocument::Whole(Box::new(decode(deployment, status, header)?)),
    })
}

fn label(text: &str) -> Result<DeploymentId, BundleError> {
    let read = text.parse();
    read.map_err(|error: NameError| BundleError::Label(error.to_string()))
}

/// The top level of a ResourceBundleState; other members, such as `spec`, are passed over.
#[derive(Default)]
struct Document<'d> {
    kind: String,
    metadata: Option<&'d str>,
    status: Option<Status<'d>>,
}

impl<'d> Document<'d> {
    fn read(text: &'d str) -> Result<Self, BundleError> {
        let mut cursor = Cursor::of(text);
        if cursor.first() != Some(b'{') {
            return Err(BundleError::NotABundle(NO_BRACE.to_owned()));
        }
        let mut document = Self::default();
        cursor.object(|cursor, key| {
            match key {
                "kind" => document.kind = text_at(cursor)?,
                "metadata" => document.metadata = Some(cursor.skip()?),
                "status" => document.status = Some(Status::read(cursor)?),
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        cursor.end()?;
        Ok(document)
    }

    fn metadata(&self) -> Result<LabelledMetadata, BundleError> {
        lenient::read(self.metadata.unwrap_or("null"))
            .map_err(|error| BundleError::NotABundle(format!("`metadata`: {error}")))
    }
}

/// Reads a string; anything else is empty.
fn text_at(cursor: &mut Cursor<'_>) -> Result<String, ReadError> {
    let read = cursor.tree();
    let Some((text, tree)) = read else {
        return cursor.skip().map(|_| String::new());
    };
    Ok(tree.document(text).root().text_or_empty().to_owned())
}
