//! Credentials of requests.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use zeroize::Zeroizing;

use crate::error::RequestError;
use crate::limits::CREDENTIAL_BYTES_MAX;

/// Credentials that are sent in the header `Authorization`. Their files are read at each request, so a changed file has
/// an effect on the next request. A final line break in a file does not count.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A token (RFC 6750).
    Bearer {
        /// The file with the token.
        token_file: PathBuf,
    },
    /// A name and a password (RFC 7617).
    Basic {
        /// The name. It contains no colon.
        user: String,
        /// The file with the password.
        password_file: PathBuf,
    },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bearer { .. } => "Bearer",
            Self::Basic { .. } => "Basic",
        })
    }
}

impl Credentials {
    /// The value of the header, from the present content of the file.
    pub(crate) fn header(&self) -> Result<HeaderValue, RequestError> {
        let value = match self {
            Self::Bearer { token_file } => {
                let token = secret(token_file, "token")?;
                Zeroizing::new(format!("Bearer {}", token.as_str()))
            }
            Self::Basic {
                user,
                password_file,
            } => {
                let password = secret(password_file, "password")?;
                let pair = Zeroizing::new(format!("{user}:{}", password.as_str()));
                let encoded = Zeroizing::new(BASE64_STANDARD.encode(pair.as_bytes()));
                Zeroizing::new(format!("Basic {}", encoded.as_str()))
            }
        };
        let mut header = HeaderValue::from_str(&value).map_err(|_| {
            // The error does not quote the value.
            let why = "the file with the token holds other characters than visible ASCII";
            RequestError::Credentials(why.to_owned())
        })?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// The text of a file, which is a secret. The error names no path, because users see it.
fn secret(file: &Path, what: &str) -> Result<Zeroizing<String>, RequestError> {
    let failed = |why: &dyn fmt::Display| {
        RequestError::Credentials(format!("the file with the {what} cannot be used: {why}"))
    };
    let text = read(file).map_err(|error| failed(&error.kind()))?;
    let trimmed = text.trim_end_matches(['\n', '\r']);
    if trimmed.is_empty() {
        return Err(failed(&"it is empty"));
    }
    Ok(Zeroizing::new(trimmed.to_owned()))
}

fn read(file: &Path) -> io::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    let mut limited = File::open(file)?.take(CREDENTIAL_BYTES_MAX + 1);
    let length = limited.read_to_string(&mut text)?;
    if u64::try_from(length).is_ok_and(|length| length > CREDENTIAL_BYTES_MAX) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_file_counts_at_the_next_request() {
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        let credentials = Credentials::Bearer {
            token_file: token_file.clone(),
        };
        let missing = credentials.header().unwrap_err();
        assert!(matches!(missing, RequestError::Credentials(_)), "{missing}");
        for token in ["one", "two"] {
            fs::write(&token_file, format!("{token}\n")).unwrap();
            let header = credentials.header().unwrap();
            assert_eq!(header, format!("Bearer {token}").as_str());
            assert!(header.is_sensitive());
        }
    }

    #[test]
    fn a_password_is_encoded_with_its_user() {
        let folder = tempfile::tempdir().unwrap();
        let password_file = folder.path().join("password");
        fs::write(&password_file, "open sesame").unwrap();
        let credentials = Credentials::Basic {
            user: "Aladdin".to_owned(),
            password_file,
        };
        let header = credentials.header().unwrap();
        // The example of RFC 7617.
        assert_eq!(header, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn no_text_contains_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        let credentials = Credentials::Bearer {
            token_file: token_file.clone(),
        };
        for text in ["sec\u{1}ret", "", "\n", &"secret".repeat(20_000)] {
            fs::write(&token_file, text).unwrap();
            let error = credentials.header().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("ret"), "{error}");
        }
        assert_eq!(format!("{credentials:?}"), "Bearer");
    }
}
