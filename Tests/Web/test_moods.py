# SPDX-License-Identifier: Apache-2.0
"""The picture of an element as the conversation goes: who is heard, that it thinks, and that it rests."""

import re

import pytest

from conftest import state, wait
from running import TALKING, eventually

ELEMENT = "document.querySelector('voice-graph')"
ROOT = ELEMENT + ".shadowRoot"
# What listens hears pink noise; what is said is taken down while a switch is pressed.
HEARING = """
[graph]
name = "hearing"
links = ["noise -> mic -> text -> agent -> voice -> face -> out", "voice.speaking -> agent.speaking"]
[node.noise]
type = "tone"
wave = "pink"
level_db = -12
[node.mic]
type = "gain"
[node.text]
type = "transcribe"
[node.agent]
type = "agent"
[node.voice]
type = "tts"
[node.face]
type = "visualizer"
style = "%s"
[node.out]
type = "output"
"""
# What the picture was told last: a level, bands, and whether it is the user.
TOLD = """() => { const { face } = document.querySelector('voice-graph'), { take } = face; window.told = []
  face.take = (...given) => { told.push(given); take.apply(face, given) } }"""


def begin(page):
    state(page, "collapsed")
    page.locator("voice-graph [part~=launcher]").click()
    state(page, "expanded")


def picture(page):
    return page.evaluate(f"{ROOT}.querySelector('.stage').dataset.picture")


def breathes(page):
    return page.evaluate(f"{ROOT}.querySelector('canvas').getAnimations().some(one => one.animationName === 'breathe')")


def test_picture_says_who_is_heard_and_what_it_does(element):
    page, host = element('visualizer="bars face"', HEARING % "bars")
    page.watch.allows += ["ERR_", "WebSocket", "Failed to load resource", "CORS"]
    begin(page)
    assert page.locator("voice-graph [part~=status]").inner_text() == "Listening"
    assert picture(page) == "listening" and breathes(page)
    page.evaluate(TOLD)
    # The host measures what comes out of the node that listens: 12 dB below full scale, on a scale of 50 dB.
    eventually("the user's level", lambda: page.evaluate("told.some(([level, bands, isHeard]) => isHeard && !bands && level > 0.5)"))
    page.evaluate(f"{ELEMENT}.mute(true)")
    eventually("it is muted", lambda: picture(page) == "muted" and not breathes(page))
    assert "grayscale" in page.evaluate(f"getComputedStyle({ROOT}.querySelector('canvas')).filter")
    host.kill()
    state(page, "error")
    eventually("it is lost", lambda: picture(page) == "lost" and not breathes(page))


def test_picture_thinks_and_then_follows_the_voice(element):
    page, host = element('visualizer="bars face"')
    begin(page)
    page.evaluate(f"""() => {{ const {{ face }} = {ELEMENT}, {{ think }} = face; window.thought = []; window.seen = []
      face.think = is => {{ thought.push(is); think.call(face, is) }}
      new MutationObserver(() => seen.push({ROOT}.querySelector('.stage').dataset.picture)).observe(
        {ROOT}.querySelector('.stage'), {{ attributes: true }}) }}""")
    page.evaluate(TOLD)
    page.evaluate(f"{ELEMENT}.send('hello')")
    eventually("it was spoken", lambda: host.event("speech.finished"))
    eventually("it rests", lambda: picture(page) == "idle")
    assert "waiting" in page.evaluate("seen")
    assert page.evaluate("told.some(([level, bands, isHeard]) => level > 0.1 && bands?.length === 10 && !isHeard)")
    assert page.evaluate("told.every(([, , isHeard]) => !isHeard)")


def test_nothing_moves_by_itself_where_motion_is_not_wanted(element):
    page, host = element('visualizer="orb face"', HEARING % "orb", reduced_motion="reduce")
    begin(page)
    assert picture(page) == "listening" and not breathes(page)
    assert page.evaluate(f"{ROOT}.querySelector('section').getAnimations().length") == 0


def test_card_opens_and_closes_within_180_ms(element):
    page, host = element('position="bottom-right"')
    state(page, "collapsed")
    rests = f"!{ROOT}.querySelector('section').getAnimations().length"
    # What is turned round on its way takes less.
    eventually("it is closed", lambda: page.evaluate(rests))
    # All that the card has done, with its time: the event tells it, however late a busy page comes to handle it.
    page.evaluate(f"""() => {{ window.ran = []; const card = {ROOT}.querySelector('section')
      card.addEventListener('transitionend', ({{ propertyName, target, elapsedTime }}) =>
        target === card && ran.push([propertyName, Math.round(elapsedTime * 1000)])) }}""")
    page.evaluate(f"{ELEMENT}.start()")
    state(page, "expanded")
    eventually("it has opened", lambda: ["opacity", 180] in page.evaluate("ran"))
    eventually("it is open", lambda: page.evaluate(rests))
    page.evaluate("ran.length = 0")
    page.evaluate(f"{ELEMENT}.end()")
    eventually("it has closed", lambda: ["opacity", 180] in page.evaluate("ran"))
    eventually("it is gone", lambda: not page.locator("voice-graph [part~=card]").first.is_visible())


MEASURED = {"spectrum": ["spectrum"], "spectrogram": ["spectrum"], "scope": ["scope"],
            "goniometer": ["correlation", "goniometer"], "loudness": ["lufs_i", "lufs_m", "lufs_s"]}


