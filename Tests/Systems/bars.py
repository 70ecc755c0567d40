# SPDX-License-Identifier: Apache-2.0
"""The third system: its bars and their colours, in films and in the page."""

from element import Element
from measuring import RATE, eventually, row, sine
from running import TALKING

PRESETS = {
    "verdant": ("D3FFA6", "036B5B"),
    "twilight": ("81B9FF", "371A5E"),
    "bloom": ("FFD4FE", "FD05F9"),
    "mystic": ("1F023A", "CA76FF"),
    "flare": ("FFFFFF", "FC5F00"),
    "glacier": ("4CE5F2", "005A98"),
}


@row("T5", "exported `smooth`")
def smoothing(measured):
    one = Element(measured)
    values = one.page.evaluate(f"""async () => {{ const {{ smooth }} = await {one.module}
      let level = 0; return [.25, .25, 0, 0, 0].map(input => level = smooth(level, input)) }}""")
    measured.check(
        " ".join(f"{value:g}" for value in values),
        all(abs(a - b) < 1e-6 for a, b in zip(values, [0.9, 0.99, 0.396, 0.1584, 0.06336])),
    )


def bars(film, frame):
    """First and last column and height, from 0 to 1, of each bar."""
    found, begin = [], None
    line = film.line(frame, film.height // 2)
    for x in range(film.width + 1):
        there = x < film.width and line[x] > 40
        if there and begin is None:
            begin = x
        elif not there and begin is not None:
            middle = (begin + x) // 2
            found.append((begin, x, sum(value > 40 for value in frame[middle :: film.width]) / film.height))
            begin = None
    return found


@row("T6", "films of bars at 640x320 and 60 frames a second, and the element's canvas")
def capsules(measured):
    film = measured.film(
        measured.sound("step.wav", [0.0] * RATE + sine(937.5, 0.5, RATE)),
        "bars",
        "640x320",
        60,
        "--preset",
        "FFFFFF-FFFFFF",
    )
    frames = list(film.grey())
    last = bars(film, frames[110])
    heights = [height for *_, height in last]
    gaps = [after[0] - before[1] for before, after in zip(last, last[1:])]
    measured.check(
        f"{len(last)} bars, gaps {min(gaps)} to {max(gaps)} px of 320, {min(heights):.2f} to {max(heights):.2f} high, "
        f"bar {heights.index(max(heights)) + 1} of 937.5 Hz",
        len(last) == 10
        and 7 <= min(gaps) <= max(gaps) <= 9
        and abs(min(heights) - 0.2) < 0.01
        and abs(max(heights) - 0.8) < 0.01
        and sum(height > 0.5 for height in heights) <= 2,
    )
    place = heights.index(max(heights))
    track = [bars(film, frame)[place][2] for frame in frames[55:90]]
    moved = [value for value in track if 0.205 < value < 0.795]
    measured.check(
        "the bar rises " + " ".join(f"{value:.2f}" for value in moved),
        6 <= len(moved) <= 14 and moved == sorted(moved) and moved[0] < 0.3 and moved[-1] > 0.7,
    )
    noise = measured.folder / "pink.conf"
    noise.write_text(
        '[graph]\nname = "pink"\nlinks = ["tone -> out"]\n[node.tone]\ntype = "tone"\nwave = "pink"\n'
        '[node.out]\ntype = "output"\nchannels = 1\n'
    )
    for style in ("bars", "spectrum"):
        film = measured.film(noise, style, "320x160", 60, "--duration", 2, "--no-numbers")
        frames = list(film.grey())[30:115]
        differ = sum(a != b for a, b in zip(frames, frames[1:]))
        measured.check(f"{style}: {differ} of {len(frames) - 1} frames move", differ > 0.95 * (len(frames) - 1))
    graph = TALKING.replace("tone -> quiet -> out", "tone -> face").replace(
        'type = "tone"', 'type = "tone"\nfrequency = 937.5\nlevel_db = -6'
    )
    one = Element(
        measured,
        'mode="bars" visualizer="face"',
        graph,
        css="voice-graph { width: 640px; height: 320px; display: block }",
    )
    found = eventually(
        "ten bars, one of them high",
        lambda: (got := one.page.evaluate("""() => {
      const c = document.querySelector('voice-graph').shadowRoot.querySelector('canvas'); if (!c.width) return null
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const tall = []; let begin = -1
      for (let x = 0; x <= c.width; x++) { const on = x < c.width && d[4 * ((c.height >> 1) * c.width + x) + 3] > 128
        if (on && begin < 0) begin = x
        else if (!on && begin >= 0) { let n = 0; const m = (begin + x) >> 1
          for (let y = 0; y < c.height; y++) if (d[4 * (y * c.width + m) + 3] > 128) n++
          tall.push([begin, x, n / c.height]); begin = -1 } }
      return tall }""")) and len(got) == 10 and max(bar[2] for bar in got) > 0.78 and got,
    )
    gaps = [after[0] - before[1] for before, after in zip(found, found[1:])]
    heights = [bar[2] for bar in found]
    measured.check(
        f"Chromium: gaps {min(gaps)} to {max(gaps)} px, {min(heights):.2f} to {max(heights):.2f} high, "
        f"bar {heights.index(max(heights)) + 1}",
        heights.index(max(heights)) == place and abs(min(heights) - 0.2) < 0.02,
    )


@row("T8", "presets in films and page, case, unknown names, priority, custom properties")
def presets(measured):
    path = measured.sound("tone.wav", sine(937.5, 0.5, RATE))
    worst, figures = 0, []
    for name, colors in PRESETS.items():
        film = measured.film(path, "bars", "640x320", 30, "--preset", name)
        pixels = film.colors(0.9)
        x = 352
        rows = (
            [y for y in range(320) if max(pixels[3 * (640 * y + x) :][:3]) > 16]
            if name != "mystic"
            else list(range(32, 288))
        )
        for y, color in ((rows[2], colors[0]), (160, colors[1])):
            found = pixels[3 * (640 * y + x) :][:3]
            worst = max(worst, *(abs(a - b) for a, b in zip(found, bytes.fromhex(color))))
        figures.append(f"{name} {found.hex().upper()}")
    measured.check("films: " + " ".join(figures) + f", within {worst}", worst < 24)
    one = Element(
        measured,
        'preset="flare"',
        css="voice-graph { --vg-visualizer: glacier; --vg-surface: rgb(1, 2, 3); "
        "--vg-transcript-background: rgb(4, 5, 6); --vg-user-bubble-background: rgb(7, 8, 9); "
        "--vg-user-bubble-text: rgb(250, 251, 252); "
        "--vg-agent-bubble-background: rgb(10, 11, 12); --vg-agent-bubble-text: rgb(240, 241, 242); "
        "--vg-input-background: rgb(16, 17, 18); "
        "--vg-text-primary: rgb(230, 231, 232); --vg-text-secondary: rgb(220, 221, 222) }",
    )
    colors = one.page.evaluate(
        f"async () => {{ const m = await {one.module}; return ['verdant', 'TwiLight', 'bloom', "
        "'mystic', 'flare', 'GlAcIeR', 'nonsense'].map(m.presetColors) }"
    )
    wanted = [[f"#{color.lower()}" for color in pair] for pair in [*PRESETS.values(), PRESETS["verdant"]]]
    measured.check(
        "page: all six in any case, nonsense is verdant",
        [[color.lower() for color in pair] for pair in colors] == wanted,
    )
    one.talk()
    one.get("send('hello')")
    one.part("agent-bubble").first.wait_for()
    given = {
        ("card", "backgroundColor"): "1, 2, 3",
        ("transcript", "backgroundColor"): "4, 5, 6",
        ("user-bubble", "backgroundColor"): "7, 8, 9",
        ("user-bubble", "color"): "250, 251, 252",
        ("agent-bubble", "backgroundColor"): "10, 11, 12",
        ("agent-bubble", "color"): "240, 241, 242",
        ("input", "backgroundColor"): "16, 17, 18",
        ("input", "color"): "230, 231, 232",
        ("status", "color"): "220, 221, 222",
    }
    right = sum(one.style(*place) == f"rgb({color})" for place, color in given.items())
    measured.check(f"{right} of {len(given)} custom properties arrive", right == len(given))
