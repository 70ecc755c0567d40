# SPDX-License-Identifier: Apache-2.0
"""What the element draws, pixel by pixel, with a clock that stands still between two looks."""

import math

import pytest

from conftest import state, wait
from running import TALKING, eventually

PRESETS = {
    "verdant": ("d3ffa6", "036b5b"), "twilight": ("81b9ff", "371a5e"), "bloom": ("ffd4fe", "fd05f9"),
    "mystic": ("1f023a", "ca76ff"), "flare": ("ffffff", "fc5f00"), "glacier": ("4ce5f2", "005a98"),
}


def rgb(text):
    return tuple(int(text[at:at + 2], 16) for at in (0, 2, 4))


@pytest.fixture
def easel(run, elsewhere, open_page):
    """A canvas with the pictures of the element on it, in a page whose time passes when told to."""
    host = run(TALKING, "--set", f'web.origins=["{elsewhere.origin}"]')
    (elsewhere.site / "index.html").write_text(
        """<!doctype html><html lang="en"><title>easel</title><link rel="icon" href="data:,">
        <style>canvas { display: block }</style><canvas></canvas>""")

    def make(style, width, height, colors=None):
        page = open_page(elsewhere.origin + "/index.html", host.url)
        page.watch.allows.append("getImageData")
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        page.evaluate("""async ([url, style, width, height, colors]) => {
          const { Face } = await import(url + 'face.js'); const c = document.querySelector('canvas')
          Object.assign(c.style, { width: width + 'px', height: height + 'px' })
          window.face = new Face(c); const clear = face.context.clearRect
          face.context.clearRect = function (...given) { window.drawnAt = performance.now(); clear.apply(this, given) }
          window.pixel = (x, y) => [...face.context.getImageData(x, y, 1, 1).data]
          window.row = (y, x = 0) => { const d = face.context.getImageData(x, y, c.width - x, 1).data
            return Array.from({ length: d.length / 4 }, (_, i) => d[4 * i + 3]) }
          window.column = x => { const d = face.context.getImageData(x, 0, 1, c.height).data
            return Array.from({ length: d.length / 4 }, (_, i) => d[4 * i + 3]) }
          face.look(style, colors ?? undefined, '#ffffff') }""", [host.url, style, width, height, colors])
        wait(page, "w => document.querySelector('canvas').width === w", width)
        page.clock.run_for(100)
        return page

    return make


def pass_time(page, seconds, level=None, bands=None):
    """Lets time pass in frames; what is loud stays loud, as levels come all the while."""
    for _ in range(round(seconds / 0.016)):
        if level is not None:
            page.evaluate("([level, bands]) => face.take(level, bands ?? undefined)", [level, bands])
        page.clock.run_for(16)


def test_O3_level_is_there_after_50_ms_in_a_line_and_fades_in_250_at_the_end(easel):
    page = easel("meter", 300, 100)
    # The bar within the frame is 225 pixels long when it is full.
    bar = "row(50, 38).slice(0, 224).filter(alpha => alpha > 128).length / 225"
    assert page.evaluate(bar) < 0.02
    start = page.evaluate("face.take(0.8) ?? performance.now()")
    seen = []
    for _ in range(6):
        page.clock.run_for(16)
        seen.append((page.evaluate("drawnAt") - start, page.evaluate(bar)))
    for after, length in seen:
        assert length == pytest.approx(0.8 * min(1, after / 50), abs=0.05), seen
    assert any(0 < after < 50 for after, _ in seen), "it was seen on its way"
    # Nothing comes any more: after half a second it is over, and fades.
    fade = []
    for _ in range(70):
        page.clock.run_for(16)
        fade.append((page.evaluate("drawnAt") - start, page.evaluate(bar)))
    begin = max(after for after, length in fade if length > 0.77)
    end = min(after for after, length in fade if length < 0.03)
    assert 400 < begin < 600 and 190 < end - begin < 300, (begin, end)


