# SPDX-License-Identifier: Apache-2.0
"""A way to a run that can be cut and opened again, as a network does."""

import contextlib
import socket
import threading

NAME = "voice.localhost"
# What a run is started with so that it answers to that name.
OPTIONS = ("--set", f'web.names=["{NAME}"]')


class Gate:
    """Passes on what comes for a port; while it is cut, nothing comes through and nobody gets in."""

    def __init__(self, behind):
        self.behind = behind
        self.pairs = []
        self.is_open = True
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]
        self.url = f"http://{NAME}:{self.port}/"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.server.accept()
                # Who knocks at a gate that is cut hears at once that nobody is there.
                if not self.is_open:
                    client.close()
                    continue
                try:
                    host = socket.create_connection(("127.0.0.1", self.behind))
                except OSError:
                    client.close()
                    continue
                self.pairs.append((client, host))
                for one, other in ((client, host), (host, client)):
                    threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    @staticmethod
    def pass_on(one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Ends all connections, and lets no new one in."""
        self.is_open = False
        for pair in self.pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()

    def open(self):
        self.is_open = True

    def close(self):
        self.cut()
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
