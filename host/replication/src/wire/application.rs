//! Applications without their resources.

use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName};
use kindsight_status::{ApplicationKey, ContextView};
use serde::{Deserialize, Serialize};

use super::error::WireError;

/// An application, with its apps and their clusters in the order of answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationLine {
    /// The application, as text: the id of a context, or the name of a found application.
    pub of: Arc<str>,
    /// The name of the group or of the found application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meta: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_context: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    children: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<ContextStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Arc<str>>,
    /// Its apps.
    pub apps: Vec<AppLine>,
}

/// An app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct AppLine {
    /// Its name.
    pub name: Arc<str>,
    /// Its clusters.
    pub clusters: Vec<Arc<str>>,
}

/// An application that does not exist any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GoneLine {
    /// The application, as text.
    pub of: Arc<str>,
}

/// The application of a text on the wire.
pub(crate) fn key_of(text: &str) -> Result<ApplicationKey, WireError> {
    let invalid = || WireError::name("the application", text);
    if text.contains('/') {
        let name = text.parse().map_err(|_| invalid())?;
        return Ok(ApplicationKey::Found(name));
    }
    let id = text.parse().map_err(|_| invalid())?;
    Ok(ApplicationKey::Context(id))
}

impl ApplicationLine {
    /// The form on the wire. The line names only the clusters that `is_sent` selects.
    pub(crate) fn of(
        of: Arc<str>,
        view: &ContextView,
        is_sent: impl Fn(&ClusterName) -> bool,
    ) -> Self {
        let apps = view.apps.iter().map(|app| {
            let clusters = app.clusters().iter().map(|placement| placement.cluster());
            let clusters = clusters.filter(|cluster| is_sent(cluster));
            AppLine {
                name: Arc::clone(app.name()),
                clusters: clusters.map(|cluster| cluster.to_string().into()).collect(),
            }
        });
        Self {
            of,
            meta: view.meta.as_ref().map(DigName::to_string),
            status_context: view.status_context.as_ref().map(ContextId::to_string),
            children: view.children.iter().map(ContextId::to_string).collect(),
            status: view.status.clone(),
            faults: view.faults.clone(),
            apps: apps.collect(),
        }
    }

    /// The application without apps.
    pub(crate) fn head(&self, key: &ApplicationKey) -> Result<ContextView, WireError> {
        let id = |text: &String| {
            let id = text.parse::<ContextId>();
            id.map_err(|_| WireError::name("the context", text))
        };
        let meta = self.meta.as_ref().map(|text| {
            let name = text.parse::<DigName>();
            name.map_err(|_| WireError::name("the application", text))
        });
        Ok(ContextView {
            id: key.context().cloned(),
            meta: meta.transpose()?,
            status_context: self.status_context.as_ref().map(id).transpose()?,
            children: self.children.iter().map(id).collect::<Result<_, _>>()?,
            status: self.status.clone(),
            apps: Vec::new(),
            faults: self.faults.clone(),
        })
    }
}
