# SPDX-License-Identifier: Apache-2.0
"""Behind nginx with TLS, as docs/web.md shows it."""

import re
import shutil
import socket
import subprocess

import pytest

from conftest import wait
from running import ROOT, TALKING, eventually


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def nginx(tmp_path):
    processes = []

    def start(behind, port):
        """The server of the documentation, with other ports and files."""
        text = (ROOT / "docs/web.md").read_text()
        server = re.search(r"```nginx\n(.*?)```", text, re.S).group(1)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=voice.example.org",
             "-keyout", tmp_path / "voice.key", "-out", tmp_path / "voice.pem"], check=True, capture_output=True)
        server = server.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("127.0.0.1:8765", f"127.0.0.1:{behind}")
        server = server.replace("/etc/ssl/", f"{tmp_path}/").replace("$host;", f"$host:{port};")
        (tmp_path / "nginx.conf").write_text(f"""daemon off; pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log;
            events {{}} http {{ access_log off; client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/proxy;
            fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s; {server} }}""")
        processes.append(subprocess.Popen(
            [shutil.which("nginx") or "/usr/sbin/nginx", "-c", tmp_path / "nginx.conf", "-e", tmp_path / "error.log"]))

        def is_there():
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", port)) == 0

        eventually("nginx listens", is_there)

    yield start
    for process in processes:
        process.terminate()
        process.wait(10)


def test_page_and_socket_work_behind_a_proxy(run, nginx, open_page, playwright):
    from conftest import launch
    host = run(TALKING, "--set", 'web.names=["voice.example.org"]')
    port = free_port()
    nginx(host.port, port)
    browser = launch(playwright, "--host-resolver-rules=MAP voice.example.org 127.0.0.1", "--ignore-certificate-errors")
    page = open_page(f"https://voice.example.org:{port}/?token={host.token}", browser=browser, ignore_https_errors=True)
    wait(page, "document.body.innerText.includes('running')")
    assert "token" not in page.url and not page.context.cookies()
    page.fill("#speak-text", "hello")
    page.get_by_role("button", name="Speak").click()
    eventually("it speaks", lambda: host.event("speech.started"))
    browser.close()
