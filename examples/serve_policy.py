"""Serve a policy over HTTP on this machine: python serve_policy.py policy.npz 8000, which needs NumPy and no aapi.

POST {"observation": 3} is answered by {"action": 1}. Without arguments it learns a policy, serves and asks it."""

import json
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

path, port = sys.argv[1:] or (f"{tempfile.mkdtemp()}/policy.npz", 0)
if not sys.argv[1:]:  # the same as: aapi export-policy agent.aapi -o policy.npz --reader
    from aapi import AAPI, Agent
    from aapi.environments.gymnasium import RiverSwimEnv

    Agent(AAPI(), RiverSwimEnv()).learn(5_000).export(path, reader=True)
sys.path.insert(0, path.rpartition("/")[0] or ".")  # where the reader is
from policy_reader import Policy  # noqa: E402


class Answers(BaseHTTPRequestHandler):  # noqa: D101
    def do_POST(self):  # noqa: D102
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = 200, {"action": policy.act(asked["observation"])}
        except (ValueError, KeyError, TypeError) as error:
            status, answer = 400, {"error": str(error)}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    log_request = lambda *_: None  # noqa: E731


policy, server = Policy(path), ThreadingHTTPServer(("127.0.0.1", int(port)), Answers)
print(address := f"http://127.0.0.1:{server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=not sys.argv[1:]).start()
if not sys.argv[1:]:
    print(urllib.request.urlopen(address, b'{"observation": 3}').read().decode())
