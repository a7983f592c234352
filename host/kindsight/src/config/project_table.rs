//! `[[project]]` tables of the configuration file.

use std::str::FromStr;

use kindsight_model::NamePattern;
use kindsight_server::clusters::{ProjectRights, Projects};
use serde::Deserialize;

/// One `[[project]]` of the configuration file: the rights of the projects with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectTable(NamePattern, ProjectRights);

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    /// A pattern of projects.
    name: String,
    /// Patterns of `provider+name`; all clusters where empty.
    #[serde(default)]
    clusters: Vec<String>,
    /// Patterns of namespaces; all where empty.
    #[serde(default)]
    namespaces: Vec<String>,
    /// Patterns of `Kind` or `Kind.group`; all where empty.
    #[serde(default)]
    kinds: Vec<String>,
    /// `namespace/name` of the account that requests impersonate.
    service_account: Option<String>,
}

impl FromStr for ProjectTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Table = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[project]]: {text}")
        })?;
        let invalid = |what: String| format!("[[project]] `{}`: {what}", table.name);
        table.read().map_err(invalid)
    }
}

impl Table {
    fn read(&self) -> Result<ProjectTable, String> {
        let name = self
            .name
            .parse()
            .map_err(|error| format!("`name`: {error}"))?;
        let account = self.service_account.as_deref().map(str::parse).transpose();
        let rights = ProjectRights {
            clusters: patterns("clusters", &self.clusters)?,
            namespaces: patterns("namespaces", &self.namespaces)?,
            kinds: patterns("kinds", &self.kinds)?,
            account: account.map_err(|error| format!("`service-account`: {error}"))?,
        };
        Ok(ProjectTable(name, rights))
    }
}

fn patterns(key: &str, texts: &[String]) -> Result<Vec<NamePattern>, String> {
    let patterns = texts.iter().map(|text| text.parse());
    let patterns: Result<Vec<NamePattern>, _> = patterns.collect();
    patterns.map_err(|error| format!("`{key}`: {error}"))
}

/// The rights of all tables, in their order.
pub(crate) fn projects(tables: &[ProjectTable]) -> Projects {
    let tables = tables.iter();
    let tables = tables.map(|ProjectTable(name, rights)| (name.clone(), rights.clone()));
    Projects(tables.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_rights_of_a_project() {
        let table = r#"{"name":"shop","clusters":["lab+*"],"namespaces":["shop-*"],
            "kinds":["ConfigMap","*.apps"],"service-account":"ops/shop"}"#;
        let projects = projects(&[table.parse().unwrap()]);
        let rights = projects.of("shop").unwrap();
        rights.check_cluster(&"lab+a".parse().unwrap()).unwrap();
        rights.check_namespace("shop-a").unwrap();
        rights.check_namespace("bank").unwrap_err();
        assert_eq!(rights.kinds.len(), 2);
        assert_eq!(rights.account.unwrap().to_string(), "ops/shop");
        projects.of("bank").unwrap_err();
    }

    #[test]
    fn errors_name_the_table_and_a_correction() {
        let error = |table: &str| table.parse::<ProjectTable>().unwrap_err();
        for (table, expected) in [
            (
                r#"{"name":"shop","service-account":"shop"}"#,
                "[[project]] `shop`: `service-account`: expected NAMESPACE/NAME",
            ),
            (
                r#"{"name":"shop","cluster":["a"]}"#,
                "[[project]]: unknown field `cluster`, expected one of",
            ),
            (
                r#"{"name":"shop","kinds":["a b"]}"#,
                "[[project]] `shop`: `kinds`: `a b` is not a pattern",
            ),
            (r#"{"name":"a b"}"#, "`name`: `a b` is not a pattern"),
            (r#"{}"#, "[[project]]: missing field `name`"),
        ] {
            let error = error(table);
            assert!(error.contains(expected), "{error}");
        }
    }
}
