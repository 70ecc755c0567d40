# SPDX-License-Identifier: Apache-2.0
"""The fifth system: a wave that is drawn by a formula."""

import math

from conftest import launch
from measuring import RATE, at_level, eventually, row, sine

WIDTH, HEIGHT, LEVEL = 800, 400, 0.5398
AMPLITUDES = (0.7, 0.4, 0.1, -0.2, -0.5)
STRENGTHS = (1.5, 0.75 * 0.867, 0.5 * 0.733, 0.375 * 0.6, 0.3 * 0.467)


def arch(x, width=WIDTH):
    return 1 - ((x - width / 2) / (width / 2)) ** 2


def brightest(film, frame):
    """Where the first of the waves is in each column: the brightest, and the middle of what is beside it."""
    points = []
    for x in range(20, film.width - 20, 4):
        column = frame[x :: film.width]
        most = max(column)
        if most < 60:
            continue
        y = column.index(most)
        last = y
        # Where it is steep the line is long in a column.
        while last + 1 < film.height and column[last + 1] > 0.85 * most:
            last += 1
        around = range(max(y - 2, 0), min(last + 3, film.height))
        weight = sum(column[n] for n in around)
        points.append((x + 0.5, sum(column[n] * (n + 0.5) for n in around) / weight))
    return points


def curve(film, frame, frequency=1.5):
    """Amplitude, phase and median error in pixels of the first wave, by least squares; without other waves' points."""
    return fit(brightest(film, frame), film.width, film.height, frequency)


