//! Installation of the definition of a Kind, on request of an operator.

use http::Method;
use serde_json::Value;

use super::failure::unexpected;
use super::link::{APPLY, Call, METADATA};
use super::manifest::escaped;
use super::status::Status;
use super::{ObjectError, ObjectSender};
use crate::kubernetes::connection::Reply;

/// The definition of a Kind.
#[derive(Debug, Clone, Copy)]
pub struct KindDefinition<'a> {
    /// The name of the `CustomResourceDefinition`.
    pub name: &'a str,
    /// The `CustomResourceDefinition`, as YAML.
    pub manifest: &'a str,
    /// The name of the field manager. A definition that has fields of this manager was installed earlier.
    pub manager: &'a str,
}

impl ObjectSender {
    /// Installs a definition, or brings an earlier installation up to date. Returns false if the cluster has a definition
    /// of another origin, which is not changed. It needs the rights to get and patch definitions.
    ///
    /// # Errors
    /// [`ObjectError`]; [`ObjectError::Refused`] also if another client creates the definition at the same time.
    pub async fn install(&self, definition: &KindDefinition<'_>) -> Result<bool, ObjectError> {
        let KindDefinition {
            name,
            manifest,
            manager,
        } = definition;
        let name = escaped(name);
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        let _lock = self.lock(&path).await;
        let present = self.link.call(&Call::get(&path, METADATA, None)).await?;
        let is_own = match present.code {
            200..300 => Some(has_manager(&present, manager)),
            404 if Status::of(&present).is_of_missing_object() => None,
            _ => return Err(unexpected(&present, &format!("read the definition {name}"))),
        };
        if is_own == Some(false) {
            return Ok(false);
        }
        // Without force, an application refuses a definition that another client has created since the check.
        let force = is_own.is_some();
        let path = format!("{path}?fieldManager={manager}&force={force}");
        let call = Call {
            method: Method::PATCH,
            path: &path,
            account: None,
            accept: METADATA,
            body: Some((APPLY, manifest.as_bytes())),
        };
        let reply = self.link.call(&call).await?;
        match reply.code {
            200..300 => Ok(true),
            _ => Err(unexpected(&reply, &format!("apply the definition {name}"))),
        }
    }
}

/// Returns whether a field manager has applied fields of an object.
fn has_manager(object: &Reply, manager: &str) -> bool {
    let object: Value = serde_json::from_slice(&object.body).unwrap_or_default();
    let managers = object.pointer("/metadata/managedFields");
    let mut managers = managers.and_then(Value::as_array).into_iter().flatten();
    managers.any(|entry| entry.get("manager").and_then(Value::as_str) == Some(manager))
}
