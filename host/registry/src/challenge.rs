//! The header `WWW-Authenticate`: the methods of authentication that a registry accepts.

/// A way to authenticate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// With name and password at each request.
    Basic,
    /// With a token of a token server.
    Bearer {
        /// URL of the token server.
        realm: String,
        service: Option<String>,
        scope: Option<String>,
    },
}

impl Challenge {
    /// Parses one value of the header (RFC 9110, section 11.6.1). `None` for other schemes.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let header = header.trim();
        let (scheme, parameters) = header.split_once(' ').unwrap_or((header, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service, mut scope) = (None, None, None);
        let mut rest = parameters;
        while let Some((name, value, next)) = parameter(rest) {
            match name.to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                "scope" => scope = Some(value),
                _ => {}
            }
            rest = next;
        }
        Some(Self::Bearer {
            realm: realm?,
            service,
            scope,
        })
    }
}

/// The first parameter of a list, and the rest of the list.
fn parameter(list: &str) -> Option<(&str, String, &str)> {
    let list = list.trim_start_matches([' ', ',', '\t']);
    let (name, rest) = list.split_once('=')?;
    let Some(quoted) = rest.strip_prefix('"') else {
        let (value, rest) = rest.split_once(',').unwrap_or((rest, ""));
        return Some((name.trim(), value.trim().to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name.trim(), value, quoted.get(at + 1..)?)),
            '\\' => value.push(letters.next()?.1),
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_bearer_challenge_are_read() {
        let header = r#"Bearer realm="https://auth.io/token",service="a \"b\"", scope="repository:r:pull,push",error=x"#;
        let expected = Challenge::Bearer {
            realm: "https://auth.io/token".to_owned(),
            service: Some("a \"b\"".to_owned()),
            scope: Some("repository:r:pull,push".to_owned()),
        };
        assert_eq!(Challenge::parse(header), Some(expected));
    }

    #[test]
    fn other_headers_are_no_bearer_challenge() {
        assert_eq!(
            Challenge::parse(r#"basic realm="Registry""#),
            Some(Challenge::Basic)
        );
        for header in ["", "Digest a=b", "Bearer", r#"Bearer realm="open"#] {
            assert_eq!(Challenge::parse(header), None, "{header}");
        }
    }
}
