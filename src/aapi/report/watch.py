"""The live page: a small server, for this machine alone, that reads a store while others write to it."""

from __future__ import annotations

import errno
import json
import sqlite3
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from aapi.errors import AapiError, InvalidInput
from aapi.experiments.database import FILE
from aapi.experiments.store import Store
from aapi.experiments.summary import summarise
from aapi.report.build_page_data import build_page_data
from aapi.report.page import live_page

if TYPE_CHECKING:
    import os
    import socket

HOST = "127.0.0.1"
REFRESH = 10.0  # seconds after which the time left is computed again
SHARE = 0.1  # of a processor, at most, for reading the store: the rest is for the runs
HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
}  # fmt: skip


class LivePage:
    """The data of the page of a folder, computed again when the store has changed, and not too often."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InvalidInput(f"there is no folder {folder}: name the one that aapi reproduce or aapi sweep writes to")
        self._lock = threading.Lock()
        self._version = ""
        self._data = b""
        self._next = 0.0  # when it may be computed again

    def data(self) -> tuple[str, bytes]:
        """A version, and the data of the page as JSON: null while there is no store."""
        with self._lock:
            if time.monotonic() >= self._next or not self._data:
                start = time.monotonic()
                version, data = self._read()
                if version != self._version:
                    self._version, self._data = version, data or self._data
                self._next = time.monotonic() + (time.monotonic() - start) / SHARE
            return self._version, self._data

    def _read(self) -> tuple[str, bytes | None]:
        if not (self.folder / FILE).is_file():
            return '"empty"', b"null"
        with Store(self.folder, write=False) as store:
            running = store.is_being_written()
            version = f'"{store.version()}-{time.time() // REFRESH if running else 0:.0f}"'
            if version == self._version:
                return version, None
            shown = build_page_data(store, summarise(store, store.plans()))
            return version, json.dumps(shown, allow_nan=False).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: str | os.PathLike[str], port: int) -> None:
        self.live, self.page = LivePage(folder), live_page()
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Ignore clients that closed their connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in (HOST, "localhost") or self.headers.get("Sec-Fetch-Site") == "cross-site":
            self._answer(HTTPStatus.FORBIDDEN, b"this page is for this machine alone\n", "text/plain")
        elif self.path == "/":
            self._answer(HTTPStatus.OK, self.server.page, "text/html")
        elif self.path == "/data":
            self._answer_data()
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"there is nothing here but the page\n", "text/plain")

    def _answer_data(self) -> None:
        try:
            version, data = self.server.live.data()
        except (AapiError, OSError, sqlite3.Error) as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n".encode(), "text/plain")
            return
        if self.headers.get("If-None-Match") == version:
            self._answer(HTTPStatus.NOT_MODIFIED, b"", "application/json", version)
        else:
            self._answer(HTTPStatus.OK, data, "application/json", version)

    def _answer(self, status: HTTPStatus, body: bytes, kind: str, version: str | None = None) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if version is not None:
            self.send_header("ETag", version)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """No line for every request."""


def start_server(folder: str | os.PathLike[str], port: int) -> ThreadingHTTPServer:
    """A server for the page of a folder; call its `serve_forever`. port: 0 for any that is free."""
    try:
        return _Server(folder, port)
    except OSError as error:
        why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        advice = "choose another with --port, or any that is free with --port 0"
        raise InvalidInput(f"port {port} {why}: {advice}") from None
    except OverflowError:
        raise InvalidInput(f"--port must lie in 0..65535, not {port}") from None
