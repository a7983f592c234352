//! The paths that a server answers.

use crate::failure::Failure;
use crate::kinds::{KINDS, KindId};

/// The subject of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// `/readyz` and the similar paths.
    Health,
    Version,
    /// `/api`, or `/apis`.
    Groups {
        is_core: bool,
    },
    /// The Kinds of one version of a group.
    Resources {
        group: String,
        version: String,
    },
    /// All objects of a Kind, or the objects of a namespace.
    Collection {
        kind: KindId,
        namespace: Option<String>,
    },
    Object {
        kind: KindId,
        /// Empty for a cluster-scoped object.
        namespace: String,
        name: String,
    },
}

/// The reason why a path has no target.
#[derive(Debug)]
pub(crate) enum NoTarget {
    /// The path is of no served version. The answer is text.
    UnknownPath,
    Failure(Failure),
}

impl Target {
    /// Reads a path without the name of the cluster.
    pub(crate) fn read(path: &str) -> Result<Self, NoTarget> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, version, rest) = match &parts[..] {
            ["readyz" | "livez" | "healthz", ..] => return Ok(Self::Health),
            ["version"] => return Ok(Self::Version),
            ["api"] => return Ok(Self::Groups { is_core: true }),
            ["apis"] => return Ok(Self::Groups { is_core: false }),
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(NoTarget::UnknownPath),
        };
        if !KINDS
            .iter()
            .any(|kind| kind.group == group && kind.version == version)
        {
            return Err(NoTarget::UnknownPath);
        }
        let find = |plural: &str, is_namespaced: bool| {
            let found = KindId::find(group, version, plural);
            let found = found.filter(|found| !is_namespaced || found.kind().is_namespaced);
            found.ok_or(NoTarget::Failure(Failure::unknown_resource()))
        };
        let object = |kind, namespace: &str, name: &str| Self::Object {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        Ok(match rest {
            [] => Self::Resources {
                group: group.to_owned(),
                version: version.to_owned(),
            },
            ["namespaces", namespace, plural] => Self::Collection {
                kind: find(plural, true)?,
                namespace: Some((*namespace).to_owned()),
            },
            ["namespaces", namespace, plural, name] => object(find(plural, true)?, namespace, name),
            [plural] => Self::Collection {
                kind: find(plural, false)?,
                namespace: None,
            },
            [plural, name] => object(find(plural, false)?, "", name),
            _ => return Err(NoTarget::Failure(Failure::unknown_resource())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Content;

    #[test]
    fn paths_name_collections_and_objects() {
        let pods = KindId::of(Content::Pods);
        let read = |path| Target::read(path).ok();
        let collection = |namespace: Option<&str>| Target::Collection {
            kind: pods,
            namespace: namespace.map(str::to_owned),
        };
        assert_eq!(read("/api/v1/pods"), Some(collection(None)));
        let of_namespace = read("/api/v1/namespaces/team-0000/pods");
        assert_eq!(of_namespace, Some(collection(Some("team-0000"))));
        let system = Target::Object {
            kind: KindId::of(Content::Namespaces),
            namespace: String::new(),
            name: "kube-system".to_owned(),
        };
        assert_eq!(read("/api/v1/namespaces/kube-system"), Some(system));
        assert_eq!(read("/api/v1/nothings"), None);
        let unknown = Target::read("/apis/none/v1/nothings");
        assert!(matches!(unknown, Err(NoTarget::UnknownPath)));
    }
}
