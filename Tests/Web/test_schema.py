# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of the graph file, for editors, against the graphs that there are."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from running import COMMAND, ROOT


@pytest.fixture(scope="module")
def schema():
    printed = subprocess.run([COMMAND, "help", "config", "--schema"], capture_output=True, text=True, check=True).stdout
    found = json.loads(printed)
    kind = jsonschema.validators.validator_for(found)
    kind.check_schema(found)
    return kind(found)


@pytest.mark.parametrize("path", sorted(ROOT.glob("config/*.conf")), ids=lambda path: path.name)
def test_graph_that_plays_keeps_to_it(schema, path):
    assert [fault.message for fault in schema.iter_errors(tomllib.loads(path.read_text()))] == []


@pytest.mark.parametrize("line", [
    "gain_db = -6", 'gain_db = "-6 dB"', 'gain_db = "${GAIN:--6}"', "bypass = true", "gain_db = -6\nisolate = false"])
def test_what_is_right_is_taken(schema, line):
    assert list(schema.iter_errors(tomllib.loads(f'[node.a]\ntype = "gain"\n{line}\n'))) == []


@pytest.mark.parametrize("line", [
    "gain_bd = -6", "gain_db = 1000", 'gain_db = "loud"', "gain_db = true", "mute = 1", 'tail = "long"', "guard = 0"])
def test_what_is_wrong_is_refused(schema, line):
    assert list(schema.iter_errors(tomllib.loads(f'[node.a]\ntype = "gain"\n{line}\n')))


def test_mistakes_of_the_repository_are_refused(schema):
    refused = []
    for path in ROOT.glob("config/invalid/*.conf"):
        try:
            graph = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
        if list(schema.iter_errors(graph)):
            refused.append(path.name)
    # Others are mistakes that no schema can know, such as cycles.
    assert len(refused) > 40, refused


@pytest.mark.parametrize(("line", "fault"), [("gain_db = -6", None), ('gain_db = "loud"', '"loud"'), ("gian_db = 1", "gian_db")])
def test_taplo_finds_it_by_the_first_line(tmp_path, line, fault):
    """As `help config` says of editors: taplo is what many of them ask."""
    printed = subprocess.run([COMMAND, "help", "config", "--schema"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "voicegraph.schema.json").write_text(printed)
    (tmp_path / "a.conf").write_text(f'#:schema ./voicegraph.schema.json\n[node.a]\ntype = "gain"\n{line}\n')
    (tmp_path / ".taplo.toml").write_text('include = ["*.conf"]\n')
    taplo = Path(sys.executable).with_name("taplo")
    checked = subprocess.run([taplo, "lint", "--colors", "never"], cwd=tmp_path, capture_output=True, text=True)
    assert (checked.returncode == 0) == (fault is None), checked.stderr
    assert fault is None or fault in checked.stderr
