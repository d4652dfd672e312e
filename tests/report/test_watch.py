"""aapi watch: the page while runs are being written, on this machine alone."""

import http.client
import json
import socket
import struct
import threading
from contextlib import contextmanager

import processes
import pytest
from browser import plot
from commands import run
from stores import count, wait_until

from aapi.errors import InvalidInput
from aapi.experiments import Store
from aapi.report.watch import start_server

TASK = """
steps = 200_000
runs = 40
[[problems]]
name = "ergodic"
states = [4, 5]
[[algorithms]]
name = "aapi-paper"
[[algorithms]]
name = "politex"
"""
SWEEP = [*processes.AAPI, "sweep", "study.toml", "--out", "out", "--workers", "1"]


@contextmanager
def serving(folder):
    with start_server(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def ask(port, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


@pytest.mark.slow
def test_the_page_grows_while_runs_are_written(visit, tmp_path):
    (tmp_path / "study.toml").write_text(TASK)
    out = tmp_path / "out"
    out.mkdir()
    with serving(out) as port:
        page = visit(f"http://127.0.0.1:{port}", wait="#loading")
        page.wait_for_function("() => document.getElementById('loading').textContent.startsWith('Nothing is stored')")
        with processes.start(SWEEP, cwd=tmp_path) as writer:
            wait_until(lambda: count(out) > 0)
            page.wait_for_selector("#progress [data-state=running]", timeout=60_000)
            stored = r"() => Number(document.querySelector('#progress span').textContent.match(/\d+/)?.[0] ?? 0)"
            first = page.evaluate(stored)
            page.wait_for_function(f"(first) => ({stored})() > first", arg=first, timeout=60_000)
            assert plot(page, "#panels .plot").traces
            page.locator("#metric button", has_text="regret").click()  # what was chosen outlasts the news
            page.wait_for_selector("#progress [data-state=done]", timeout=100_000)
            assert writer.wait() == 0
        assert page.locator("#metric [aria-pressed=true]").inner_text() == "regret"
        assert "160 runs" in page.locator("#progress").inner_text()
        runs = page.locator("#results td[data-column=runs]").all_inner_texts()
        assert runs == ["40"] * 4
        mean = float(page.locator("#results td[data-column=mean]").first.get_attribute("data-value"))
        with Store(out, write=False) as store:
            key = store.plans()[0].candidates[0]
            rewards = [each.average_reward for each in store.runs(key, 0, 40)]
        assert mean == pytest.approx(sum(rewards) / 40, rel=1e-12)
        page.wait_for_selector("#inside", state="visible", timeout=30_000)  # looked into at the end
    page.wait_for_function("() => document.getElementById('loading').textContent.includes('does not answer any more')")
    page.seen.complaints.clear()  # the browser says that nobody answers, and rightly so


@pytest.mark.slow
def test_a_killed_run_is_said_to_have_stopped(tmp_path):
    (tmp_path / "study.toml").write_text(TASK)
    with processes.start(SWEEP, cwd=tmp_path) as writer:
        wait_until(lambda: count(tmp_path / "out") > 0)
        with serving(tmp_path / "out") as port:
            status = json.loads(ask(port, "/data")[2])["status"]
            assert (status["state"], status["needed"]) == ("running", 160)
            writer.kill()
            writer.wait()
            wait_until(lambda: json.loads(ask(port, "/data")[2])["status"]["state"] == "stopped")
            found = json.loads(ask(port, "/data")[2])["status"]
    assert found["stored"] == count(tmp_path / "out") < 160
    assert 0.0 < found["share"] < 1.0


def test_it_answers_this_machine_and_nothing_but_the_page(results):
    with serving(results) as port:
        status, headers, body = ask(port)
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert b"connect-src 'self'" in body
        assert "Access-Control-Allow-Origin" not in headers
        status, headers, body = ask(port, "/data")
        assert (status, len(json.loads(body)["rows"])) == (200, 15)
        assert ask(port, "/data", **{"If-None-Match": headers["ETag"]})[::2] == (304, b"")
        assert ask(port, Host=f"localhost:{port}")[0] == 200
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", ""):
            assert ask(port, "/data", Host=host)[0] == 403
        assert ask(port, "/data", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
        for path in ("/results.db", "/../results.db", "/report.html", "/data/", "/%2e%2e/", "/?x", "/data?x"):
            assert ask(port, path)[0] == 404
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
            assert ask(port, method=method)[0] == 501


def test_it_recomputes_nothing_while_nothing_changes(results, monkeypatch):
    calls = []
    monkeypatch.setattr("aapi.report.watch.SHARE", 1e9)  # it might at any time
    monkeypatch.setattr("aapi.report.watch.build_page_data", lambda *args: calls.append(args) or {"rows": []})
    with serving(results) as port:
        answers = {ask(port, "/data")[1]["ETag"] for _ in range(5)}
    assert (len(answers), len(calls)) == (1, 1)


def test_a_damaged_store_is_told_not_crashed_on(tmp_path):
    (tmp_path / "results.db").write_bytes(b"no database at all" * 500)
    with serving(tmp_path) as port:
        status, _, body = ask(port, "/data")
    assert status == 500
    assert b"results.db" in body


def test_the_page_tells_what_is_wrong_with_a_store(visit, tmp_path):
    (tmp_path / "results.db").write_bytes(b"no database at all" * 500)
    with serving(tmp_path) as port:
        page = visit(f"http://127.0.0.1:{port}", wait="#loading")
        page.wait_for_function("() => document.getElementById('loading').textContent.includes('results.db is damaged')")
        page.locator("#theme").click()  # with nothing to show
        page.seen.complaints = [text for text in page.seen.complaints if "500" not in text]  # which the browser tells


def test_clients_that_go_away_leave_no_trace(results, capfd):
    with serving(results) as port:
        for request in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HT"):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end
                client.sendall(request)
        assert ask(port)[0] == 200
    assert capfd.readouterr().err == ""


def test_bad_requests_get_one_line(capsys, tmp_path):
    assert run(capsys, "watch", str(tmp_path / "none"))[::2] == (
        2,
        f"aapi watch: there is no folder {tmp_path}/none: name the one that aapi reproduce or aapi sweep writes to\n",
    )
    with serving(tmp_path) as port, pytest.raises(InvalidInput, match=f"port {port} is taken: choose another"):
        start_server(tmp_path, port)
    for port in ("-1", "70000"):
        status, _, error = run(capsys, "watch", str(tmp_path), "--port", port)
        assert (status, error) == (2, f"aapi watch: --port must lie in 0..65535, not {port}\n")


def test_the_command_serves_until_it_is_told_to_stop(tmp_path):
    with processes.start([*processes.AAPI, "watch", tmp_path, "--port", "0"]) as server:
        line = server.stdout.readline()
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
        assert ask(port)[0] == 200
        processes.interrupt(server)
        assert (server.wait(), server.stderr.read()) == (0, "")
