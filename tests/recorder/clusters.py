"""Two Kubernetes clusters on loopback: one etcd, and for each an API server, controllers, a scheduler and a fake node."""

import base64
import json
import secrets
import urllib.error
import urllib.request
from pathlib import Path

from api_server import ApiServer
from application import CLUSTERS
from pods import stages
from processes import Processes, free_ports

SETUP = Path(__file__).resolve().parent / "setup"
READY_TIMEOUT_SECONDS = 120

# A P-256 private key in DER is these bytes around a random number; Go works out the public half by itself.
EC_KEY_DER_BEFORE = bytes.fromhex("30310201010420")
EC_KEY_DER_AFTER = bytes.fromhex("a00a06082a8648ce3d030107")


def start_clusters(binaries: dict[str, Path], processes: Processes, folder: Path) -> dict[str, ApiServer]:
    """Starts everything and returns the API servers, by cluster name, once both are ready and set up."""
    etcd_port, peer_port, *secure_ports = free_ports(2 + len(CLUSTERS))
    etcd = f"http://127.0.0.1:{etcd_port}"
    _start_etcd(binaries, processes, folder, etcd, f"http://127.0.0.1:{peer_port}")
    servers = {}
    for number, (cluster, port) in enumerate(zip(CLUSTERS, secure_ports), start=1):
        servers[cluster] = _start_api_server(binaries, processes, folder / cluster, etcd, number, port)
    for number, (cluster, server) in enumerate(servers.items(), start=1):
        processes.wait_until(f"{cluster}: API server is ready", server.is_ready, READY_TIMEOUT_SECONDS)
        _set_up(cluster, server, processes)
        _start_controllers(binaries, processes, folder / cluster, number)
    return servers


def _start_etcd(binaries: dict[str, Path], processes: Processes, folder: Path, client: str, peer: str) -> None:
    processes.start(
        "etcd",
        binaries["etcd"],
        *("--data-dir", str(folder / "etcd")),
        *("--listen-client-urls", client, "--advertise-client-urls", client),
        *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"),
        # Nobody kills this etcd, and what it holds is thrown away.
        "--unsafe-no-fsync",
    )
    processes.wait_until("etcd is healthy", lambda: _is_healthy(client), READY_TIMEOUT_SECONDS)


def _is_healthy(etcd: str) -> bool:
    try:
        with urllib.request.urlopen(f"{etcd}/health", timeout=1) as response:
            return json.loads(response.read()).get("health") == "true"
    except (urllib.error.URLError, OSError):
        return False


def _start_api_server(
    binaries: dict[str, Path], processes: Processes, folder: Path, etcd: str, number: int, port: int
) -> ApiServer:
    folder.mkdir()
    token = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f'{token},admin,1,"system:masters"\n')
    (folder / "service-accounts.key").write_text(_ec_private_key_pem())
    key = str(folder / "service-accounts.key")
    processes.start(
        f"{folder.name}-kube-apiserver",
        binaries["kube-apiserver"],
        *("--etcd-servers", etcd, "--etcd-prefix", f"/{folder.name}"),
        *("--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", str(port)),
        # No endpoints for the `kubernetes` Service: a loopback address is not a valid one.
        *("--endpoint-reconciler-type", "none", "--service-cluster-ip-range", f"10.9{number}.0.0/24"),
        *("--cert-dir", str(folder), "--token-auth-file", str(folder / "tokens.csv")),
        *("--service-account-issuer", "https://kubernetes.default.svc"),
        *("--service-account-key-file", key, "--service-account-signing-key-file", key),
        *("--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount"),
    )
    server = ApiServer(port, token, folder / "apiserver.crt")
    (folder / "kubeconfig").write_text(_kubeconfig(server, token))
    return server


def _set_up(cluster: str, server: ApiServer, processes: Processes) -> None:
    """Applies what a cluster has before an application comes, and waits until its custom Kinds are served."""
    for manifest in sorted([*(SETUP / "every-cluster").glob("*.yaml"), *(SETUP / cluster).glob("*.yaml")]):
        server.apply(manifest)
    for manifest in (SETUP / "every-cluster").glob("*+CustomResourceDefinition.yaml"):
        name = manifest.stem.rsplit("+", 1)[0]
        processes.wait_until(
            f"{cluster}: {name} is established",
            lambda: _is_established(server.get("CustomResourceDefinition", name)),
            READY_TIMEOUT_SECONDS,
        )


def _is_established(definition: dict | None) -> bool:
    conditions = (definition or {}).get("status", {}).get("conditions", [])
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def _start_controllers(binaries: dict[str, Path], processes: Processes, folder: Path, number: int) -> None:
    kubeconfig = ("--kubeconfig", str(folder / "kubeconfig"))
    alone = ("--secure-port", "0", "--leader-elect=false")
    for name in ("kube-controller-manager", "kube-scheduler"):
        processes.start(f"{folder.name}-{name}", binaries[name], *kubeconfig, *alone)
    (folder / "stages.yaml").write_text(stages(folder.name))
    processes.start(
        f"{folder.name}-kwok",
        binaries["kwok"],
        *kubeconfig,
        *("--config", str(folder / "stages.yaml"), "--manage-all-nodes=true"),
        *("--node-ip", f"10.1{number}.0.1", "--cidr", f"10.24{number}.0.1/24"),
    )


def _kubeconfig(server: ApiServer, token: str) -> str:
    cluster = {"server": server.url, "certificate-authority": str(server.certificate)}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "recorded", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "recorded", "context": {"cluster": "recorded", "user": "admin"}}],
            "current-context": "recorded",
        }
    )


def _ec_private_key_pem() -> str:
    # Any number below the curve's order will do; a first byte of zero keeps it there.
    number = b"\0" + secrets.token_bytes(31)
    der = EC_KEY_DER_BEFORE + number + EC_KEY_DER_AFTER
    body = base64.encodebytes(der).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{body}-----END EC PRIVATE KEY-----\n"