@pytest.mark.parametrize("width, height", [(246, 430), (160, 600), (700, 300)])
def test_bars_are_whole_in_any_shape(easel, width, height):
    page = easel("bars", width, height)
    alphas = page.evaluate(f"row({height // 2})")
    bars = [len(run) for run in "".join("#" if alpha > 128 else " " for alpha in alphas).split()]
    assert len(bars) == 10 and max(bars) - min(bars) <= 1, bars
    tall = sum(alpha > 128 for alpha in page.evaluate(f"column({alphas.index(255) + 2})"))
    assert tall > max(bars), "they stand upright"


# How far from the middle the core reaches: there nothing is seen through.
CORE = "row(144, 144).findIndex(alpha => alpha < 250)"
# How far anything reaches.
EDGE = "row(144, 144).findLastIndex(alpha => alpha > 12)"


def test_O3_orb_follows_within_150_ms_and_is_fast_at_first(easel):
    page = easel("orb", 288, 288)
    start = page.evaluate("face.take(1) ?? performance.now()")
    seen = []
    for _ in range(12):
        page.clock.run_for(16)
        page.evaluate("face.take(1)")
        seen.append((page.evaluate("drawnAt") - start, (page.evaluate(CORE) / 80 - 0.85) / 0.5))
    for after, view in seen:
        if 40 < after < 110:
            assert after / 150 + 0.05 < view < 1, seen
        elif after > 155:
            assert view == pytest.approx(1, abs=0.08), seen


def test_O3_orb_shows_for_600_ms_that_speech_has_ended(easel):
    page = easel("orb", 288, 288)
    pass_time(page, 1.2, 0.5)
    loud = page.evaluate(EDGE)
    # Half a second later speech is over; then the light goes out in 600 ms.
    pass_time(page, 0.8)
    assert 74 < page.evaluate(EDGE) <= loud
    pass_time(page, 0.6)
    assert page.evaluate(EDGE) <= 70


def test_O4_orb_is_as_large_as_it_is_loud_and_its_ring_is_seen_while_it_speaks(easel):
    page = easel("orb", 288, 288)
    assert page.evaluate(CORE) == pytest.approx(80 * 0.85, abs=3)
    # At rest there is no light around it, and no ring.
    assert page.evaluate(EDGE) <= 70
    for level in (0.5, 1):
        pass_time(page, 1.2, level)
        assert page.evaluate(CORE) == pytest.approx(80 * (0.85 + 0.5 * level), abs=4), level
        ring = round(80 * (1 + 0.7 * level))
        around = page.evaluate("row(144, 144)")
        # It is drawn over the light that is there without it.
        assert max(around[ring - 2:ring + 2]) > around[ring + 6] + 60, (level, around)
    # From the middle to the edge: cyan, blue, purple.
    red, green, blue, _ = page.evaluate("pixel(144, 144)")
    assert green > 180 and blue > 200 > red
    red, green, blue, _ = page.evaluate("pixel(144 + 100, 144)")
    assert blue > 200 and red > green


def tall(page, count=10):
    """The heights of the bars, as shares of the picture."""
    heights, inside = [], False
    for x in range(page.evaluate("face.canvas.width")):
        height = sum(alpha > 128 for alpha in page.evaluate(f"column({x})"))
        if height and not inside:
            heights.append(0)
        inside = height > 0
        if inside:
            heights[-1] = max(heights[-1], height)
    assert len(heights) == count, heights
    return [height / page.evaluate("face.canvas.height") for height in heights]


def test_T6_bars_are_as_tall_as_their_bands(easel):
    page = easel("bars", 300, 200)
    assert tall(page) == pytest.approx([0.3] * 10, abs=0.03), "with nothing to show"
    bands = [1, 0.75, 0.5, 0.25, 0.1, 0.05, 0.04, 0, 0, 0]
    pass_time(page, 0.6, 0.5, bands)
    shown = [value if value > 0.05 else 0 for value in bands]
    assert tall(page) == pytest.approx([0.2 + 0.6 * value for value in shown], abs=0.035)
    # Without bands each is lower than the one before, the last one by six tenths.
    pass_time(page, 0.6, 0.8)
    assert tall(page) == pytest.approx([0.2 + 0.6 * 0.8 * (1 - 0.6 * i / 9) for i in range(10)], abs=0.035)


