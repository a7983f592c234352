//! `[[application]]` tables of the configuration file.

use std::fmt::Display;
use std::str::FromStr;

use kindsight_model::{DigName, NamePattern, is_name, parse_selector};
use kindsight_server::clusters::{ConfiguredApp, ConfiguredApplication};
use serde::Deserialize;

/// One `[[application]]` of the configuration file: an application whose apps are selected by labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApplicationTable(ConfiguredApplication);

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// `project/composite-app/version/deployment-intent-group`.
    name: String,
    /// Patterns of `provider+name`; all clusters where empty.
    #[serde(default)]
    clusters: Vec<String>,
    /// Patterns of namespaces; all where empty.
    #[serde(default)]
    namespaces: Vec<String>,
    /// The apps.
    #[serde(default)]
    app: Vec<AppTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AppTable {
    name: String,
    /// A label selector, as `kubectl` takes it.
    selector: String,
}

impl FromStr for ApplicationTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Table = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[application]]: {text}")
        })?;
        let invalid = |what: String| format!("[[application]] `{}`: {what}", table.name);
        table.read().map(Self).map_err(invalid)
    }
}

impl Table {
    fn read(&self) -> Result<ConfiguredApplication, String> {
        if self.app.is_empty() {
            return Err(
                "it has no apps: add an `[[application.app]]` with `name` and `selector` for each"
                    .to_owned(),
            );
        }
        let mut apps: Vec<ConfiguredApp> = Vec::new();
        for app in &self.app {
            let app = app.read()?;
            if apps.iter().any(|other| other.name == app.name) {
                return Err(format!(
                    "it has two apps `{}`: write both selectors as one, or give one another name",
                    app.name
                ));
            }
            apps.push(app);
        }
        Ok(ConfiguredApplication {
            name: self.dig_name()?,
            clusters: patterns("clusters", &self.clusters)?,
            namespaces: patterns("namespaces", &self.namespaces)?,
            apps,
        })
    }

    /// The name of the application. Refuses `-`, which is reserved for found applications.
    fn dig_name(&self) -> Result<DigName, String> {
        let parts: Vec<&str> = self.name.split('/').collect();
        let [project, composite_app, version, dig] = *parts.as_slice() else {
            return Err(
                "`name` is not `project/composite-app/version/deployment-intent-group`".to_owned(),
            );
        };
        if parts.contains(&DigName::NONE) {
            return Err("`-` is reserved for applications that are found by their labels; give all four parts of `name` a name".to_owned());
        }
        DigName::new(project, composite_app, version, dig)
            .map_err(|error| format!("`name`: {error}"))
    }
}

impl AppTable {
    fn read(&self) -> Result<ConfiguredApp, String> {
        let invalid = |what: &dyn Display| format!("app `{}`: {what}", self.name);
        if !is_name(&self.name) {
            let name = kindsight_model::NameError::NotAName(self.name.clone());
            return Err(invalid(&name));
        }
        let selector = parse_selector(&self.selector);
        Ok(ConfiguredApp {
            name: self.name.as_str().into(),
            selector: selector.map_err(|error| invalid(&format_args!("`selector`: {error}")))?,
        })
    }
}

fn patterns(key: &str, texts: &[String]) -> Result<Vec<NamePattern>, String> {
    let patterns = texts.iter().map(|text| text.parse());
    let patterns: Result<Vec<NamePattern>, _> = patterns.collect();
    patterns.map_err(|error| format!("`{key}`: {error}"))
}

/// The applications of all tables, in their order.
///
/// # Errors
/// Two tables have the same name; the text contains it.
pub(crate) fn applications(
    tables: &[ApplicationTable],
) -> Result<Vec<ConfiguredApplication>, String> {
    let mut applications: Vec<ConfiguredApplication> = Vec::new();
    for ApplicationTable(application) in tables {
        if applications
            .iter()
            .any(|other| other.name == application.name)
        {
            let name = &application.name;
            return Err(format!(
                "[[application]] `{name}` is there twice: write its apps in one table, or give one another name"
            ));
        }
        applications.push(application.clone());
    }
    Ok(applications)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRONT: &str = r#"{"name":"front","selector":"app=front,tier in (web)"}"#;

    fn parsed(rest: &str) -> Result<ConfiguredApplication, String> {
        let json = format!(r#"{{"name":"shop/web/v1/prod"{rest}}}"#);
        json.parse().map(|ApplicationTable(it)| it)
    }

    #[test]
    fn a_table_names_an_application_with_a_selector_for_each_app() {
        let application = parsed(&format!(
            r#","clusters":["kubeconfig+edge-*"],"namespaces":["shop","shop-*"],"app":[{FRONT}]"#
        ));
        let application = application.unwrap();
        assert_eq!(application.name.to_string(), "shop/web/v1/prod");
        assert!(application.is_in(&"kubeconfig+edge-1".parse().unwrap()));
        assert!(!application.is_in(&"kubeconfig+core".parse().unwrap()));
        let namespaces: Vec<String> = application
            .namespaces
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(namespaces, ["shop", "shop-*"]);
        let [app] = &*application.apps else {
            panic!("{application:?}");
        };
        assert_eq!(app.selector.to_string(), "app=front,tier=web");
    }

    #[test]
    fn errors_name_the_table_and_a_correction() {
        let named = |name: &str| {
            let json = format!(r#"{{"name":"{name}","app":[{FRONT}]}}"#);
            json.parse::<ApplicationTable>().unwrap_err()
        };
        for (error, expected) in [
            (
                parsed("").unwrap_err(),
                "[[application]] `shop/web/v1/prod`: it has no apps: add an `[[application.app]]`",
            ),
            (
                parsed(r#","ap":[]"#).unwrap_err(),
                "[[application]]: unknown field `ap`, expected one of `name`",
            ),
            (
                parsed(r#","app":[{"name":"a","selector":"app=a b"}]"#).unwrap_err(),
                "`shop/web/v1/prod`: app `a`: `selector`: `b` after `app`",
            ),
            (
                parsed(r#","app":[{"name":"a b","selector":"app"}]"#).unwrap_err(),
                "app `a b`: `a b` is not a valid name",
            ),
            (
                parsed(r#","app":[{"name":"a"}]"#).unwrap_err(),
                "[[application]]: missing field `selector`",
            ),
            (
                parsed(&format!(r#","app":[{FRONT},{FRONT}]"#)).unwrap_err(),
                "it has two apps `front`",
            ),
            (
                parsed(&format!(r#","clusters":["a b"],"app":[{FRONT}]"#)).unwrap_err(),
                "`clusters`: `a b` is not a pattern of names",
            ),
            (
                named("shop"),
                "`name` is not `project/composite-app/version/deployment-intent-group`",
            ),
            (named("-/web/-/prod"), "`-` is reserved"),
            (
                named("shop/web/v 1/prod"),
                "`name`: `v 1` is not a valid name",
            ),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn an_application_is_configured_once() {
        let table = |app: &str| {
            let json = format!(r#"{{"name":"shop/web/v1/prod","app":[{app}]}}"#);
            json.parse::<ApplicationTable>().unwrap()
        };
        assert_eq!(applications(&[table(FRONT)]).unwrap().len(), 1);
        let error = applications(&[table(FRONT), table(FRONT)]).unwrap_err();
        assert!(
            error.contains("`shop/web/v1/prod` is there twice"),
            "{error}"
        );
    }
}