def fit(points, width, height, frequency=1.5):
    amplitude = phase = error = 0
    kept = points
    for _ in range(6):
        ss = sc = cc = sy = cy = 0
        for x, y in kept:
            angle = 2 * math.pi * frequency * x / width
            s, c, v = arch(x, width) * math.sin(angle), arch(x, width) * math.cos(angle), y - height / 2
            ss, sc, cc, sy, cy = ss + s * s, sc + s * c, cc + c * c, sy + s * v, cy + c * v
        bottom = ss * cc - sc * sc
        if len(kept) < 20 or abs(bottom) < 1e-9:
            return 0, 0, 0
        a, b = (sy * cc - cy * sc) / bottom, (cy * ss - sy * sc) / bottom
        amplitude, phase = math.hypot(a, b) / (height / 2) / 0.7, math.atan2(b, a)

        def far(point):
            x, y = point
            angle = 2 * math.pi * frequency * x / width
            return abs(y - height / 2 - arch(x, width) * (a * math.sin(angle) + b * math.cos(angle)))

        distances = sorted(map(far, points))
        error = distances[len(distances) // 2]
        kept = [point for point in points if far(point) < max(3 * error, 1.5)]
    return amplitude, phase, error


def periods(points, width, height):
    """The frequency that fits best, in periods across the picture."""
    best = min((fit(points, width, height, n / 50)[2], n / 50) for n in range(20, 250))[1]
    return min((fit(points, width, height, best + n / 500)[2], best + n / 500) for n in range(-12, 13))[1]


@row("W1", "a curve is fitted to the lines of films at 800x400 of four tones, and to the canvas in Chromium")
def formula(measured):
    found, errors = [], []
    for frequency in (100, 707, 937.5, 8000):
        film = measured.film(
            measured.sound(f"{frequency}.wav", sine(frequency, 0.1, RATE)),
            "wave",
            f"{WIDTH}x{HEIGHT}",
            40,
            "--preset",
            "FFFFFF-FFFFFF",
        )
        frame = list(film.grey())[30]
        found.append(periods(brightest(film, frame), WIDTH, HEIGHT))
        errors.append(curve(film, frame)[2])
    measured.check(
        "f " + ", ".join(f"{f:.3f}" for f in found) + f" for 1.5; median error {max(errors):.2f} px",
        all(abs(f - 1.5) < 0.02 for f in found) and max(errors) < 0.6,
    )
    film = measured.film(
        measured.folder / "100.wav", "wave", f"{WIDTH}x{HEIGHT}", 40, "--preset", "FFFFFF-FFFFFF", "--follow"
    )
    followed = periods(brightest(film, list(film.grey())[30]), WIDTH, HEIGHT)
    measured.check(f"100 Hz with --follow {followed:.2f}", followed < 1.2, partly=True)
    path = measured.sound("loop.wav", at_level(LEVEL, 48 * 1024))
    browser = launch(measured.playwright)
    measured.stack.callback(browser.close)
    for setting, wanted in (("", 1.5), ("frequency = 3\ndensity = 8\n", 3)):
        host = measured.host(
            f'[graph]\nname = "wave"\nlinks = ["file -> face"]\n[node.file]\ntype = "file"\nloop = true\n'
            f'path = "{path}"\n[node.face]\ntype = "visualizer"\nstyle = "wave"\n{setting}'
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(host.link)
        share = eventually(f"a wave of {wanted} periods in the page", lambda: canvas(page, wanted))
        measured.check(f"Chromium: f {share[0]:.2f} for {wanted}, median error {share[1]:.2f} px", share[1] < 1.5)
        page.close()


def canvas(page, wanted):
    """Frequency and error of the wave in the page, once it is there."""
    got = page.evaluate("""() => { const all = d => [...d.querySelectorAll('*')].flatMap(e =>
        [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
      for (const c of all(document).filter(e => e.localName === 'canvas' && e.width > 200 && e.offsetParent)) {
        const context = c.getContext('2d'); if (!context) continue
        const d = context.getImageData(0, 0, c.width, c.height).data; const points = []
        for (let x = 10; x < c.width - 10; x += 4) { let most = 0, at = 0
          for (let y = 0; y < c.height; y++) { const v = d[4 * (y * c.width + x) + 3]
            if (v > most) { most = v; at = y } }
          let end = at; while (end + 1 < c.height && d[4 * ((end + 1) * c.width + x) + 3] > .85 * most) end++
          if (most > 100) points.push([x + .5, (at + end) / 2 + .5]) }
        if (points.length > 40) return [points, c.width, c.height] }
      return null }""")
    if not got:
        return None
    points, width, height = got
    found = periods(points, width, height)
    amplitude, _, error = fit(points, width, height, found)
    return (found, error) if abs(found - wanted) < 0.1 and amplitude > 0.3 else None


@row("W2", "amplitude, width and opacity of the five waves at a crest of a film")
def waves(measured):
    film = measured.film(
        measured.sound("tone.wav", at_level(LEVEL, 2 * RATE)),
        "wave",
        f"{WIDTH}x{HEIGHT}",
        40,
        "--preset",
        "FFFFFF-FFFFFF",
    )
    best = None
    for frame in list(film.grey())[30:60]:
        amplitude, phase, _ = curve(film, frame)
        for x in range(300, 500):
            reach = arch(x + 0.5) * math.sin(2 * math.pi * 1.5 * (x + 0.5) / WIDTH + phase)
            if best is None or abs(reach) > abs(best[0]):
                best = reach, x, frame
    reach, x, frame = best
    # Where a line is level its area down a column is its width times its opacity.
    column = frame[x::WIDTH]
    floor = sorted(column)[len(column) // 2]
    found, areas = [], []
    for wanted in AMPLITUDES:
        middle = HEIGHT / 2 + wanted * LEVEL * HEIGHT / 2 * reach
        around = range(round(middle) - 6, round(middle) + 7)
        area = sum(max(column[n] - floor, 0) for n in around)
        place = sum(max(column[n] - floor, 0) * (n + 0.5) for n in around) / max(area, 1)
        found.append((place - HEIGHT / 2) / (LEVEL * HEIGHT / 2 * reach))
        areas.append(area)
    scale = sum(STRENGTHS) / sum(areas)
    measured.check(
        "amplitudes " + " ".join(f"{value:.3f}" for value in found),
        all(abs(a - b) < 0.02 for a, b in zip(found, AMPLITUDES)),
    )
    measured.check(
        "opacity by width "
        + " ".join(f"{area * scale:.2f}" for area in areas)
        + " for "
        + " ".join(f"{value:.2f}" for value in STRENGTHS),
        all(abs(area * scale - wanted) < 0.12 for area, wanted in zip(areas, STRENGTHS)),
    )


@row("W3", "phase and amplitude from frame to frame at 40 frames a second")
def movement(measured):
    film = measured.film(
        measured.sound("tone.wav", at_level(LEVEL, 2 * RATE)),
        "wave",
        f"{WIDTH}x{HEIGHT}",
        40,
        "--preset",
        "FFFFFF-FFFFFF",
    )
    fitted = [curve(film, frame)[:2] for frame in list(film.grey())[30:60]]
    steps = [(after[1] - before[1] + math.pi) % (2 * math.pi) - math.pi for before, after in zip(fitted, fitted[1:])]
    worst = max(abs(step + 0.375) for step in steps)
    measured.check(f"phase {sum(steps) / len(steps):.4f} each 25 ms, +-{worst:.3f}", worst < 0.02)
    high = [amplitude for amplitude, _ in fitted]
    measured.check(
        f"amplitude {min(high):.4f} to {max(high):.4f} for {LEVEL}",
        abs(min(high) - LEVEL) < 0.01 > abs(max(high) - LEVEL),
    )