def test_T6_bars_are_there_within_150_ms(easel):
    page = easel("bars", 300, 200)
    pass_time(page, 0.5, 0.5, [0.1] * 10)
    pass_time(page, 0.08, 0.5, [1] * 10)
    assert 0.3 < tall(page)[0] < 0.78
    pass_time(page, 0.08, 0.5, [1] * 10)
    assert tall(page)[0] > 0.74


@pytest.mark.parametrize("name", PRESETS)
def test_T8_each_preset_goes_from_its_first_colour_to_its_second_and_back(easel, name):
    first, second = PRESETS[name]
    page = easel("bars", 300, 200, ["#" + first, "#" + second])
    pass_time(page, 0.6, 1, [1] * 10)
    x = page.evaluate("row(100).findIndex(alpha => alpha > 250)") + 8
    column = page.evaluate(f"column({x})")
    top = next(y for y, alpha in enumerate(column) if alpha > 250)
    bottom = len(column) - 1 - next(y for y, alpha in enumerate(reversed(column)) if alpha > 250)
    for y, color, far in ((top + 8, first, 40), ((top + bottom) // 2, second, 12), (bottom - 8, first, 40)):
        assert page.evaluate(f"pixel({x}, {y})")[:3] == pytest.approx(rgb(color), abs=far), (name, y)


def test_T8_presets_are_those_that_are_named(element):
    page, host = element()
    named = page.evaluate("async url => (await import(url + 'voice-graph.js')).presets", host.url)
    assert named == {name: ["#" + first, "#" + second] for name, (first, second) in PRESETS.items()}


def test_T5_level_of_an_element_is_what_is_played(element):
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', 'type = "tone"\nfrequency = 1000\nlevel_db = -20')
    page, host = element('visualizer="face"', graph)
    state(page, "collapsed")
    level = "document.querySelector('voice-graph').level"
    # A sine of -20 dBFS has a root mean square of 0.0707, four times that is shown.
    eventually("the level", lambda: page.evaluate(level) == pytest.approx(0.283, abs=0.01))
    host.call("mute", node="tone")
    eventually("it falls", lambda: page.evaluate(level) < 0.01)


@pytest.mark.parametrize("form, band, periods", [
    ({}, 9, 1.5), ({"frequency": 2.5, "density": 4}, 0, 2.5), ({"follow": True}, 0, 1.5 * 6 ** -0.5), ({"follow": True}, 9, 1.5 * 6 ** 0.5)])
def test_W1_the_first_wave_is_where_its_formula_says_within_half_a_pixel(easel, form, band, periods):
    page = easel("wave", 800, 400)
    page.evaluate("form => face.look('wave', undefined, '#ffffff', form)", form)
    pass_time(page, 0.4, 1, [0.8 * (at == band) for at in range(10)])
    now = page.evaluate("drawnAt") / 1000

    def wave(x):
        return 200 * (1 + (1 - (2 * x / 800 - 1) ** 2) * 0.7 * math.sin(2 * math.pi * periods * x / 800 - 15 * now))

    # Where it is far out no other wave is further out; its line is six pixels thick across its slope.
    errors = []
    for x in range(5, 795, 5):
        center, slope = wave(x + 0.5), wave(x + 1) - wave(x)
        out = -1 if center < 200 else 1
        if abs(center - 200) < 60:
            continue
        column = page.evaluate("x => column(x)", x)[::out]
        first = next(at for at, alpha in enumerate(reversed(column)) if alpha > 0)
        # The last pixels are painted in part.
        part = sum(list(reversed(column))[first:first + 3]) / 255
        edge = first + 3 - part
        edge = 400 - edge if out > 0 else edge
        errors.append(abs(edge - (center + out * 3 * math.sqrt(1 + slope * slope))))
    assert len(errors) > 20 and max(errors) < 0.5, (len(errors), max(errors))
