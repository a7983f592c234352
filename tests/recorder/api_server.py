"""Speaks to one Kubernetes API server: HTTPS, a bearer token, and the server's own certificate as the only CA."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from application import DEPLOYMENT_LABEL, KINDS, NAMESPACE, SETUP_KINDS, Kind

REQUEST_TIMEOUT_SECONDS = 30
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


class ApiError(Exception):
    """The server answered with an error; `code` is its HTTP status."""

    def __init__(self, code: int, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


class ApiServer:
    """One cluster's API server. The certificate file is read at the first request: the server makes it when it starts."""

    def __init__(self, port: int, token: str, certificate: Path):
        self.url = f"https://127.0.0.1:{port}"
        self.certificate = certificate
        self._token = token
        self._tls: ssl.SSLContext | None = None

    def is_ready(self) -> bool:
        """Whether the server, every post-start hook included, is up."""
        try:
            return self._request("GET", "/readyz") == b"ok"
        except (ApiError, OSError):
            return False

    def get(self, kind: str, name: str) -> dict | None:
        """The object, or None if it does not exist."""
        try:
            return json.loads(self._request("GET", _path(_kind(kind), name)))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, kind: str, deployment: str) -> list[dict]:
        """The objects that carry a deployment's label, by name.

        The items of a list come without apiVersion and kind; a bundle has them, so they are put back.
        """
        query = urllib.parse.urlencode({"labelSelector": f"{DEPLOYMENT_LABEL}={deployment}"})
        answer = json.loads(self._request("GET", f"{_path(_kind(kind))}?{query}"))
        type_meta = {"apiVersion": _kind(kind).api_version, "kind": kind}
        items = [{**item, **type_meta} for item in answer["items"]]
        return sorted(items, key=lambda item: item["metadata"]["name"])

    def apply(self, manifest: Path) -> None:
        """Sends a file as it is, by server-side apply. Its name, `<name>+<Kind>.yaml`, says where to."""
        name, kind = manifest.stem.rsplit("+", 1)
        path = f"{_path(_kind(kind), name)}?fieldManager=rsync"
        self._request("PATCH", path, manifest.read_bytes(), APPLY)

    def write_status(self, kind: str, name: str, status: dict) -> None:
        """Writes a status through the status subresource, as a controller does."""
        body = json.dumps({"status": status}).encode()
        self._request("PATCH", f"{_path(_kind(kind), name)}/status", body, MERGE)

    def delete(self, kind: str, name: str) -> None:
        """Asks for deletion; the object may stay while its finalizers run."""
        self._request("DELETE", _path(_kind(kind), name))

    def _request(self, method: str, path: str, body: bytes | None = None, content_type: str | None = None) -> bytes:
        request = urllib.request.Request(self.url + path, data=body, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        if content_type:
            request.add_header("Content-Type", content_type)
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=str(self.certificate))
            # The generated certificate is its own CA and carries no key usage that a strict check wants to see.
            self._tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_SECONDS, context=self._tls) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, f"{method} {path}: {error.read().decode(errors='replace')}") from error


def _kind(kind: str) -> Kind:
    return KINDS.get(kind) or SETUP_KINDS[kind]


def _path(kind: Kind, name: str | None = None) -> str:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    place = f"{root}/namespaces/{NAMESPACE}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    return f"{place}/{urllib.parse.quote(name)}" if name else place
