//! A repository of a registry, over the API of the OCI distribution specification.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use kindsight_model::Digest;

use crate::authorization::{Authorization, encoded};
use crate::error::Error;
use crate::limits::{BLOB_TIME_MAX, MANIFEST_BYTES_MAX};
use crate::manifest::{ACCEPTED, Descriptor, Document, INDEX, Index};
use crate::reference::Version;
use crate::transport::{Answer, Request, Transport};

/// The header with which a registry says that it lists the referrers of a manifest itself.
const OCI_SUBJECT: &str = "oci-subject";
/// The header with the digest of a manifest.
const CONTENT_DIGEST: &str = "docker-content-digest";

/// A repository of a registry.
#[derive(Debug)]
pub(crate) struct Remote {
    transport: Transport,
    authorization: Authorization,
    repository: String,
}

impl Remote {
    /// A repository. Connects at the first request.
    pub(crate) fn new(
        transport: Transport,
        authorization: Authorization,
        repository: &str,
    ) -> Self {
        Self {
            transport,
            authorization,
            repository: repository.to_owned(),
        }
    }

    /// The digest of a version, or `None` if the registry does not state it without the manifest.
    pub(crate) fn head(&self, version: &Version) -> Result<Option<Digest>, Error> {
        let mut request = Request::new(Method::HEAD, self.url(&format!("manifests/{version}"))?);
        request.headers = vec![(ACCEPT, HeaderValue::from_static(ACCEPTED))];
        let answer = self.answer(&mut request, &self.named(version))?;
        let digest = answer.header(CONTENT_DIGEST);
        Ok(digest.and_then(|digest| digest.parse().ok()))
    }

    /// The document of a version. Its digest is computed from its bytes.
    pub(crate) fn document(&self, version: &Version) -> Result<Document, Error> {
        let mut request = Request::new(Method::GET, self.url(&format!("manifests/{version}"))?);
        request.headers = vec![(ACCEPT, HeaderValue::from_static(ACCEPTED))];
        request.bytes_max = (MANIFEST_BYTES_MAX, "a manifest");
        let answer = self.answer(&mut request, &self.named(version))?;
        let media_type = answer.header(CONTENT_TYPE).unwrap_or_default().to_owned();
        Ok(Document::new(&media_type, answer.body))
    }