@pytest.mark.parametrize("style", MEASURED)
def test_styles_of_measurements_are_drawn_from_what_is_measured(element, style):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace('style = "bars"', f'style = "{style}"').replace(
        'type = "tone"', 'type = "tone"\nfrequency = 1000\nlevel_db = -12')
    # As the node itself says: nothing is chosen here.
    page, host = element('mode="face" visualizer="face"', graph, css="voice-graph { width: 480px; height: 320px }", script="""
      window.asked = []; const { send } = WebSocket.prototype
      WebSocket.prototype.send = function (text) { asked.push(String(text)); send.call(this, text) }""")
    page.watch.allows.append("getImageData")
    state(page, "collapsed")
    wanted = [f"face.{series}" for series in MEASURED[style]]
    assert sorted(set(re.findall(r"face\.\w+", page.evaluate("asked.at(-1)")))) == wanted
    # How far what is painted reaches, down and across.
    painted = """() => { const c = document.querySelector('voice-graph').shadowRoot.querySelector('canvas')
      const { width: w, height: h } = c; if (!w) return [0, 0]
      const d = c.getContext('2d').getImageData(0, 0, w, h).data, rows = [], columns = []
      for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) if (d[4 * (y * w + x) + 3] > 100) { rows.push(y); columns.push(x) }
      const reach = list => list.reduce((a, b) => Math.max(a, b), 0) - list.reduce((a, b) => Math.min(a, b), 1e9)
      return rows.length ? [reach(rows) / h, reach(columns) / w] : [0, 0] }"""
    # At least so much of the height, and of the width; both channels are alike, so their points stand upright.
    tall, wide = {"spectrum": (0.6, 0.99), "spectrogram": (0.05, 0.02), "scope": (0.85, 0.99),
                  "goniometer": (0.6, 0.002), "loudness": (0.7, 0.02)}[style]
    eventually("it is drawn", lambda: (size := page.evaluate(painted)) and size[0] >= tall and size[1] >= wide)


def test_spectrum_is_highest_where_the_sine_is(element):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace('style = "bars"', 'style = "spectrum"').replace(
        'type = "tone"', 'type = "tone"\nfrequency = 1000\nlevel_db = -12')
    page, host = element('mode="spectrum" visualizer="face"', graph, css="voice-graph { width: 480px; height: 320px }")
    page.watch.allows.append("getImageData")
    state(page, "collapsed")
    # The first column that reaches up as far as -12 dBFS of 96 dB: 1 kHz of 20 Hz to 24 kHz, each octave as wide.
    peak = """() => { const c = document.querySelector('voice-graph').shadowRoot.querySelector('canvas')
      const { width: w, height: h } = c; if (!w) return -1
      const y = Math.round(h * 0.16), d = c.getContext('2d').getImageData(0, y, w, 1).data
      const high = Array.from({ length: w }, (_, x) => d[4 * x + 3] > 100 ? x : -1).filter(x => x >= 0)
      return high.length ? (high[0] + high.at(-1)) / 2 / w : -1 }"""
    place = eventually("the peak", lambda: (at := page.evaluate(peak)) >= 0 and at)
    assert place == pytest.approx(0.5518, abs=0.01)


def test_orb_is_drawn_by_a_graphics_card_where_there_is_one_and_by_the_canvas_when_that_is_lost(run, elsewhere, open_page):
    host = run(TALKING, "--set", f'web.origins=["{elsewhere.origin}"]')
    # A browser that says that it has a card, and counts what is drawn by it.
    (elsewhere.site / "index.html").write_text(
        """<!doctype html><html lang="en"><title>orb</title><link rel="icon" href="data:,">
        <style>canvas { width: 288px; height: 288px }</style><canvas></canvas>
        <script>window.drawn = 0; const gl = WebGL2RenderingContext.prototype, { getParameter, drawArrays } = gl
        gl.getParameter = function (name) { return name === this.RENDERER ? 'a card' : getParameter.call(this, name) }
        gl.drawArrays = function (...given) { window.drawn++; window.card = this; drawArrays.apply(this, given) }</script>""")
    page = open_page(elsewhere.origin + "/index.html", host.url, allows=["getImageData", "GPU stall", "GL Driver", "CONTEXT_LOST"])
    page.evaluate("""async url => { const { Face } = await import(url + 'face.js')
      window.face = new Face(document.querySelector('canvas')); face.look('orb', undefined, '#ffffff')
      setInterval(() => face.take(window.level ?? 0.5), 16) }""", host.url)
    # How far from the middle the core reaches, and how blue it is there.
    seen = """() => { const d = face.context.getImageData(144, 144, 144, 1).data
      const end = Array.from({ length: 144 }, (_, x) => d[4 * x + 3]).findIndex(alpha => alpha < 250)
      return [end, d[2] > 180 && d[1] > 100] }"""
    wanted = pytest.approx(80 * (0.85 + 0.5 * 0.5), abs=4)
    eventually("it is drawn by the card", lambda: page.evaluate("drawn") > 5 and page.evaluate(seen) == [wanted, True])
    page.evaluate("card.getExtension('WEBGL_lose_context').loseContext()")
    eventually("it is lost", lambda: page.evaluate("card.isContextLost()"))
    page.evaluate("() => { window.drawn = 0; window.level = 0.9 }")
    wanted = pytest.approx(80 * (0.85 + 0.5 * 0.9), abs=4)
    eventually("it is drawn by the canvas", lambda: page.evaluate(seen) == [wanted, True])
    assert page.evaluate("drawn") == 0
