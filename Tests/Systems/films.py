# SPDX-License-Identifier: Apache-2.0
"""The first system: what films and the page show of an orb."""

from conftest import launch
from measuring import RATE, at_level, eventually, row, sine
from wave import curve


def core(line):
    """Radius of the core in a line through the centre: the middle of the stroke, which lies on its edge."""
    half = line[len(line) // 2 :]
    # From where the gradient is dark enough outwards: the stroke is brighter.
    inner = next(n for n in range(100, 260) if half[n] <= 147 < half[n + 1])
    rise = inner + (147 - half[inner]) / (half[inner + 1] - half[inner]) + 0.5
    # The stroke is a fortieth of the radius of a core of this size wide.
    return rise / (1 - 1 / 80)


def ring(line, radius):
    """Radius of the ring: the brightest that is narrow, outside the core."""
    half = line[len(line) // 2 :]
    steps = [(half[n + 1] - half[n], n) for n in range(round(radius) + 8, len(half) - 1)]
    (up, rise), (down, fall) = max(steps), min(steps)
    return (rise + fall + 2) / 2 if up > 8 and down < -8 else None


@row("O3", "films of a step up and down at 60 frames a second: radius, glow, height of a wave")
def easing(measured):
    path = measured.sound("step.wav", [0.0] * RATE + sine(937.5, 0.1, 2 * RATE) + [0.0] * (2 * RATE))
    film = measured.film(path, "orb", "576x576", 60)
    lines = [film.line(frame, 288) for frame in film.grey()]
    radii = [core(line) for line in lines]
    low, high = radii[30], radii[150]
    view = [(radius - low) / (high - low) for radius in radii]
    start = next(n for n in range(50, 90) if view[n] > 0.02)
    full = next(n for n in range(start, 150) if view[n] > 0.98)
    rise = view[start : full + 1]
    measured.check(
        "radius " + " ".join(f"{value:.2f}" for value in rise) + f" in {len(rise) / 60 * 1000:.0f} ms",
        8 <= len(rise) <= 12 and rise[len(rise) // 2 - 1] > 0.5 and start <= 64,
    )
    # Tones that are as steady, but of which the measured values differ in their last bits, as rounding has it.
    times = []
    for value in (0.5398, 0.56):
        film = measured.film(measured.sound(f"{value}.wav", [0.0] * RATE + at_level(value, RATE)), "orb", "576x576", 60)
        sizes = [core(film.line(frame, 288)) for frame in film.grey()]
        shares = [(size - sizes[30]) / (sizes[110] - sizes[30]) for size in sizes]
        times.append(sum(0.02 < share < 0.98 for share in shares) + 1)
    told = ", ".join(f"{count / 60 * 1000:.0f}" for count in times)
    measured.check(f"{told} ms where values of a steady tone differ in their last bits", max(times) <= 12, partly=True)
    # The ring crosses the light once, at one of two places.
    lights = [[line[288 + round(radius) + away] for line, radius in zip(lines, radii)] for away in (8, 20)]
    glow = [min(light[n] / light[150] for light in lights) for n in range(len(lines))]
    half = next(n for n in range(start, 150) if glow[n] > 0.5) - start
    whole = next(n for n in range(start, 150) if glow[n] > 0.97) - start
    measured.check(
        f"glow: half after {half / 60:.2f} s, whole after {whole / 60:.2f} s",
        0.2 < half / 60 < 0.4 and 0.45 < whole / 60 < 0.7,
    )
    falls = [n for n in range(175, len(view)) if 0.02 < view[n] < 0.98]
    straight = max(abs(view[n] - (falls[-1] + 1 - n) / (len(falls) + 1)) for n in falls)
    rest = next(n for n in range(180, len(view)) if glow[n] < 0.05)
    measured.check(
        f"at the end the radius falls in {(len(falls) + 1) / 60 * 1000:.0f} ms, within {straight:.2f} of a line; "
        f"the light is gone {rest / 60 - 3:.2f} s after the sound",
        13 <= len(falls) + 1 <= 17 and straight < 0.06 and rest / 60 - 3 < 1.6,
    )
    wave = measured.film(path, "wave", "800x400", 60)
    heights = [curve(wave, frame)[0] if 58 <= n < 80 else 0 for n, frame in enumerate(wave.grey()) if n < 80]
    heights = [height / heights[79] for height in heights]
    steps = [height for height in heights[58:] if 0.02 < height < 0.985]
    measured.check("height of the wave " + " ".join(f"{height:.2f}" for height in steps), 2 <= len(steps) <= 5)


@row("O4", "films of the orb at 576x576, twice its size, of four levels; the canvas in Chromium")
def shape(measured):
    figures, worst, rings = [], 0, 0
    for value in (0, 0.174, 0.5, 0.9398):
        film = measured.film(measured.sound(f"{value}.wav", at_level(value, 2 * RATE)), "orb", "576x576", 60)
        frames = list(film.grey())
        line = film.line(frames[100], 288)
        radius, expected = core(line), 160 * (0.85 + 0.5 * value)
        around, wanted = ring(line, radius), 160 * (1 + 0.7 * value)
        worst = max(worst, abs(radius - expected))
        rings = max(rings, abs(around - wanted)) if value and around else rings if not value and not around else 99
        figures.append(
            f"{value:g}: core {radius:.1f} for {expected:.1f}, ring "
            + (f"{around:.1f} for {wanted:.1f}" if around else "none")
        )
        if value == 0.5:
            pixels = film.colors(1.6)
            middle = [tuple(pixels[3 * (288 * 576 + 288 + n) :][:3]) for n in (2, 98, 168)]
    measured.check("; ".join(figures), worst < 2 and rings < 3)
    wanted = [(0x64, 0xD2, 0xFF), (0x0A, 0x84, 0xFF), (0xBF, 0x5A, 0xF2)]
    far = max(abs(a - b) for one, other in zip(middle, wanted) for a, b in zip(one, other))
    measured.check("colours " + " ".join("%02X%02X%02X" % one for one in middle), far < 40)
    browser = launch(measured.playwright)
    measured.stack.callback(browser.close)
    path = measured.sound("half.wav", at_level(0.5, 48 * 1024))
    host = measured.host(
        f'[graph]\nname = "orb"\nlinks = ["file -> face"]\n[node.file]\ntype = "file"\npath = "{path}"\n'
        'loop = true\n[node.face]\ntype = "visualizer"\n'
    )
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.goto(host.link)
    radius = eventually("the orb in the page is as large as it should be", lambda: canvas(page))
    measured.check(f"Chromium: core {radius:.4f} of the picture, {160 * 1.1 / 576:.4f} by the formula", True)


def canvas(page):
    """The core's radius as a share of the smaller side of the page's canvas, once it is right."""
    shares = page.evaluate("""() => { const all = document => [...document.querySelectorAll('*')].flatMap(e =>
        [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
      return all(document).filter(e => e.localName === 'canvas' && e.width > 100 && e.offsetParent).flatMap(c => {
        let d; try { d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data } catch { return [] }
        const y = c.height >> 1; let last = 0
        for (let x = c.width >> 1; x < c.width; x++) if (d[4 * (y * c.width + x) + 3] > 250) last = x + 1 - c.width / 2
        return last / Math.min(c.width, c.height) }) }""")
    return next((share for share in shares if abs(share - 160 * 1.1 / 576) < 0.004), None)