    /// The bytes of a blob, unverified.
    pub(crate) fn blob(
        &self,
        digest: &Digest,
        bytes_max: (usize, &'static str),
    ) -> Result<Vec<u8>, Error> {
        let mut request = Request::new(Method::GET, self.url(&format!("blobs/{digest}"))?);
        request.bytes_max = bytes_max;
        request.time_max = Some(BLOB_TIME_MAX);
        let what = format!("the blob {digest} of {}", self.name());
        Ok(self.answer(&mut request, &what)?.body)
    }

    /// Stores a blob, unless the repository has it already.
    pub(crate) fn put_blob(&self, bytes: &[u8]) -> Result<(), Error> {
        let digest = Digest::of(bytes);
        let mut known = Request::new(Method::HEAD, self.url(&format!("blobs/{digest}"))?);
        if self.send(&mut known)?.status.is_success() {
            return Ok(());
        }
        let mut begin = Request::new(Method::POST, self.url("blobs/uploads/")?);
        begin.body = Some(&[]);
        let what = format!("an upload to {}", self.name());
        let begun = self.answer(&mut begin, &what)?;
        let location = begun.header(LOCATION).ok_or_else(|| Error::Protocol {
            host: self.transport.host().to_owned(),
            why: "it begins an upload without a `Location`".to_owned(),
        })?;
        let mut url = self.absolute(location)?;
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str("digest=");
        url.push_str(&encoded(digest.as_str()));
        let mut upload = Request::new(Method::PUT, url);
        let kind = HeaderValue::from_static("application/octet-stream");
        upload.headers = vec![(CONTENT_TYPE, kind)];
        upload.body = Some(bytes);
        upload.time_max = Some(BLOB_TIME_MAX);
        self.answer(&mut upload, &what)?;
        Ok(())
    }

    /// Stores a document under a version. Returns whether the registry lists it as a referrer of
    /// its subject.
    pub(crate) fn put_document(
        &self,
        version: &Version,
        document: &Document,
    ) -> Result<bool, Error> {
        let mut request = Request::new(Method::PUT, self.url(&format!("manifests/{version}"))?);
        let kind = HeaderValue::from_str(&document.media_type).map_err(|_| Error::Protocol {
            host: self.transport.host().to_owned(),
            why: "a media type has characters that no header can have".to_owned(),
        })?;
        request.headers = vec![(CONTENT_TYPE, kind)];
        request.body = Some(&document.bytes);
        let answer = self.answer(&mut request, &self.named(version))?;
        Ok(answer.header(OCI_SUBJECT).is_some())
    }

    /// The referrers of a manifest, from the list of the registry, or else from the index under
    /// the fallback tag.
    pub(crate) fn referrers(&self, of: &Digest) -> Result<Vec<Descriptor>, Error> {
        let mut request = Request::new(Method::GET, self.url(&format!("referrers/{of}"))?);
        request.headers = vec![(ACCEPT, HeaderValue::from_static(INDEX))];
        request.bytes_max = (MANIFEST_BYTES_MAX, "a list of referrers");
        let answer = self.send(&mut request)?;
        if answer.status.is_success() {
            let index = serde_json::from_slice::<Index>(&answer.body);
            let index = index.map_err(|_| Error::Protocol {
                host: self.transport.host().to_owned(),
                why: "its list of referrers is not an index".to_owned(),
            })?;
            return Ok(index.manifests);
        }
        // 404 is the answer of a registry without this part of the API. Others answer 400 or 405.
        if answer.status.is_client_error() && answer.status != StatusCode::TOO_MANY_REQUESTS {
            return Ok(self.fallback(of)?.manifests);
        }
        Err(self.refusal("its list of referrers", &answer))
    }

    /// The index under the fallback tag for referrers. Empty if there is none.
    pub(crate) fn fallback(&self, of: &Digest) -> Result<Index, Error> {
        let document = match self.document(&Version::Tag(fallback_tag(of))) {
            Err(Error::NotFound { .. }) => return Ok(Index::default()),
            document => document?,
        };
        let index = serde_json::from_slice(&document.bytes);
        index.map_err(|_| Error::Protocol {
            host: self.transport.host().to_owned(),
            why: format!(
                "the tag {} of {} is not an index",
                fallback_tag(of),
                self.name()
            ),
        })
    }

    /// Sends a request, and returns an error for a status that is not a success.
    fn answer(&self, request: &mut Request<'_>, what: &str) -> Result<Answer, Error> {
        let answer = self.send(request)?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refusal(what, &answer))
    }

    fn send(&self, request: &mut Request<'_>) -> Result<Answer, Error> {
        self.authorization.send(&self.transport, request)
    }

    fn refusal(&self, what: &str, answer: &Answer) -> Error {
        let host = self.transport.host().to_owned();
        let (status, why) = (answer.status.as_u16(), answer.reason());
        match answer.status {
            StatusCode::NOT_FOUND => Error::NotFound {
                what: what.to_owned(),
            },
            status_code
                if status_code.is_server_error()
                    || status_code == StatusCode::TOO_MANY_REQUESTS =>
            {
                Error::Failing { host, status, why }
            }
            _ => Error::Refused {
                host,
                what: what.to_owned(),
                status,
                why,
            },
        }
    }

    fn url(&self, path: &str) -> Result<String, Error> {
        let scheme = self.transport.scheme()?;
        let (host, repository) = (self.transport.host(), &self.repository);
        Ok(format!("{scheme}://{host}/v2/{repository}/{path}"))
    }

    /// The URL of a `Location`, which may be a path. A registry over HTTPS cannot lead to HTTP.
    fn absolute(&self, location: &str) -> Result<String, Error> {
        let scheme = self.transport.scheme()?;
        let host = self.transport.host();
        if location.starts_with('/') {
            return Ok(format!("{scheme}://{host}{location}"));
        }
        if location.starts_with("https://") || location.starts_with(&format!("{scheme}://")) {
            return Ok(location.to_owned());
        }
        Err(Error::Protocol {
            host: host.to_owned(),
            why: "the `Location` of an upload is neither a path nor a URL with HTTPS".to_owned(),
        })
    }

    fn name(&self) -> String {
        format!("oci://{}/{}", self.transport.host(), self.repository)
    }

    fn named(&self, version: &Version) -> String {
        match version {
            Version::Tag(tag) => format!("{}:{tag}", self.name()),
            Version::Digest(digest) => format!("{}@{digest}", self.name()),
        }
    }
}

/// The tag under which a registry without a list of referrers keeps them, by the OCI distribution
/// specification.
pub(crate) fn fallback_tag(of: &Digest) -> String {
    of.as_str().replace(':', "-")
}
