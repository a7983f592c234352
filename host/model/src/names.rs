//! Names, validated on construction.

mod cluster;
mod context_id;
mod deployment_id;
mod dig;
mod gvk;
mod logical_cloud;

pub use cluster::ClusterName;
pub use context_id::ContextId;
pub use deployment_id::DeploymentId;
pub use dig::DigName;
pub use gvk::Gvk;
pub use logical_cloud::LogicalCloudName;

/// Maximum length of the name of a project, an app, a cluster and so on, in bytes, from EMCO's schemas.
pub const NAME_BYTES_MAX: usize = 128;

/// The rule of [`is_name`], in words.
pub const NAME_GRAMMAR: &str =
    "1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots";

/// The rule of [`is_label_value`], in words.
pub const LABEL_VALUE_GRAMMAR: &str =
    "1 to 63 letters, digits, `-`, `_` or `.`, with a letter or digit at both ends";

/// The label with which ONAP's Kubernetes plugin marks the objects of an instance. Its value is the ID of the instance.
pub const INSTANCE_LABEL: &str = "k8splugin.io/rb-instance-id";

/// The reason why a name is invalid; the message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a name of the orchestrator.
    #[error("`{0}` is not a valid name: {NAME_GRAMMAR}")]
    NotAName(String),
    /// Not a Kubernetes label value.
    #[error("`{0}` is not the value of a label: {LABEL_VALUE_GRAMMAR}")]
    NotALabelValue(String),
    /// No `+` between provider and name.
    #[error(
        "`{0}` is not a cluster: write `provider+name` (in a URL, `provider%2Bname`), each of them {NAME_GRAMMAR}"
    )]
    NotACluster(String),
    /// Not a decimal number of 64 bits.
    #[error("`{0}` is not an AppContext id: a decimal number below 2^63")]
    NotAContextId(String),
    /// Not `<context id>-<app>`.
    #[error("`{0}` is not a deployment id: write `<context id>-<app>`")]
    NotADeploymentId(String),
    /// Not the name of an interpreter.
    #[error(
        "`{0}` is not the name of an interpreter: 1 to 63 lower-case letters, digits, `-` or `.`"
    )]
    NotAnInterpreter(String),
    /// Not a digest.
    #[error("`{0}` is not a digest: `sha256:` and 64 lower-case hex digits")]
    NotADigest(String),
    /// Not `group/version`.
    #[error("`{0}` is not an apiVersion: write `version` or `group/version`")]
    NotAnApiVersion(String),
}

/// Returns whether `value` can name a project, an app, a cluster or another entity of an orchestrator.
///
/// The rule is from EMCO's schemas; EMCO's own queries accept fewer names. A name that consists only of dots
/// is invalid, because a URL path cannot contain it. [`DigName::NONE`] is invalid, because it means the
/// absence of a name.
pub fn is_name(value: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&value.len())
        && value.bytes().all(is_inner)
        && value != DigName::NONE
        && value.bytes().any(|byte| byte != b'.')
}

/// Returns whether `value` is a non-empty Kubernetes label value.
pub fn is_label_value(value: &str) -> bool {
    let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = value.as_bytes();
    bytes.len() <= 63 && end(bytes.first()) && end(bytes.last()) && value.bytes().all(is_inner)
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_follow_the_kubernetes_rule() {
        for good in ["a", "A1", "a-b_c.d", "v1.0", &"x".repeat(63)] {
            assert!(is_label_value(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a b", "a+b", "ä", &"x".repeat(64)] {
            assert!(!is_label_value(bad), "{bad}");
        }
    }

    #[test]
    fn names_follow_the_schemas_of_the_orchestrator() {
        let longest = "x".repeat(NAME_BYTES_MAX);
        for good in ["a", "-a", "a-", "_a_", ".a", "--", "_", "v1.0", &longest] {
            assert!(is_name(good), "{good}");
        }
        let too_long = "x".repeat(NAME_BYTES_MAX + 1);
        for bad in ["", "-", ".", "..", "a b", "a+b", "a/b", "ä", &too_long] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(NAME_GRAMMAR.contains(&NAME_BYTES_MAX.to_string()));
    }
}
