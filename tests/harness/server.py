"""A Jupyter server of its own: random port, private settings, nothing of the user's is read or written."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_SECONDS = 90
# a cell that asks the machine for all its threads would slow the browser beside it
KERNEL_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def private_environment(home: Path) -> dict[str, str]:
    """The environment of the server: no settings of the user, inline figures as in a real notebook."""
    places = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    # the tests draw with agg; the kernels of a notebook choose their backend themselves
    inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    return inherited | KERNEL_THREADS | {name: str(place) for name, place in places.items()}


def write_settings(home: Path) -> None:
    for plugin, settings in SETTINGS.items():
        path = home / "settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")


@dataclass
class Server:
    """A running server; `folder` is what its file browser shows."""

    folder: Path
    home: Path
    port: int = field(default_factory=free_port)
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    def start(self) -> None:
        environment = private_environment(self.home)
        write_settings(self.home)
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
        options = {
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "IdentityProvider.token": self.token,
            "ServerApp.root_dir": self.folder,
            "LabApp.expose_app_in_browser": True,
            "LabApp.news_url": "''",
        }
        command += [f"--{name}={value}" for name, value in options.items()]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"JupyterLab ended at its start:\n{self.log.read_text(errors='replace')}")
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                self.ask("GET", "status")
                return
            time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"JupyterLab did not answer in {START_SECONDS} s:\n{self.log.read_text(errors='replace')}")

    def ask(self, method: str, path: str) -> Any:
        """Speak to the REST interface of the server: `ask("GET", "sessions")`."""
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urllib.request.urlopen(request, timeout=20) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def end_sessions(self) -> None:
        """Shut every kernel down, so that the next test starts with none."""
        for session in self.ask("GET", "sessions"):
            with contextlib.suppress(urllib.error.HTTPError):
                self.ask("DELETE", f"sessions/{session['id']}")
        for kernel in self.ask("GET", "kernels"):
            with contextlib.suppress(urllib.error.HTTPError):
                self.ask("DELETE", f"kernels/{kernel['id']}")

    def clear_folder(self) -> None:
        """Take away what a test has written beside its notebooks."""
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
