# SPDX-License-Identifier: Apache-2.0
"""Requests as bytes, as no browser sends them: each is answered as it should be, and the run plays on."""

import base64
import json
import os
import re
import socket
import struct

import pytest

from running import TALKING


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """One run for all that is refused; each test asks whether it is well."""
    from running import Running
    one = Running(tmp_path_factory.mktemp("requests") / "run", TALKING)
    yield one
    one.end()


@pytest.fixture(autouse=True)
def well(host):
    yield
    assert host.look("status")["status"]["state"] == "running"
    assert not host.events("say") and not any("evil" in line for line in host.lines)


def is_whole(received):
    """Whether an answer has come to its end."""
    head, end, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    return end and length and len(body) >= int(length[1])


def answer(host, *pieces, seconds=15, one_is_enough=False):
    """All that comes back for these bytes until the other end closes, or says no more for so long."""
    with socket.create_connection(("127.0.0.1", host.port), timeout=seconds) as one:
        for piece in pieces:
            try:
                one.sendall(piece.encode("latin1") if isinstance(piece, str) else piece)
            except OSError:
                break
        received = b""
        try:
            while not (one_is_enough and is_whole(received)) and (data := one.recv(65536)):
                received += data
        except OSError:
            pass
        return received


def statuses(received):
    return [int(number) for number in re.findall(rb"HTTP/1\.1 (\d\d\d) ", received)]


def head(host, line, *fields, name=None):
    own = [f"Host: {name or f'127.0.0.1:{host.port}'}", *fields, "Connection: close"]
    return f"{line} HTTP/1.1\r\n" + "".join(field + "\r\n" for field in own) + "\r\n"


@pytest.mark.parametrize("name", [
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example", "127.0.0.1",
    "127.0.0.1:1", "0.0.0.0:{port}", "127.0.0.1:{port}.evil.example", "127.1:{port}", "2130706433:{port}",
    "[::ffff:127.0.0.1]:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}#evil.example", "", " "])
def test_name_that_was_bound_anew_is_not_ours(host, name):
    name = name.format(port=host.port)
    bearer = f"Authorization: Bearer {host.token}"
    for path in ("/", f"/?token={host.token}", "/api/nodes", "/voice-graph.js"):
        received = answer(host, head(host, "GET " + path, bearer, name=name or " "))
        assert statuses(received)[0] in (400, 421), (path, received[:300])
        assert b"Set-Cookie" not in received and b'"nodes"' not in received and b"class " not in received


