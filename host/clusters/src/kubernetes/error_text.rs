//! Texts of errors for users: without paths of this host, and without the output of credential plugins, which may
//! contain a token.

use std::error::Error;

use kube::client::AuthError;

/// The text of an error and its causes, without the output of credential plugins. A cause that repeats the text of an
/// earlier one is left out.
pub(super) fn without_credentials(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(auth) = error.downcast_ref::<AuthError>() {
            return of_credentials(auth);
        }
        if let Some(kube::Error::Auth(auth)) = error.downcast_ref::<kube::Error>() {
            return of_credentials(auth);
        }
        let cause = error.to_string();
        if error.source().is_some() && is_layer(&cause) {
            // Its cause has the complete text.
        } else if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        next = error.source();
    }
    text
}

/// Returns whether a text names a layer of the HTTP client and nothing else.
fn is_layer(text: &str) -> bool {
    text.starts_with("client error (") || matches!(text, "tcp connect error" | "dns error")
}

/// The text of an error of credentials. The text of the error itself may contain the output of a plugin.
fn of_credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecStart(error) => {
            format!("the credential plugin cannot be started: {error}")
        }
        AuthError::AuthExecRun { out, .. } => {
            format!("the credential plugin failed ({})", out.status)
        }
        AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed => {
            "the credential plugin did not answer with an ExecCredential".to_owned()
        }
        AuthError::ReadTokenFile(error, _) => format!("the token file cannot be read: {error}"),
        _ => "the credentials of the kubeconfig cannot be used; kubectl with the same context says why"
            .to_owned(),
    }
}

/// A text without absolute paths.
pub(super) fn without_paths(text: &str) -> String {
    let is_path = |word: &&str| {
        let word = word.trim_start_matches(['"', '\'', '`', '(']);
        word.starts_with('/') && word.len() > 1
    };
    let words = text.split(' ');
    let words: Vec<&str> = words
        .map(|word| if is_path(&word) { "FILE" } else { word })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_output_of_a_credential_plugin_is_not_shown() {
        let mut plugin = Command::new("sh");
        plugin.args(["-c", "echo token-abc; echo token-def >&2; exit 3"]);
        let out = plugin.stdin(Stdio::null()).output().expect("a shell");
        let failed = AuthError::AuthExecRun {
            cmd: "plugin --secret x".to_owned(),
            out: Box::new(out),
        };
        let shown = without_credentials(&io::Error::other(kube::Error::Auth(failed)));
        assert_eq!(shown, "the credential plugin failed (exit status: 3)");
    }

    #[test]
    fn layers_of_the_client_are_not_shown() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Layer(&'static str, #[source] io::Error);
        let refused = || io::Error::other("Connection refused");
        let connect = Layer("tcp connect error", refused());
        let request = Layer("client error (Connect)", io::Error::other(connect));
        assert_eq!(without_credentials(&request), "Connection refused");
        assert_eq!(
            without_credentials(&io::Error::other("dns error")),
            "dns error"
        );
    }

    #[test]
    fn paths_of_this_host_are_not_shown() {
        let text = "failed to read '/home/me/.kube/config': no such file / directory";
        let shown = "failed to read FILE no such file / directory";
        assert_eq!(without_paths(text), shown);
    }
}
