"""Finds the Kubernetes binaries, and builds those that are missing from the Go modules in tests/cluster.

etcd and kube-apiserver are taken from KUBEBUILDER_ASSETS when it is set, as controller-runtime's envtest does.
"""

import os
import subprocess
from pathlib import Path

MODULES = Path(__file__).resolve().parent.parent / "cluster"

# Each binary: the module that pins it, the package it is built from, and the name Go gives it.
BINARIES = {
    "etcd": ("control-plane", "go.etcd.io/etcd/server/v3", "server"),
    "kube-apiserver": ("control-plane", "k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver"),
    "kube-controller-manager": (
        "control-plane",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-controller-manager",
    ),
    "kube-scheduler": ("control-plane", "k8s.io/kubernetes/cmd/kube-scheduler", "kube-scheduler"),
    "kwok": ("nodes", "sigs.k8s.io/kwok/cmd/kwok", "kwok"),
}


def find_or_build(cache: Path) -> dict[str, Path]:
    """Returns the path of every binary; what neither KUBEBUILDER_ASSETS nor the cache has is built into the cache."""
    found = dict(_assets())
    missing: dict[str, list[str]] = {}
    for name, (module, package, built_as) in BINARIES.items():
        if name in found:
            continue
        found[name] = cache / built_as
        if not _is_current(found[name], module):
            missing.setdefault(module, []).append(package)
    for module, packages in missing.items():
        _build(module, packages, cache)
    return found


def _assets():
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    for name in BINARIES if folder else ():
        path = Path(folder) / name
        if path.is_file():
            yield name, path


def _is_current(binary: Path, module: str) -> bool:
    """A binary older than its module's go.mod may be of another version."""
    return binary.is_file() and binary.stat().st_mtime >= (MODULES / module / "go.mod").stat().st_mtime


def _build(module: str, packages: list[str], cache: Path) -> None:
    print(f"building {', '.join(packages)}: minutes the first time", flush=True)
    cache.mkdir(parents=True, exist_ok=True)
    flags = f"{os.environ.get('GOFLAGS', '')} -mod=readonly".strip()
    environment = {**os.environ, "GOBIN": str(cache), "GOFLAGS": flags}
    command = ["go", "install", "-trimpath", "-ldflags", "-s -w", *packages]
    subprocess.run(command, cwd=MODULES / module, env=environment, check=True)
    for package in packages:
        # Go leaves a file alone that is as it should be; its time must still say that it was checked.
        built_as = next(name for _, built, name in BINARIES.values() if built == package)
        os.utime(cache / built_as)
