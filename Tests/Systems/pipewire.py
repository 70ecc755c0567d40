# SPDX-License-Identifier: Apache-2.0
"""A PipeWire of a row's own, players, and how loud they are."""

import json
import subprocess

from measuring import eventually


class PipeWire:
    """A PipeWire without a session manager, whose sink plays into nothing."""

    def __init__(self, measured):
        self.measured = measured
        folder = measured.folder / "pipewire"
        folder.mkdir(mode=0o700)
        modules = " ".join(
            f"{{ name = libpipewire-module-{name} }}"
            for name in (
                "protocol-native",
                "profiler",
                "metadata",
                "spa-node-factory",
                "client-node",
                "access",
                "adapter",
                "link-factory",
            )
        )
        (folder / "pipewire.conf").write_text(f"""
            context.properties = {{ core.daemon = true core.name = pipewire-0 default.clock.rate = 48000 }}
            context.spa-libs = {{ audio.convert.* = audioconvert/libspa-audioconvert
              support.* = support/libspa-support }}
            context.modules = [ {modules} ]
            context.objects = [
              {{ factory = metadata args = {{ metadata.name = default }} }}
              {{ factory = spa-node-factory args = {{ factory.name = support.node.driver node.name = Dummy-Driver
                 node.group = pipewire.dummy priority.driver = 20000 }} }}
              {{ factory = adapter args = {{ factory.name = support.null-audio-sink node.name = room
                 media.class = Audio/Sink
                 object.linger = true audio.position = [ FL FR ] priority.driver = 30000
                 adapter.auto-port-config = {{ mode = dsp monitor = true position = preserve }} }} }} ]""")
        self.environment = dict(measured.environment(), XDG_RUNTIME_DIR=str(folder), PIPEWIRE_RUNTIME_DIR=str(folder))
        measured.program("pipewire", "-c", str(folder / "pipewire.conf"), environment=self.environment)
        self.tone = measured.sound("long.wav", [0.1, -0.1] * 1_200_000, 8000)
        eventually("PipeWire answers", lambda: b"room" in self.dump())

    def dump(self):
        return subprocess.run(["pw-dump"], env=self.environment, capture_output=True, timeout=30, check=False).stdout

    def play(self, name):
        return self.measured.program(
            "pw-cat",
            "-p",
            "--media-role",
            name.capitalize(),
            "-P",
            f"{{ node.name = {name} }}",
            str(self.tone),
            environment=self.environment,
        )

    def volumes(self):
        """Of each stream that plays, by its name. A second list may follow the first."""
        found = {}
        for each in first(self.dump()):
            info = each.get("info") or {}
            if (info.get("props") or {}).get("media.class") == "Stream/Output/Audio":
                for props in (info.get("params") or {}).get("Props", [])[:1]:
                    found[info["props"]["node.name"]] = props.get("volume")
        return found


def first(text):
    """The first list of what may be two."""
    return json.JSONDecoder().raw_decode(text.decode() or "[]")[0]
