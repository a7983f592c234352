//! The ResourceBundleState of an app: it asks the monitor in the cluster for reports.

use std::sync::atomic::Ordering;

use http::Method;
use kindsight_model::DeploymentId;
use serde_json::json;

use super::failure::unexpected;
use super::link::{APPLY, Call, JSON, METADATA};
use super::manifest::{Manifest, escaped};
use super::status::Status;
use super::{FIELD_MANAGER, ObjectError, ObjectSender};
use crate::kubernetes::bundle_states;

/// The version of the Kind.
const VERSION: &str = "v1alpha1";
/// The namespace of the objects: the monitor finds them there.
const NAMESPACE: &str = "default";

impl ObjectSender {
    /// Creates the ResourceBundleState of a deployment, with the rights of this process. If the cluster does not serve
    /// the Kind, or this process may not create it, creates nothing and logs this once.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn announce(&self, deployment: &DeploymentId) -> Result<(), ObjectError> {
        let Some(path) = self.bundle_state(deployment).await? else {
            self.log_omission("the cluster does not serve the Kind");
            return Ok(());
        };
        let labels = json!({DeploymentId::LABEL: deployment.to_string()});
        let state = json!({
            "apiVersion": format!("{}/{VERSION}", bundle_states::GROUP),
            "kind": bundle_states::KIND,
            "metadata": {"name": deployment.to_string(), "namespace": NAMESPACE, "labels": labels},
            "spec": {"selector": {"matchLabels": labels}},
        });
        let body = state.to_string();
        let path = format!("{path}?fieldManager={FIELD_MANAGER}&force=true");
        let call = Call {
            method: Method::PATCH,
            path: &path,
            account: None,
            accept: METADATA,
            body: Some((APPLY, body.as_bytes())),
        };
        let reply = self.link.call(&call).await?;
        match reply.code {
            200..300 => Ok(()),
            403 => {
                self.log_omission("kindsight may not create it");
                Ok(())
            }
            _ => Err(unexpected(&reply, "create the ResourceBundleState")),
        }
    }

    /// Logs once that no ResourceBundleState is created in the cluster.
    fn log_omission(&self, why: &str) {
        if !self.has_logged_omission.swap(true, Ordering::Relaxed) {
            tracing::info!(
                cluster = %self.cluster,
                why,
                "no ResourceBundleState is created in the cluster, so a monitor does not report on applications"
            );
        }
    }

    /// Deletes the ResourceBundleState of a deployment. An absent object or Kind is no error.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub async fn withdraw(&self, deployment: &DeploymentId) -> Result<(), ObjectError> {
        let Some(path) = self.bundle_state(deployment).await? else {
            return Ok(());
        };
        let call = Call {
            method: Method::DELETE,
            path: &path,
            account: None,
            accept: JSON,
            body: None,
        };
        let reply = self.link.call(&call).await?;
        match reply.code {
            // Without the right to delete it, there was no right to create it.
            200..300 | 403 => Ok(()),
            404 if Status::of(&reply).is_of_missing_object() => Ok(()),
            _ => Err(unexpected(&reply, "delete the ResourceBundleState")),
        }
    }

    /// The path of the ResourceBundleState of a deployment; none if the cluster does not serve the Kind.
    async fn bundle_state(&self, deployment: &DeploymentId) -> Result<Option<String>, ObjectError> {
        let name = deployment.to_string();
        let manifest = Manifest {
            group: bundle_states::GROUP.to_owned(),
            version: VERSION.to_owned(),
            kind: bundle_states::KIND.to_owned(),
            namespace: Some(NAMESPACE.to_owned()),
            name,
        };
        let kind = self.kinds.of(&self.link, &manifest).await?;
        Ok(kind.map(|kind| {
            let collection = crate::kubernetes::discovery::path_of(&kind, Some(NAMESPACE));
            format!("{collection}/{}", escaped(&manifest.name))
        }))
    }
}
