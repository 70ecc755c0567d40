# SPDX-License-Identifier: Apache-2.0
"""What clients that want no good can do: nothing to the audio, and little to anything else. What each of them is answered is
tested beside the server."""

import resource
import socket
import struct
import subprocess
import threading
import time

from conftest import wait
from live import Live
from running import COMMAND, eventually

SWEEP = """
[graph]
name = "sweep"
links = ["sweep -> half -> out"{more}]
[node.sweep]
type = "tone"
wave = "sweep"
level_db = -6
[node.half]
type = "gain"
gain_db = -6
[node.out]
type = "output"
channels = 1
"""
RECORDED = SWEEP.format(more=', "half -> take"') + '[node.take]\ntype = "record"\npath = "live.wav"\n'


# A masked frame that asks for the graph.
CALL = b"\x81" + bytes([0x80 | len(b'{"id":1,"call":"nodes"}')]) + b"\0\0\0\0" + b'{"id":1,"call":"nodes"}'


def samples(path):
    """The bytes of the samples of a .wav file with floats."""
    data = path.read_bytes()
    at = 12
    while at + 8 <= len(data):
        name, size = data[at:at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if name == b"data":
            return data[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    raise AssertionError("no samples")


def connect(host):
    return socket.create_connection(("127.0.0.1", host.port), timeout=5)


def quietly(work):
    """What an attacker does; that it is refused is what is wanted."""
    try:
        work()
    except OSError:
        pass


def slow_heads(host, until):
    """Heads that come a byte a second."""
    all = [connect(host) for _ in range(60)]
    text = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
    for byte in text + b"a" * 1000:
        for one in all:
            quietly(lambda: one.send(bytes([byte])))
        if until():
            break
        time.sleep(0.05)
    for one in all:
        one.close()


def large_bodies(host, until):
    """A hundred megabytes, told and not told before."""
    while not until():
        for head in (b"Content-Length: 104857600\r\n", b"Transfer-Encoding: chunked\r\n"):
            def work():
                with connect(host) as one:
                    one.sendall(b"POST /api/say HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                                b"Content-Type: application/json\r\n%s\r\n" % (host.port, host.token.encode(), head))
                    for _ in range(100):
                        one.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            quietly(work)


def large_messages(host, until):
    """Frames of a hundred megabytes, and calls as long as they may be."""
    while not until():
        try:
            live = Live(host)
            live.socket.socket.sendall(b"\x82\xff" + struct.pack(">Q", 100 << 20) + b"\1\2\3\4")
            for _ in range(100):
                live.socket.socket.sendall(b" " * (1 << 20))
        except Exception:
            pass
        try:
            live = Live(host)
            for _ in range(200):
                live.socket.send('{"id":1,"call":"say","text":"' + "x" * 60_000 + '"}')
            live.close()
        except Exception:
            pass


def many_sockets(host, until):
    """As many as this process may have, up to a thousand."""
    most = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 400)
    while not until():
        all = []
        for _ in range(most):
            quietly(lambda: all.append(connect(host)))
        time.sleep(0.5)
        for one in all:
            one.close()


def deaf(host, until):
    """Requests and calls whose answers nobody reads."""
    known, told = (b"GET /api/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n" % (
        name, host.port, host.token.encode()) for name in (b"openapi.json", b"events"))
    while not until():
        all = []
        for turn in range(20):
            def work():
                one = connect(host)
                one.settimeout(0.2)
                all.append(one)
                one.sendall((told if turn % 4 == 0 else known) * 20_000)
            quietly(work)
            try:
                live = Live(host)
                live.socket.socket.settimeout(0.2)
                all.append(live.socket.socket)
                live.socket.socket.sendall(CALL * 20_000)
            except Exception:
                pass
        for one in all:
            quietly(one.close)


def nonsense(host, until):
    """Bytes that are no HTTP, and frames that are none."""
    while not until():
        def work():
            with connect(host) as one:
                one.sendall(bytes((i * 73 + 11) % 256 for i in range(20_000)))
                one.recv(1000)
        quietly(work)


def test_audio_is_the_same_to_the_bit_through_all_attacks(run):
    host = run(RECORDED)
    live = Live(host)
    live.call("events")
    eventually("it plays", lambda: host.event("record.started"))
    before = host.memory()
    end = time.monotonic() + 12
    attacks = [slow_heads, large_bodies, large_messages, many_sockets, deaf, nonsense]
    threads = [threading.Thread(target=attack, args=(host, lambda: time.monotonic() > end)) for attack in attacks]
    for thread in threads:
        thread.start()
    most = before
    while any(thread.is_alive() for thread in threads):
        # Who has shown the token is served all the while.
        assert live.call("status")["status"]["state"] == "running"
        most = max(most, host.memory())
        time.sleep(0.1)
    assert most < before + 80, "its memory is bounded"
    assert host.ask("api/status")[0] == 200
    live.close()
    host.end()
    (host.folder / "plain.conf").write_text(SWEEP.format(more=""))
    subprocess.run([COMMAND, "render", "plain.conf", "-o", "plain.wav", "--duration", "60"], cwd=host.folder, check=True,
                   capture_output=True)
    heard, right = samples(host.folder / "live.wav"), samples(host.folder / "plain.wav")
    assert len(heard) > 10 * 48_000 * 4
    length = min(len(heard), len(right))
    assert heard[:length] == right[:length]


def test_whoever_sends_too_much_is_told_once_and_not_read_for_a_moment(run):
    host = run(SWEEP.format(more=""))
    live = Live(host)
    flood = threading.Thread(target=lambda: quietly(lambda: live.socket.socket.sendall(CALL * 20_000)))
    flood.start()
    answers = []

    def heard():
        answers.append(live.take())
        return not flood.is_alive()
    eventually("all of it is sent", heard)
    # What is passed over gets no answer: asked again until there is one.
    end = time.monotonic() + 60
    while not any(answer and answer.get("id") == "last" for answer in answers):
        assert time.monotonic() < end
        live.socket.send('{"id":"last","call":"nodes"}')
        try:
            while True:
                answers.append(live.take(seconds=0.5))
        except TimeoutError:
            pass
    refused = [answer for answer in answers if answer and "too many messages" in str(answer.get("error"))]
    assert 0 < len(refused) < 1000, len(refused)
    live.close()


def test_a_page_elsewhere_reaches_nothing(run, elsewhere, open_page):
    host = run()
    (elsewhere.site / "index.html").write_text('<!doctype html><title>evil</title><link rel="icon" href="data:,">')
    page = open_page(elsewhere.origin + "/index.html", host.url, host.url.replace("http", "ws", 1))
    page.watch.allows += ["CORS", "Failed to load resource", "WebSocket", "ERR_", "Content Security"]
    # As if the user had opened the link in this browser.
    known = page.context.new_page()
    known.goto(host.link)
    wait(known, "document.body.innerText.includes('running')")
    result = page.evaluate("""async url => {
      const tell = async work => { try { return await work() } catch (error) { return 'refused' } }
      const socket = () => new Promise(resolve => { const s = new WebSocket(url.replace('http', 'ws') + 'api/live', 'voicegraph')
        s.onopen = () => resolve('open'); s.onerror = () => resolve('refused') })
      const image = () => new Promise(resolve => { const i = new Image(); i.onload = () => resolve('open')
        i.onerror = () => resolve('refused'); i.src = url + 'icon.svg' })
      return [await tell(async () => (await fetch(url + 'api/nodes', { credentials: 'include' })).status),
        await tell(async () => (await fetch(url + 'api/say', { method: 'POST', credentials: 'include',
          headers: { 'Content-Type': 'application/json' }, body: '{"text":"evil"}' })).status),
        await tell(async () => (await fetch(url + 'api/say', { method: 'POST', mode: 'no-cors', credentials: 'include',
          headers: { 'Content-Type': 'text/plain' }, body: '{"text":"evil"}' })).type),
        await tell(async () => (await import(url + 'voice-graph.js'), 'open')), await socket(), await image()] }""", host.url)
    assert result == ["refused"] * 6, result
    frame = page.evaluate("""url => new Promise(resolve => { const f = document.createElement('iframe'); f.src = url
      f.onload = () => { try { resolve(f.contentDocument ? 'open' : 'closed') } catch { resolve('closed') } }
      document.body.append(f) })""", host.url)
    assert frame == "closed"
    assert not any("evil" in line for line in host.lines)


XSS = "<img src=x onerror=\"window.evil=1\"><script>window.evil=1</script>'\"`${window.evil=1}"


def test_no_text_is_taken_for_markup(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    for text in (XSS, "</textarea>" + XSS):
        host.call("do", node="voice", action="speak", arguments={"text": text})
        host.call("do", node="agent", action="send", arguments={"text": text})
    page.get_by_text("onerror").first.wait_for(state="attached")
    status, answer = host.ask("api/add", {"node": {"name": XSS, "type": "gain"}})
    assert status == 400, answer
    status, answer = host.ask("api/add", {"node": {"name": "x", "type": XSS}})
    assert status == 400, answer
    for view in ("Transcripts", "Nodes", "Graph", "Health", "Recorder", "Meters", "Talk"):
        page.get_by_role("navigation").get_by_role("link", name=view).click()
        page.wait_for_timeout(200)
    assert page.evaluate("window.evil") is None
    assert page.locator("img:not([src='icon.svg'])").count() == 0


def test_a_file_name_is_no_markup(run, open_page, tmp_path):
    name = "<img src=x onerror=evil=1>.wav"
    host = run(RECORDED.replace('path = "live.wav"', f"path = '{name}'\nkeep = true"))
    eventually("it records", lambda: host.event("record.started"))
    host.call("do", node="take", action="finish")
    page = open_page(host.link + "#recorder")
    page.get_by_role("navigation").get_by_role("link", name="Recorder").click()
    page.locator("#takes").get_by_text(name).first.wait_for()
    assert page.evaluate("window.evil") is None
