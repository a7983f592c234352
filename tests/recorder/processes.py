"""Starts processes and ends exactly those, the last one first, however the recording ends."""

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

STOP_TIMEOUT_SECONDS = 15
POLL_SECONDS = 0.2
LOG_TAIL_BYTES = 2000


class Processes:
    """A context manager: leaving it ends what was started in it. Each process logs to a file of its own."""

    def __init__(self, logs: Path):
        self._logs = logs
        self._running: list[tuple[str, subprocess.Popen]] = []

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not leave half of them running; each is given a bounded time.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        # Backwards, so that nothing loses what it depends on while it still writes.
        for _, process in reversed(self._running):
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name: str, binary: Path, *arguments: str) -> None:
        """Starts one process, out of reach of the terminal's Ctrl-C: this program alone ends it."""
        with self._log(name).open("wb") as log:
            process = subprocess.Popen(
                [str(binary), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append((name, process))

    def wait_until(self, what: str, is_so: Callable[[], bool], timeout_seconds: float) -> None:
        """Polls until it is so. Raises when time runs out or, with the end of its log, when a process has ended."""
        deadline = time.monotonic() + timeout_seconds
        while not is_so():
            for name, process in self._running:
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}:\n{self._tail(name)}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {timeout_seconds} s: {what}")
            time.sleep(POLL_SECONDS)

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def _tail(self, name: str) -> str:
        return self._log(name).read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")


def free_ports(count: int) -> list[int]:
    """Loopback ports that were free a moment ago; all are held until the last is known, so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [port.getsockname()[1] for port in held]
    for port in held:
        port.close()
    return ports
