//! Credential helpers: programs `docker-credential-NAME` that read credentials from a keychain or
//! from a cloud provider.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kindsight_model::clean;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{CredentialError, Credentials, Secret};
use crate::limits::{HELPER_BYTES_MAX, HELPER_TIME_MAX, TEXT_BYTES_MAX};

/// The user name with which a helper marks an identity token.
const TOKEN_USER: &str = "<token>";
/// The text with which a helper reports that it has no credentials for a registry.
const NOT_FOUND: &str = "credentials not found";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: Secret,
}

/// Asks a helper for the credentials of a registry. `None` if the helper has none.
pub(super) fn get(name: &str, server: &str) -> Result<Option<Credentials>, CredentialError> {
    let program = format!("docker-credential-{name}");
    let fail = |why: String| CredentialError::Helper {
        program: program.clone(),
        why,
    };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_word) {
        let why = "a helper has a name of letters, digits, `-`, `_` and `.`";
        return Err(fail(why.to_owned()));
    }
    let Output { is_success, bytes } =
        output_within(&program, server, HELPER_TIME_MAX).map_err(fail)?;
    if !is_success {
        let text = String::from_utf8_lossy(&bytes);
        if text.contains(NOT_FOUND) {
            return Ok(None);
        }
        return Err(fail(clean(text.trim(), TEXT_BYTES_MAX).into_owned()));
    }
    let answer: Answer = serde_json::from_slice(&bytes)
        .map_err(|_| fail("its output is not an object with `Username` and `Secret`".to_owned()))?;
    Ok(Some(if answer.username == TOKEN_USER {
        Credentials::Identity {
            token: answer.secret.0,
        }
    } else {
        Credentials::Basic {
            user: answer.username,
            password: answer.secret.0,
        }
    }))
}

struct Output {
    is_success: bool,
    /// The standard output, which also has the text of a failure.
    bytes: Zeroizing<Vec<u8>>,
}

/// Runs `PROGRAM get` with a limit for its time and its output.
fn output_within(program: &str, server: &str, time_max: Duration) -> Result<Output, String> {
    let mut child = Command::new(program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    let output = exchange(&mut child, server, time_max);
    if output.is_err() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(Output {
        is_success: status.success(),
        bytes: output?,
    })
}

/// Sends the name of the registry and reads the output until it ends.
fn exchange(
    child: &mut Child,
    server: &str,
    time_max: Duration,
) -> Result<Zeroizing<Vec<u8>>, String> {
    if let Some(mut stdin) = child.stdin.take() {
        // A helper that reads nothing reports its own error.
        let _ = stdin.write_all(server.as_bytes());
    }
    let stdout = child.stdout.take().ok_or("it has no output")?;
    let (sent, received) = mpsc::channel();
    // Ends with the output. If the helper leaves a process behind that keeps the output open, the
    // thread waits for that process.
    thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::new());
        let read = stdout.take(HELPER_BYTES_MAX).read_to_end(&mut bytes);
        // The receiver is gone after the time limit.
        let _ = sent.send(read.map(|_| bytes));
    });
    let output = received
        .recv_timeout(time_max)
        .map_err(|_| format!("it did not answer within {} s", time_max.as_secs()))?;
    output.map_err(|error| format!("its output cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_that_hangs_is_ended() {
        let began = std::time::Instant::now();
        let mut child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = exchange(&mut child, "registry", Duration::from_millis(50));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(output.unwrap_err().contains("did not answer within"));
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_helper_with_a_path_is_not_started() {
        let error = get("../../bin/sh", "registry").unwrap_err().to_string();
        assert!(error.contains("a helper has a name of letters"), "{error}");
    }

    #[test]
    fn a_missing_helper_is_named() {
        let error = get("no-such-helper", "registry").unwrap_err().to_string();
        assert!(
            error.starts_with("the credential helper `docker-credential-no-such-helper` failed: it cannot be started"),
            "{error}"
        );
    }
}
