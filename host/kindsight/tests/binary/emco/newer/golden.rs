//! Goldens: a request, and the answer that it gets byte by byte.

use std::path::Path;

/// Text in a golden that stands for any text to the end of the line.
const ANY: char = '…';

/// One request and its answer, from a file: comments with its sources, the request, a header `Accept` if there is
/// one, status and content type, an empty line, and the body, JSON with any space between its tokens.
pub(super) struct Golden {
    name: String,
    path: String,
    accept: Option<String>,
    status: u16,
    content_type: String,
    body: String,
}

/// Every golden.
pub(super) fn all() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/binary/emco/newer");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of goldens")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "http")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are goldens");
    files.iter().map(|path| Golden::read(path)).collect()
}

impl Golden {
    fn read(path: &Path) -> Self {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(path).expect("a golden");
        let (head, body) = text.split_once("\n\n").expect("an empty line");
        let (sources, head): (Vec<&str>, Vec<&str>) =
            head.lines().partition(|line| line.starts_with('#'));
        assert!(!sources.is_empty(), "{name} names its source");
        let mut head = head.into_iter();
        let path = head.next().and_then(|line| line.strip_prefix("GET "));
        let mut line = head.next().expect("a status");
        let accept = line.strip_prefix("Accept: ").map(str::to_owned);
        if accept.is_some() {
            line = head.next().expect("a status");
        }
        let (status, content_type) = line.split_once(' ').expect("a status and a type");
        Self {
            name: name.into_owned(),
            path: path.expect("a request").to_owned(),
            accept,
            status: status.parse().expect("a status"),
            content_type: content_type.to_owned(),
            body: if content_type == "application/json" {
                compact(body) + "\n"
            } else {
                body.to_owned()
            },
        }
    }

    /// The header that selects the dialect; `None` if a parameter selects it.
    pub(super) fn accept(&self) -> Option<&str> {
        self.accept.as_deref()
    }

    /// Sends the request; returns the first difference between the answer and the golden, if any.
    pub(super) fn check(&self, url: &str, accept: Option<&str>) -> Option<String> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let mut request = agent.get(format!("{url}{}", self.path));
        if let Some(accept) = accept {
            request = request.header("Accept", accept);
        }
        let mut response = request.call().expect("an answer");
        let content_type = response.headers().get("content-type");
        let content_type = content_type.map_or("", |value| value.to_str().unwrap_or(""));
        let head = format!("{} {content_type}", response.status().as_u16());
        let body = response.body_mut().read_to_string().expect("a text");
        let expected = format!("{} {}", self.status, self.content_type);
        let is_same = match self.body.split_once(ANY) {
            Some((begin, _)) => body.starts_with(begin),
            None => body == self.body,
        };
        (head != expected || !is_same).then(|| {
            let (name, asked) = (&self.name, &self.path);
            let (right, got) = from_difference(&self.body, &body);
            format!("{name}: GET {asked}\n  expected {expected} …{right}\n  got      {head} …{got}")
        })
    }
}

/// Both texts from shortly before their first difference.
fn from_difference(left: &str, right: &str) -> (String, String) {
    let same = left.chars().zip(right.chars());
    let same = same.take_while(|(left, right)| left == right).count();
    let rest = |text: &str| {
        text.chars()
            .skip(same.saturating_sub(40))
            .take(400)
            .collect()
    };
    (rest(left), rest(right))
}

/// JSON without space between its tokens, and with the characters escaped that Go's encoder escapes.
fn compact(json: &str) -> String {
    let mut compact = String::new();
    let (mut is_in_text, mut is_escaped) = (false, false);
    for character in json.chars() {
        if !is_in_text && character.is_whitespace() {
            continue;
        }
        match character {
            '<' => compact.push_str("\\u003c"),
            '>' => compact.push_str("\\u003e"),
            '&' => compact.push_str("\\u0026"),
            _ => compact.push(character),
        }
        if character == '"' && !is_escaped {
            is_in_text = !is_in_text;
        }
        is_escaped = is_in_text && character == '\\' && !is_escaped;
    }
    compact
}
