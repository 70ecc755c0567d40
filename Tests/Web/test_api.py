# SPDX-License-Identifier: Apache-2.0
"""The HTTP API, against its own description."""

import os
import subprocess
import sys

from running import ROOT

# `judge` listens for up to a minute, `reload` makes another graph of it, and `events` has no end.
LEFT_OUT = ["judge", "reload", "events"]


def test_every_operation_keeps_to_its_description(run):
    host = run()
    left_out = [word for name in LEFT_OUT for word in ("--exclude-path", "/api/" + name)]
    result = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", host.url + "api/openapi.json",
         "--header", "Authorization: Bearer " + host.token, "--max-examples", "15", "--seed", "7",
         "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
         "response_schema_conformance,unsupported_method",
         "--phases", "examples,coverage,fuzzing", "--request-timeout", "30", *left_out],
        cwd=host.folder, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    # It plays on.
    assert host.look("status")["status"]["state"] == "running"


def test_arguments_are_read_as_they_are_meant(run):
    host = run()
    assert host.look("get", node="quiet", parameter="gain_db")["value"] == -120
    assert host.call("set", node="quiet", parameter="gain_db", value=-90)["value"] == -90
    assert host.look("get", node="quiet", parameter="gain_db")["value"] == -90
    status, answer = host.ask("api/get?node=quite")
    assert status == 400 and "quiet" in answer["error"]["hint"], answer
    status, answer = host.ask("api/add", {"node": {"name": "x", "type": "gian"}})
    assert status == 400 and "gain" in answer["error"]["hint"], answer
    status, answer = host.ask("api/transcripts?limit=0")
    assert status == 400, answer


def test_the_same_calls_as_by_the_command(run):
    host = run()
    answer = host.command("ctl", "nodes", "--json")
    assert '"graph":"talking"' in answer.stdout, answer.stderr
    status, description = host.ask("api/openapi.json")
    names = {path.removeprefix("/api/") for path in description["paths"]}
    assert status == 200 and {"nodes", "set", "layout", "streams", "transcripts", "declared"} <= names


def test_a_graph_file_of_the_repository_is_shown(run):
    host = run(ROOT / "config/demo.conf")
    layout = host.look("layout")
    assert {node["name"] for node in layout["nodes"]} == {"tts", "meter", "orb", "speakers"}
    assert all(link["path"].startswith("M") for link in layout["links"])
