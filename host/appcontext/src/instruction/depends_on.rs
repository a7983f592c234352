//! The dependencies of apps, in the forms of both generations.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{GO, Instruction, decode, encode, sealed};
use crate::Result;
use crate::members::Members;

const DEPENDENCY: &str = "appdependency";
const APP: &str = "app";
const STATUS: &str = "opstatus";
const WAIT: &str = "wait";

/// The dependencies of all apps of a context.
///
/// The first generation writes `{"appdependency":{"a":"go"}}`, and the later generation writes only the
/// map. A stored instruction keeps its form. A new instruction has the first form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppsDependency {
    /// The members around the map, if it has any.
    around: Option<Members>,
    apps: Members,
}

impl AppsDependency {
    /// Apps that all start at once.
    ///
    /// # Errors
    /// None that this leads to: see [`Error::Encode`](crate::Error::Encode).
    pub fn go<S: AsRef<str> + Ord>(apps: impl IntoIterator<Item = S>) -> Result<Self> {
        // Go writes maps in the order of their keys.
        let names: BTreeSet<S> = apps.into_iter().collect();
        let mut apps = Members::default();
        for name in names {
            apps.push(name.as_ref(), GO)?;
        }
        let around = Some(Members::default());
        Ok(Self { around, apps })
    }

    /// The word of an app, such as [`GO`]. `None` if it is absent or not a text.
    pub fn word(&self, app: &str) -> Option<String> {
        self.apps.get(app).ok().flatten()
    }

    /// Takes an app out. Returns whether it was in.
    pub fn remove(&mut self, app: &str) -> bool {
        !self.apps.retain(|name, _| name != app)
    }
}

impl Instruction for AppsDependency {}

impl sealed::Sealed for AppsDependency {
    fn decode(text: &str) -> Result<Self, String> {
        let members: Members = decode(text)?;
        // An app of the name `appdependency` has a text there.
        Ok(match members.get::<Members>(DEPENDENCY) {
            Ok(apps) if members.names().any(|name| name == DEPENDENCY) => Self {
                apps: apps.unwrap_or_default(),
                around: Some(members),
            },
            _ => Self {
                around: None,
                apps: members,
            },
        })
    }

    fn encode(&self) -> Result<String> {
        let Some(around) = &self.around else {
            return encode(&self.apps);
        };
        let stored = around.get::<Members>(DEPENDENCY).ok().flatten();
        let is_stored = stored.unwrap_or_default() == self.apps;
        let mut members = around.clone();
        if !is_stored || members.is_empty() {
            members.set(DEPENDENCY, &self.apps)?;
        }
        encode(&members)
    }
}

/// The apps that one app waits for, in the form of the later generation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppDependency {
    /// The apps, in their stored order.
    pub apps: Vec<DependsOn>,
}

/// An app that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DependsOn {
    /// The name of the app.
    pub app: String,
    /// The status that it must have: `Ready` or `Deployed`.
    pub status: String,
    /// The time to wait once it has that status, in seconds.
    pub wait_seconds: i64,
    stored: Members,
}

impl DependsOn {
    /// A dependency on an app that must have a status, `Ready` or `Deployed`, and the seconds to wait
    /// after that.
    pub fn new(app: impl Into<String>, status: impl Into<String>, wait_seconds: i64) -> Self {
        Self {
            app: app.into(),
            status: status.into(),
            wait_seconds,
            stored: Members::default(),
        }
    }
}

impl Serialize for DependsOn {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = self.stored.clone();
        let is_new = members.is_empty();
        let was = Self::of(members.clone()).map_err(serde::ser::Error::custom)?;
        let mut set = || -> Result<()> {
            if is_new || was.app != self.app {
                members.set(APP, &self.app)?;
            }
            if is_new || was.status != self.status {
                members.set(STATUS, &self.status)?;
            }
            if is_new || was.wait_seconds != self.wait_seconds {
                members.set(WAIT, &self.wait_seconds)?;
            }
            Ok(())
        };
        set().map_err(serde::ser::Error::custom)?;
        members.serialize(to)
    }
}

impl DependsOn {
    fn of(stored: Members) -> Result<Self, String> {
        Ok(Self {
            app: stored.get(APP)?.unwrap_or_default(),
            status: stored.get(STATUS)?.unwrap_or_default(),
            wait_seconds: stored.get(WAIT)?.unwrap_or_default(),
            stored,
        })
    }
}

impl<'de> Deserialize<'de> for DependsOn {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(Members::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl AppDependency {
    /// Takes an app out. Returns whether it was in.
    pub fn remove(&mut self, app: &str) -> bool {
        let before = self.apps.len();
        self.apps.retain(|dependency| dependency.app != app);
        self.apps.len() != before
    }
}

impl Instruction for AppDependency {}

impl sealed::Sealed for AppDependency {
    fn decode(text: &str) -> Result<Self, String> {
        let apps: Option<Vec<DependsOn>> = decode(text)?;
        Ok(Self {
            apps: apps.unwrap_or_default(),
        })
    }

    fn encode(&self) -> Result<String> {
        encode(&self.apps)
    }
}