def upgrade(host, *fields):
    key = base64.b64encode(os.urandom(16)).decode()
    return (f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{host.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n" + "".join(field + "\r\n" for field in fields) + "\r\n")


@pytest.mark.parametrize("origin", [
    "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:{port}.evil.example",
    "http://localhost.evil.example:{port}", "null", "file://", "http://127.0.0.1:{port}/", "HTTP://evil.example", "http://"])
def test_page_of_another_origin_gets_no_socket_and_no_answer(host, origin):
    fields = [f"Origin: {origin.format(port=host.port)}", f"Cookie: voicegraph-{host.port}={host.token}"]
    protocol = f"Sec-WebSocket-Protocol: voicegraph, token.{host.token}"
    for request in (upgrade(host, *fields), upgrade(host, *fields, protocol), head(host, "GET /api/nodes", *fields)):
        received = answer(host, request)
        assert statuses(received) == [403], received[:300]
        assert b"Access-Control-Allow-Origin" not in received


def test_socket_wants_the_token(host):
    for fields in ([], ["Sec-WebSocket-Protocol: voicegraph"], [f"Sec-WebSocket-Protocol: voicegraph, token.{'0' * 32}"],
                   [f"Cookie: voicegraph-{host.port}={host.token}"], [f"Cookie: token={host.token}"]):
        assert statuses(answer(host, upgrade(host, *fields), one_is_enough=True)) == [401], fields


@pytest.mark.parametrize("kind", [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json",
    "application/jsonp", "", "application/json-seq"])
def test_what_a_form_can_send_changes_nothing(host, kind):
    body = json.dumps({"text": "evil"})
    bearer = f"Authorization: Bearer {host.token}"
    for fields in ([f"Content-Type: {kind}"], [f"Content-Type: {kind}", f"Origin: http://127.0.0.1:{host.port}"]):
        received = answer(host, head(host, "POST /api/say", bearer, f"Content-Length: {len(body)}", *fields) + body)
        assert statuses(received) == [415], received[:300]


def test_changes_are_not_made_by_get(host):
    received = answer(host, head(host, "GET /api/say?text=evil", f"Authorization: Bearer {host.token}"))
    assert statuses(received) == [405] and b"Allow: POST" in received.replace(b"allow", b"Allow")


SMUGGLED = "POST /api/say HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n" \
    'Content-Length: 15\r\n\r\n{{"text":"evil"}}'


@pytest.mark.parametrize("fields", [
    "Content-Length: 4\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 4",
    "Content-Length: 0\r\nContent-Length: 150", "Content-Length: 0, 150", "Transfer-Encoding: xchunked",
    "Transfer-Encoding: chunked, identity", "Transfer-Encoding:\x0bchunked", "Transfer-Encoding : chunked",
    "Content-Length : 0", "Content-Length: -1", "Content-Length: +0", "Content-Length: 0x0", "Content-Length: 1e0",
    "X: a\r\n Content-Length: 0", "X: a\r\n\tfolded", "X: a\nContent-Length: 0", "X: a\rContent-Length: 0",
    "X: a\0b", "X\0: a", "Host: evil.example", "Content-Length: 99999999999999999999"])
def test_request_that_can_be_read_in_two_ways_is_read_in_none(host, fields):
    known = f"Host: 127.0.0.1:{host.port}\r\nAuthorization: Bearer {host.token}\r\n"
    smuggled = SMUGGLED.format(host=f"127.0.0.1:{host.port}", token=host.token)
    received = answer(host, f"POST /api/status HTTP/1.1\r\n{known}{fields}\r\n\r\n0\r\n\r\n{smuggled}")
    seen = statuses(received)
    assert len(seen) <= 1 and not any(status < 400 for status in seen), received[:400]


def test_lines_that_end_with_half_an_end_smuggle_nothing(host):
    known = f"Host: 127.0.0.1:{host.port}\nAuthorization: Bearer {host.token}\n"
    for request in (f"GET / HTTP/1.1\n{known}\n", f"GET / HTTP/1.1\r\n{known}\r\n", f"GET / HTTP/1.1\r{known}\r\r"):
        seen = statuses(answer(host, request, seconds=3))
        assert len(seen) <= 1, (request, seen)


@pytest.mark.parametrize("chunks", [
    "-1\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n", "5\r\nhelloXX0\r\n\r\n", "G\r\n",
    "\r\n", "5\nhello\n0\n\n"])
def test_chunks_that_are_none_are_refused(host, chunks):
    fields = [f"Authorization: Bearer {host.token}", "Content-Type: application/json", "Transfer-Encoding: chunked"]
    received = answer(host, head(host, "POST /api/save", *fields) + chunks, seconds=3)
    assert not any(status < 400 for status in statuses(received)), received[:300]


@pytest.mark.parametrize("path", [
    "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%252e%252e/etc/passwd", "//etc/passwd",
    "/page.js/../../etc/passwd", "/page.js%00", "/..\\..\\etc\\passwd", "/api/takes/../../etc/passwd/audio",
    "/api/takes/1%2f..%2f..%2fpasswd/audio", "/api/../../etc/passwd", "file:///etc/passwd", "/%c0%ae%c0%ae/etc/passwd",
    "/api/takes/-1/audio", "/api/takes/99999999999999999999/audio", "/;/etc/passwd", "*"])
def test_no_path_leads_to_a_file_of_the_machine(host, path):
    received = answer(host, head(host, "GET " + path, f"Authorization: Bearer {host.token}"))
    assert statuses(received) in ([400], [404], [421]), (path, received[:300])
    assert b"root:" not in received


@pytest.mark.parametrize("line", ["PUT /api/save", "DELETE /", "TRACE /", "CONNECT 127.0.0.1:22", "PATCH /api/nodes", "BREW /"])
def test_other_methods_are_refused(host, line):
    received = answer(host, head(host, line, f"Authorization: Bearer {host.token}", "X-Secret: evil"))
    assert statuses(received)[0] in (400, 405, 501), received[:300]
    assert b"X-Secret" not in received


def test_answers_carry_what_protects_the_page(host):
    for path, known in (("/", []), ("/page.js", []), ("/api/nodes", [f"Authorization: Bearer {host.token}"]), ("/api/nodes", []),
                        ("/nothing", [])):
        received = answer(host, head(host, "GET " + path, *known)).split(b"\r\n\r\n")[0].lower().decode()
        policy = re.search("content-security-policy: (.*)", received)[1]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, received
        for field in ("x-content-type-options: nosniff", "referrer-policy: no-referrer", "cross-origin-resource-policy:"):
            assert field in received, (path, received)
        assert "server:" not in received


def frame(first, payload=b"", mask=b"\1\2\3\4", length=None):
    size = len(payload) if length is None else length
    told = bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size) if size < 65536 else b"\x7f" + struct.pack(">Q", size)
    told = bytes([told[0] | (0x80 if mask else 0)]) + told[1:] + (mask or b"")
    return bytes([first]) + told + bytes(byte ^ mask[i % 4] if mask else byte for i, byte in enumerate(payload))


@pytest.mark.parametrize("what,code,frames", [
    ("a reserved bit", 1002, frame(0xC1, b"{}")), ("a reserved opcode", 1002, frame(0x83)),
    ("a continuation of nothing", 1002, frame(0x80, b"{}")), ("no mask", 1002, frame(0x81, b"{}", None)),
    ("a ping in pieces", 1002, frame(0x09, b"x")), ("a long ping", 1002, frame(0x89, b"x" * 126)),
    ("a close of one byte", 1002, frame(0x88, b"\3")), ("a close with a code of nobody", 1002, frame(0x88, b"\0\1")),
    ("a new text within another", 1002, frame(0x01, b"a") + frame(0x01, b"b")), ("no UTF-8", 1007, frame(0x81, b"\xff\xfe")),
    ("a hundred megabytes", 1009, frame(0x82, length=100 << 20)), ("a length with its highest bit", None, frame(0x82, length=1 << 63)),
    ("an endless text", 1009, frame(0x01, b"x" * 40_000) + frame(0x00, b"x" * 40_000))])
def test_socket_that_breaks_the_rules_is_closed_with_the_reason(host, what, code, frames):
    request = upgrade(host, f"Sec-WebSocket-Protocol: voicegraph, token.{host.token}").encode()
    received = answer(host, request, frames)
    assert statuses(received) == [101]
    rest = received.split(b"\r\n\r\n", 1)[1]
    told = [struct.unpack(">H", rest[at + 2:at + 4])[0] for at in range(len(rest) - 3) if rest[at] == 0x88]
    if code is None:
        assert told and told[-1] in (1002, 1009), (what, rest)
    else:
        assert told and told[-1] == code, (what, rest)


def test_messages_that_are_no_calls_are_answered_with_what_is_wrong(host):
    from live import Live
    live = Live(host)
    for text in ("", "null", "[]", "{", '{"id":1}', '{"call":5}', '{"id":{},"call":"nodes"}', '{"id":1,"call":"nothing"}', "1" * 5000,
                 '{"id":1,"call":"set","node":[],"parameter":{},"value":"x"}', "[" * 20_000, '{"id":1,"call":"get","node":"\\u0000"}',
                 '{"id":1,"call":"events","since":-1}', '{"id":1,"call":"ask","series":[1]}', '{"id":1,"call":"audio","node":"tone"}'):
        live.socket.send(text)
        while "ok" not in (read := live.take() or {}):
            pass
        assert read["ok"] is (text == '{"id":1,"call":"events","since":-1}') and (read["ok"] or read["error"]["message"]), (text, read)
    for message in (b"", b"\2", b"\2\0\0\0", b"\2\xff" + b"\0" * 6, b"\3" * 7, b"\xff" * 60_000):
        live.socket.send(message)
    assert live.call("nodes")["ok"]
    live.close()
