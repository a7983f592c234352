//! A recorded composite application, deployed through the lifecycle.

use kindsight_api::lifecycle::{AppIntent, GroupIntent};
use kindsight_model::{ContextId, DeploymentId, DigName, LifecycleState};
use kindsight_rest::GroupCommand;
use serde::Deserialize;

use crate::error::ApplicationError;
use crate::lifecycle::Deployer;

/// The newest version of the description that is read.
const VERSION: u64 = 2;

/// A composite application that was instantiated, as the demo's recording describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Application {
    version: u64,
    project: String,
    composite_app: String,
    composite_app_version: String,
    profile: String,
    dig: String,
    context_id: String,
    actions: Vec<Action>,
    apps: Vec<App>,
}

#[derive(Debug, Deserialize)]
struct Action {
    state: LifecycleState,
    time: String,
}

/// An app with its clusters, and the names of the files of its manifests.
#[derive(Debug, Deserialize)]
struct App {
    name: String,
    clusters: Vec<String>,
    manifests: Vec<String>,
}

impl Application {
    /// Reads a description.
    ///
    /// # Errors
    /// When it is not one, or of a newer version.
    pub(super) fn read(json: &str) -> Result<Self, ApplicationError> {
        let application: Self = serde_json::from_str(json)?;
        match application.version {
            VERSION => Ok(application),
            found => Err(ApplicationError::Version {
                found,
                known: VERSION,
            }),
        }
    }

    /// Its full name.
    ///
    /// # Errors
    /// When a part of it is not valid.
    pub(super) fn dig(&self) -> Result<DigName, ApplicationError> {
        Ok(DigName::new(
            &self.project,
            &self.composite_app,
            &self.composite_app_version,
            &self.dig,
        )?)
    }

    /// The id of its instance.
    ///
    /// # Errors
    /// When it is not an id.
    pub(super) fn instance(&self) -> Result<ContextId, ApplicationError> {
        Ok(self.context_id.parse()?)
    }

    /// Repeats the recorded actions, at their times. `manifest` finds a manifest's text.
    ///
    /// # Errors
    /// When an action is refused or is none of a deployment, or a manifest is missing.
    pub(super) fn deploy(
        &self,
        deployer: &Deployer,
        manifest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<(), ApplicationError> {
        let dig = self.dig()?;
        let intent = self.intent(manifest)?;
        for Action { state, time } in &self.actions {
            match state {
                LifecycleState::Created => deployer.put(&dig, intent.clone(), time)?,
                LifecycleState::Approved => deployer.act(&dig, GroupCommand::Approve, time)?,
                LifecycleState::Instantiated => {
                    deployer.act(&dig, GroupCommand::Instantiate, time)?;
                }
                other => return Err(ApplicationError::Action(*other)),
            }
        }
        Ok(())
    }

    fn intent(
        &self,
        manifest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<GroupIntent, ApplicationError> {
        let text = |file: &String| {
            let text = manifest(file).map(without_label);
            text.ok_or_else(|| ApplicationError::NoManifest(file.clone()))
        };
        let apps = self.apps.iter().map(|app| {
            Ok(AppIntent {
                name: app.name.clone(),
                clusters: app.clusters.clone(),
                any_of: Vec::new(),
                manifests: app
                    .manifests
                    .iter()
                    .map(text)
                    .collect::<Result<_, ApplicationError>>()?,
                depends_on: Vec::new(),
                resource_dependencies: Vec::new(),
            })
        });
        Ok(GroupIntent {
            profile: Some(self.profile.clone()),
            apps: apps.collect::<Result<_, ApplicationError>>()?,
            controllers: Vec::new(),
        })
    }
}

/// A recorded manifest without the label, which the recorder wrote into it and the lifecycle sets itself.
fn without_label(manifest: &str) -> String {
    let lines = manifest.lines();
    let others = lines.filter(|line| !line.contains(DeploymentId::LABEL));
    others.flat_map(|line| [line, "\n"]).collect()
}
