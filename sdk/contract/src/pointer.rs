//! JSON pointers (RFC 6901) in descriptions.

use crate::limits::POINTER_BYTES_MAX;
use crate::reading::cut;

/// The reason why `pointer` is not a JSON pointer, with advice, or `None` if it is one.
///
/// The empty pointer is valid and refers to the complete value.
pub fn problem(pointer: &str) -> Option<String> {
    let quoted = cut(pointer);
    if pointer.len() > POINTER_BYTES_MAX {
        return Some(format!(
            "`{quoted}…` is longer than {POINTER_BYTES_MAX} bytes"
        ));
    }
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let right = cut(&of_path(pointer));
        return Some(format!("`{quoted}` is not a JSON pointer: write {right}"));
    }
    let mut tildes = pointer.split('~').skip(1);
    if tildes.any(|rest| !rest.starts_with(['0', '1'])) {
        return Some(format!(
            "`{quoted}` is not a JSON pointer: in a key write ~ as ~0 and / as ~1"
        ));
    }
    None
}

/// The JSON pointer that is closest to a path in another notation: `.status.conditions[*].type`,
/// `status/phase`.
fn of_path(path: &str) -> String {
    let path = path.strip_prefix('$').unwrap_or(path);
    if path.contains('/') {
        return format!("/{}", path.trim_start_matches(['.', '/']));
    }
    let tokens = path
        .split(['.', '[', ']'])
        .filter(|token| !token.is_empty());
    tokens.fold(String::new(), |pointer, token| {
        pointer + "/" + &token.trim_matches(['"', '\'']).replace('~', "~0")
    })
}

/// The keys of a pointer, in order, with escapes decoded.
pub fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    let tokens = pointer.split('/').skip(1);
    tokens.map(|token| token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_follows_rfc_6901() {
        for right in [
            "",
            "/",
            "/a/b",
            "/a~1b/~0",
            "/status/conditions/*/type",
            "/ä",
        ] {
            assert_eq!(problem(right), None, "{right}");
        }
        for (wrong, expected) in [
            (
                ".status.phase",
                "`.status.phase` is not a JSON pointer: write /status/phase",
            ),
            (
                "status.phase",
                "`status.phase` is not a JSON pointer: write /status/phase",
            ),
            (
                "status/phase",
                "`status/phase` is not a JSON pointer: write /status/phase",
            ),
            (
                "$.status.conditions[*].type",
                "`$.status.conditions[*].type` is not a JSON pointer: write /status/conditions/*/type",
            ),
            (
                "/a~2",
                "`/a~2` is not a JSON pointer: in a key write ~ as ~0 and / as ~1",
            ),
            (
                "/a~",
                "`/a~` is not a JSON pointer: in a key write ~ as ~0 and / as ~1",
            ),
        ] {
            assert_eq!(problem(wrong).as_deref(), Some(expected));
        }
        assert!(problem(&format!("/{}", "x".repeat(POINTER_BYTES_MAX))).is_some());
    }

    #[test]
    fn tokens_are_keys_without_escapes() {
        let tokens: Vec<String> = tokens("/a~1b/~01/*").collect();
        assert_eq!(tokens, ["a/b", "~1", "*"]);
    }
}
