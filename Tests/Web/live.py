# SPDX-License-Identifier: Apache-2.0
"""A client of the WebSocket that is no browser."""

import contextlib
import json
import struct

import websockets.sync.client


class Live:
    """Calls, events and frames of levels.

    It asks nobody whether they are alive: while a test does something else, its own queue fills up, it reads nothing
    more, and so it would miss the answer and end the connection.
    """

    def __init__(self, host, token=None, **given):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(websockets.sync.client.connect(
            host.url.replace("http", "ws", 1) + "api/live", subprotocols=["voicegraph", "token." + (token or host.token)],
            compression=None, max_size=None, open_timeout=60, ping_interval=None, **given))
        self.events = []
        self.levels = []
        self.names = []
        self.sounds = []
        self.count = 0

    def call(self, name, **arguments):
        """The answer to a call; what comes before it is kept."""
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "call": name, **arguments}))
        while True:
            answer = self.take()
            if answer and answer.get("id") == self.count:
                return answer

    def take(self, seconds=60):
        """The next message: an answer or an event; levels and sound are kept, and give None."""
        message = self.socket.recv(timeout=seconds)
        if isinstance(message, bytes):
            (self.levels if message[0] == 1 else self.sounds).append(message)
            return None
        read = json.loads(message)
        if read.get("event") == "series.names":
            self.names = read["names"]
        elif "event" in read:
            self.events.append(read)
        return read

    def until(self, condition, seconds=60):
        """Takes messages until a condition holds."""
        for _ in range(100_000):
            if found := condition():
                return found
            self.take(seconds)
        raise AssertionError("too many messages")

    def rows(self, message):
        """What a frame of levels says, by node and series."""
        time, = struct.unpack_from("<d", message, 8)
        rows, at = {}, 16
        while at < len(message):
            place, count = struct.unpack_from("<HH", message, at)
            rows[tuple(self.names[place])] = struct.unpack_from(f"<{count}f", message, at + 4)
            at += 4 + 4 * count
        return time, rows

    def newest(self):
        """The newest of each node and series, of all messages that are kept."""
        return {name: row for message in self.levels for name, row in self.rows(message)[1].items()}

    def close(self):
        self.stack.close()
