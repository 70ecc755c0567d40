# SPDX-License-Identifier: Apache-2.0
"""Every call that there is, with arguments that are wrong; and those that take long or make another graph."""

import json

import pytest

from running import TALKING, Running, eventually


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    one = Running(tmp_path_factory.mktemp("calls") / "run", TALKING)
    yield one
    one.end()


@pytest.fixture(scope="module")
def calls(host):
    """By name: method, arguments with their schemas, and those that are required."""
    status, description = host.ask("api/openapi.json")
    assert status == 200 and description["openapi"].startswith("3.1")
    found = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if "{" in path or method not in ("get", "post"):
                continue
            if method == "get":
                given = {p["name"]: p["schema"] for p in operation.get("parameters", []) if p["in"] == "query"}
                required = {p["name"] for p in operation.get("parameters", []) if p.get("required")}
            else:
                schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                given, required = schema.get("properties", {}), set(schema.get("required", []))
            found[path.removeprefix("/api/")] = method, given, required
    assert len(found) > 20 and any(required for _, _, required in found.values())
    return found


def ask(host, method, name, arguments):
    from urllib.parse import urlencode
    if method == "post":
        return host.ask("api/" + name, arguments)
    return host.ask("api/" + name + "?" + urlencode({key: value if isinstance(value, str) else json.dumps(value)
                                                     for key, value in arguments.items()}))


def valid(schema):
    """Something that suits a schema, though it may name nothing that there is."""
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}.get(kind, "x")


def test_argument_that_nobody_knows_is_refused_by_every_call(host, calls):
    wrong = []
    for name, (method, given, required) in calls.items():
        if name == "openapi.json":
            continue
        arguments = {key: valid(given[key]) for key in required}
        status, answer = ask(host, method, name, {**arguments, "nonsense": 1})
        if status != 400 or not answer["error"]["message"]:
            wrong.append((name, status, answer))
    assert wrong == []


def test_argument_that_is_missing_is_named_by_every_call(host, calls):
    wrong = []
    for name, (method, given, required) in calls.items():
        for missing in required:
            arguments = {key: valid(given[key]) for key in required if key != missing}
            status, answer = ask(host, method, name, arguments)
            if status != 400 or missing not in json.dumps(answer["error"]):
                wrong.append((name, missing, status, answer))
    assert wrong == []


def test_argument_of_another_kind_is_refused_by_every_change(host, calls):
    wrong = []
    for name, (method, given, required) in calls.items():
        for key, schema in given.items():
            kind = schema.get("type")
            if method == "get" or kind is None:
                continue
            bad = {} if kind != "object" else 5
            status, answer = ask(host, method, name, {**{other: valid(given[other]) for other in required}, key: bad})
            if status != 400 or not answer["error"]["message"]:
                wrong.append((name, key, status, answer))
    assert wrong == []
    # Nothing of all that changed anything.
    assert {node["name"] for node in host.look("nodes")["nodes"]} == {"agent", "voice", "level", "face", "tone", "quiet", "out"}


def test_method_of_a_call_is_the_described_one_alone(host, calls):
    for name, (method, _, _) in calls.items():
        status, answer = host.ask("api/" + name, {} if method == "get" else None, method="POST" if method == "get" else "GET")
        assert status == 405, (name, status, answer)


@pytest.mark.parametrize("body,status", [
    (b"", 400), (b"{", 400), (b"[]", 400), (b"null", 400), (b'"text"', 400), (b"5", 400), (b'{"text":"a","text":"b"}', 400),
    (b'{"text":"\xff"}', 400), (b"[" * 100_000, 400), (b"{}{}", 400), (b'{"text":1e999}', 400), (b"\xef\xbb\xbf{}", 400), (b"\0", 400)])
def test_body_that_is_no_object_with_the_arguments_is_refused(host, body, status):
    import urllib.error
    import urllib.request
    request = urllib.request.Request(host.url + "api/say", body, {
        "Authorization": "Bearer " + host.token, "Content-Type": "application/json"}, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == status
    answer = json.loads(refused.value.read())
    assert answer["ok"] is False and answer["error"]["message"]


def test_inputs_are_judged_when_asked(run):
    host = run(TALKING.replace('"tone -> quiet -> out"', '"mic -> out"') + '[node.mic]\ntype = "input"\n')
    _, description = host.ask("api/openapi.json")
    method = "get" if "get" in description["paths"]["/api/judge"] else "post"
    status, answer = ask(host, method, "judge", {"seconds": 0.2})
    assert status == 200 and "unconnected" in json.dumps(answer), answer


def test_file_that_was_broken_is_refused_with_its_lines_and_the_graph_plays_on(run):
    host = run()
    path = host.folder / "graph.conf"
    good = path.read_text()
    path.write_text(good.replace('type = "gain"', 'type = "gian"'))
    status, answer = host.ask("api/reload", {})
    assert status == 400, answer
    diagnostic, = answer["error"]["diagnostics"]
    assert diagnostic["line"] == 1 + good.splitlines().index('type = "gain"') and "gain" in diagnostic["hint"], diagnostic
    assert host.look("status")["status"]["state"] == "running"
    path.write_text(good.replace("gain_db = -120", "gain_db = -20"))
    assert host.ask("api/reload", {})[0] == 200
    eventually("it is the new one", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == -20)
    # A file is read, no other is: what is asked for is not the caller's to choose.
    assert host.ask("api/reload", {"file": "other.conf"})[0] == 400
