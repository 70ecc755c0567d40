# SPDX-License-Identifier: Apache-2.0
"""Makes the picture of the page in the README: `make web-picture`."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from playwright.sync_api import sync_playwright  # noqa: E402

from conftest import launch, wait  # noqa: E402
from running import ROOT, TALKING, Running, eventually  # noqa: E402

with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
    host = Running(pathlib.Path(place) / "run", TALKING)
    browser = launch(playwright)
    page = browser.new_page(viewport={"width": 1200, "height": 850}, color_scheme="dark", device_scale_factor=1.25)
    page.goto(host.link)
    wait(page, "document.body.innerText.includes('running')")
    page.select_option("#face-node", "face")
    page.select_option("#picture", "orb")
    page.fill("#speak-text", "It keeps running, and says what it does.")
    for text in ("Hello!", "Thank you.", "What is your name?"):
        page.get_by_role("textbox", name="Message").fill(text)
        said = len(host.events("speech.finished"))
        page.keyboard.press("Enter")
        eventually("it speaks", lambda: page.locator("#speaking").inner_text() == "Speaking…")
        if text[-1] != "?":
            eventually("it has spoken", lambda: len(host.events("speech.finished")) > said)
    page.wait_for_timeout(700)
    page.mouse.click(2, 2)
    page.screenshot(path=ROOT / "docs/page.png")
    browser.close()
    host.end()
