# SPDX-License-Identifier: Apache-2.0
#
# A chat-completions endpoint that does what real ones do wrong: endpoint.py FOLDER [CERTIFICATE KEY]
# Prints its port, and writes each request as a line of JSON to FOLDER/requests. The first part of the path says what it
# does, or `told`: then the file FOLDER/mode does. It ends with its standard input.
import json
import os
import socket
import ssl
import sys
import threading
import time

folder = sys.argv[1]
context = None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
lock = threading.Lock()
counts = {}


def piece(text=None, reason=None, **more):
    delta = dict(more)
    if text is not None:
        delta["content"] = text
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


class Answer:
    def __init__(self, connection):
        self.connection = connection

    def head(self, status="200 OK", headers=(), kind="text/event-stream"):
        lines = ["HTTP/1.1 " + status, "Content-Type: " + kind, "Connection: close"]
        self.raw("\r\n".join(lines + list(headers)) + "\r\n\r\n")

    def chunked(self, headers=()):
        self.head(headers=list(headers) + ["Transfer-Encoding: chunked"])

    def raw(self, text):
        self.connection.sendall(text if isinstance(text, bytes) else text.encode())

    def chunk(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.raw(b"%x\r\n" % len(data) + data + b"\r\n")

    def event(self, data):
        self.chunk("data: " + data + "\n\n")

    def stream(self, *texts):
        self.chunked()
        self.event(piece("", role="assistant"))
        for text in texts:
            self.event(piece(text))
        self.event(piece(reason="stop"))
        self.event("[DONE]")
        self.raw("0\r\n\r\n")

    def whole(self, status, value, headers=()):
        body = json.dumps(value)
        self.head(status, list(headers) + ["Content-Length: %d" % len(body)], "application/json")
        self.raw(body)


def call(index, name, arguments, identity):
    return {"index": index, "id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(body):
    """What the user said last."""
    return next((m["content"] for m in reversed(body["messages"]) if m["role"] == "user"), "")


def tools(answer, body, rounds):
    results = [m for m in body["messages"] if m["role"] == "tool"]
    if len(results) >= rounds:
        answer.stream("Done: " + "; ".join(m["content"] for m in results) + ".")
        return
    name, _, arguments = asked(body).partition(" ")
    answer.chunked()
    # In pieces, as real ones do.
    answer.event(piece(tool_calls=[call(0, name, "", "call_%d" % len(results))]))
    half = len(arguments) // 2
    for part in (arguments[:half], arguments[half:]):
        answer.event(piece(tool_calls=[{"index": 0, "function": {"arguments": part}}]))
    answer.event(piece(reason="tool_calls"))
    answer.event("[DONE]")
    answer.raw("0\r\n\r\n")


def form(name):
    """The same answer in what the standard of server-sent events allows, or in what endpoints make of it."""
    say = ("Hello ", "there. How ", "are you?")
    done = "data: [DONE]\n\n"
    plain = "".join("data: " + piece(text) + "\n\n" for text in say) + done
    empty = "".join("data: " + piece(text, reason="") + "\n\n" for text in say)
    split = "".join('data: {"choices": [{"index": 0,\ndata: "delta": {"content": ' + json.dumps(text) + "}}]}\n\n"
                    for text in say)
    return {
        "cr": plain.replace("\n", "\r"), "mark": "\ufeff" + plain, "comments": ": wait\n\n:\n\n" + plain,
        "fields": "event: message\nid: 1\nretry: 5\n" + plain, "unknown": "foo: bar\nx-trace_1: 2\n\n" + plain,
        "bare": "event\n\ndata\n\n" + plain, "split": split + done, "tight": plain.replace("data: ", "data:"),
        "ping": "event: ping\ndata: {\"type\": \"ping\"}\n\n" + plain, "lines": plain.replace("\n\n", "\n"),
        "unfinished": empty + "data: " + piece(reason="stop") + "\n\n",
        "halves": plain.replace("Hello ", "Hello \\ufffd").replace("are you?", "\\ufffdare you?"),
        "null": empty.replace('""', '"null"') + done, "open": plain[: -len("\n\n")],
    }[name]


def serve(answer, mode, body, count, authorization):
    say = ("Hello ", "there. How ", "are you?")
    if mode == "good":
        answer.stream(*say)
    elif mode == "plain":
        answer.whole("200 OK", {"choices": [{"message": {"content": "All at once."}, "finish_reason": "stop"}]})
    elif mode == "crlf":
        answer.chunked()
        answer.chunk(": wait\r\n\r\n")
        text = "data: " + piece("Gr\u00fc\u00dfe.") + "\r\n\r\ndata: [DONE]\r\n\r\n"
        for byte in text.encode():
            answer.chunk(bytes([byte]))
        answer.raw("0\r\n\r\n")
    elif mode == "busy":
        if count % 3 < 2:
            answer.whole("429 Too Many Requests", {"error": {"message": "slow down"}}, ["Retry-After: 0"])
        else:
            answer.stream(*say)
    elif mode == "broken":
        answer.whole("500 Internal Server Error", {"error": {"message": "it hurts"}})
    elif mode == "once":
        if count % 2 == 0:
            answer.whole("503 Service Unavailable", {})
        else:
            answer.stream(*say)
    elif mode == "denied":
        answer.whole("401 Unauthorized", {"error": {"message": "wrong key " + authorization}})
    elif mode == "bad":
        answer.whole("400 Bad Request", {"error": {"message": "no such field"}})
    elif mode == "elsewhere":
        answer.head("302 Found", ["Location: /good/v1/chat/completions", "Content-Length: 0"])
    elif mode == "around":
        answer.head("307 Temporary Redirect", ["Location: /around/v1/chat/completions", "Content-Length: 0"])
    elif mode == "away":
        target = "http://127.0.0.1:%d/good/v1/chat/completions" % listener.getsockname()[1]
        answer.head("302 Found", ["Location: " + target, "Content-Length: 0"])
    elif mode == "pieces":
        # What the user says is a list of pieces: texts, or deltas.
        answer.chunked()
        for text in json.loads(asked(body)):
            answer.event(piece(**text) if isinstance(text, dict) else piece(text))
        answer.event(piece(reason="stop"))
        answer.raw("0\r\n\r\n")
    elif mode == "waits":
        # What the user says, and no more.
        answer.chunked()
        text = asked(body)
        answer.event(piece(text if text[-1] == "\u3002" else text + " "))
        time.sleep(600)
    elif mode == "refuse":
        # What the user says is the body.
        text = asked(body).encode()
        answer.head("404 Not Found", ["Content-Length: %d" % len(text)], "text/plain")
        answer.raw(text)
    elif mode == "speechless":
        if any(m["role"] == "tool" for m in body["messages"]):
            answer.stream("")
        else:
            tools(answer, body, 1)
    elif mode == "nameless":
        if any(m["role"] == "tool" for m in body["messages"]):
            tools(answer, body, 1)
        else:
            name, _, arguments = asked(body).partition(" ")
            answer.chunked()
            answer.event(piece(tool_calls=[{"index": 0, "function": {"name": name, "arguments": arguments}}]))
            answer.event(piece(reason="tool_calls"))
            answer.raw("0\r\n\r\n")
    elif mode == "hang":
        time.sleep(600)
    elif mode == "silent":
        answer.chunked()
        time.sleep(600)
    elif mode == "comments":
        answer.chunked()
        while True:
            answer.chunk(": still here\n\n")
            time.sleep(0.05)
    elif mode == "stall":
        answer.chunked()
        answer.event(piece("One sentence. And "))
        time.sleep(600)
    elif mode == "cut":
        answer.chunked()
        answer.event(piece("One sentence. And half of "))
    elif mode == "short":
        answer.chunked()
        answer.event(piece("One sentence. And half of "))
        answer.raw("0\r\n\r\n")
    elif mode == "garbage":
        answer.chunked()
        # What begins with a brace is taken for an object.
        answer.chunk(b"x" + os.urandom(20000))
        answer.raw("0\r\n\r\n")
    elif mode == "json":
        answer.chunked()
        answer.event("{\"choices\": [")
        answer.raw("0\r\n\r\n")
    elif mode == "page":
        answer.head("200 OK", kind="text/html")
        answer.raw("<html><body>Welcome</body></html>")
    elif mode == "nothttp":
        answer.raw("220 mail.example ready\r\n" * 10)
    elif mode == "nothing":
        pass
    elif mode == "inner":
        answer.chunked()
        answer.event(json.dumps({"error": {"message": "overloaded " + authorization}}))
        answer.raw("0\r\n\r\n")
    elif mode == "endless":
        answer.chunked()
        while True:
            answer.event(piece("word " * 200))
    elif mode == "line":
        answer.chunked()
        while True:
            answer.chunk("data: " + "x" * 65536)
    elif mode == "huge":
        answer.head("200 OK", ["Content-Length: 104857600"])
        for _ in range(1600):
            answer.raw(": " + "x" * 65533 + "\n")
    elif mode == "slow":
        answer.chunked()
        for text in ("Slow", "ly.", " But", " sure", "ly", "."):
            answer.event(piece(text))
            time.sleep(0.1)
        answer.event("[DONE]")
        answer.raw("0\r\n\r\n")
    elif mode == "long":
        answer.stream("The weather will be fine today, ", "and tomorrow. The day after ", "that it will rain in all parts ",
                      "of the country but one. There ", "the sun will shine from the ", "morning until late at night.")
    elif mode == "step":
        # Each further piece when the test makes a file.
        answer.chunked()
        answer.event(piece("First sentence. Second "))
        while not os.path.exists(os.path.join(folder, "go")):
            time.sleep(0.01)
        answer.event(piece("sentence. Third."))
        answer.event("[DONE]")
        answer.raw("0\r\n\r\n")
    elif mode.startswith("form-"):
        answer.chunked()
        # A piece at a time, of which some end in the middle of a line.
        text = form(mode[5:]).encode()
        for start in range(0, len(text), 50):
            answer.chunk(text[start:start + 50])
            time.sleep(0.002)
        answer.raw("0\r\n\r\n")
    elif mode == "cutkey":
        # So long that whoever shortens it cuts the key.
        key = authorization.split()[-1]
        answer.whole("401 Unauthorized", {"error": {"message": "x" * (count % 200) + " " + key + " is wrong. " + "y" * 200}})
    elif mode == "eventkey":
        key = authorization.split()[-1]
        answer.chunked()
        answer.event(" " * (count % 60) + "your key is " + key)
        answer.raw("0\r\n\r\n")
    elif mode in ("twocalls", "objects"):
        results = [m for m in body["messages"] if m["role"] == "tool"]
        if results:
            answer.stream("Done: " + "; ".join(m["content"] for m in results) + ".")
            return
        answer.chunked()
        for number, power in enumerate(("on", "off") if mode == "twocalls" else ("on",)):
            arguments = {"power": power, "level": 10 + number}
            if mode == "twocalls":
                arguments = json.dumps(arguments)
            answer.event(piece(tool_calls=[call(0, "lamp__set", arguments, "call_%d" % number)]))
        answer.event(piece(reason="tool_calls"))
        answer.event("[DONE]")
        answer.raw("0\r\n\r\n")
    elif mode == "tool":
        tools(answer, body, 1)
    elif mode == "tools":
        tools(answer, body, 1000)


def handle(connection):
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        path = lines[0].split()[1]
        mode = path.split("/")[1]
        body = json.loads(body)
        if mode == "told":
            with open(os.path.join(folder, "mode")) as file:
                mode = file.read()
        with lock:
            count = counts.get(mode, 0)
            counts[mode] = count + 1
            with open(os.path.join(folder, "requests"), "a") as log:
                log.write(json.dumps({"path": path, "key": headers.get("authorization", ""), "body": body}) + "\n")
        serve(Answer(connection), mode, body, count, headers.get("authorization", ""))
    except (OSError, ValueError):
        pass
    finally:
        connection.close()


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)


def accept():
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=handle, args=(connection,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
