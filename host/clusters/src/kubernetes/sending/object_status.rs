//! Application of the status of an object that another client created.

use http::Method;

use super::failure::unexpected;
use super::link::{APPLY, Call, METADATA};
use super::manifest::escaped;
use super::status::Status;
use super::{ObjectError, ObjectSender};

/// Name under which kindsight owns members of a status. Sent resources have another manager, so that an application of the
/// object does not remove its status.
const STATUS_MANAGER: &str = "kindsight-status";

/// The status of an object in a namespace.
#[derive(Debug, Clone, Copy)]
pub struct ObjectStatus<'a> {
    /// `group/version` of the Kind.
    pub api_version: &'a str,
    /// The plural of the Kind in paths.
    pub plural: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// Complete bodies of an application, as JSON. The next one is sent if the schema of the Kind does not declare a member
    /// of the previous one.
    pub forms: &'a [String],
}

impl ObjectSender {
    /// Applies a status, and takes its members over from other managers. It needs the right to patch the subresource
    /// `status` of the Kind.
    ///
    /// # Errors
    /// [`ObjectError`]; [`ObjectError::Refused`] also if the object does not exist.
    pub async fn apply_status(&self, status: &ObjectStatus<'_>) -> Result<(), ObjectError> {
        let ObjectStatus {
            api_version,
            plural,
            namespace,
            name,
            forms,
        } = status;
        let (namespace, name) = (escaped(namespace), escaped(name));
        let object = format!("/apis/{api_version}/namespaces/{namespace}/{plural}/{name}");
        let path = format!("{object}/status?fieldManager={STATUS_MANAGER}&force=true");
        let mut last = ObjectError::Refused("the status has no form".to_owned());
        for form in *forms {
            let call = Call {
                method: Method::PATCH,
                path: &path,
                account: None,
                accept: METADATA,
                body: Some((APPLY, form.as_bytes())),
            };
            let reply = self.link.call(&call).await?;
            if (200..300).contains(&reply.code) {
                return Ok(());
            }
            last = unexpected(
                &reply,
                &format!("apply the status of {plural} {namespace}/{name}"),
            );
            // The schema of the next form may have a member that this one lacks.
            if !Status::of(&reply).is_of_wrong_schema() && reply.code != 422 {
                break;
            }
        }
        Err(last)
    }
}
