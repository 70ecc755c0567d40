# SPDX-License-Identifier: Apache-2.0
"""The drawing of the graph: what it shows, how it is moved, and what is chosen, linked and added in it."""

import pytest

from conftest import long_tasks, wait
from running import TALKING, eventually

STUDIO = """
[graph]
name = "studio"
links = ["tone -> quiet -> out", { from = "tone", to = "low", gain_db = -6 }, "low -> out.in_1", "lfo -> quiet.gain_db"]
[node.tone]
type = "tone"
level_db = -6
[node.quiet]
type = "gain"
[node.low]
type = "filter"
kind = "lowpass"
[node.lfo]
type = "lfo"
[node.out]
type = "output"
"""


def chains(nodes):
    """A graph of so many nodes: tones, and behind each a gain, a filter and a meter."""
    types = ['"gain"', '"filter"\nkind = "lowpass"', '"meter"']
    text, links = '[node.out]\ntype = "output"\n', []
    for place in range((nodes - 1) // 4):
        names = [f"tone{place}"] + [f"n{place}_{step}" for step in range(3)]
        for name, kind in zip(names, ['"tone"\nlevel_db = -12', *types]):
            text += f"[node.{name}]\ntype = {kind}\n"
        links.append(" -> ".join(names + ["out"]))
    return f'[graph]\nname = "chains"\nlinks = [{", ".join(f"{chr(34)}{link}{chr(34)}" for link in links)}]\n' + text


@pytest.fixture
def opened(run, open_page):
    def make(graph=STUDIO, right="owner", **options):
        host = run(graph)
        page = open_page(host.links[right] if right != "owner" else host.link, **options)
        wait(page, "document.body.innerText.includes('running')")
        page.get_by_role("navigation").get_by_role("link", name="Graph").click()
        page.locator(".pane .node").first.wait_for()
        return page, page.locator("#graph"), host

    return make


def links(host):
    return [f"{link['from']} -> {link['to']} {link['gain_db']:g}" for link in host.look("nodes")["links"]]


def node(host, name):
    return next(node for node in host.look("nodes")["nodes"] if node["name"] == name)


def middle(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def port(page, end):
    return page.locator(f"[data-end='{end}'] circle:not(.hit)")


def pull(page, start, end):
    """Pulls from one element over another, and holds."""
    page.mouse.move(*middle(start))
    page.mouse.down()
    page.mouse.move(*middle(end), steps=6)


def place(page):
    """Where the drawing is, and how large."""
    return page.evaluate("""() => { const m = document.querySelector('.pane > g').transform.baseVal.consolidate().matrix
      return { x: m.e, y: m.f, scale: m.a } }""")


SMALLEST = """() => Math.min(...[...document.querySelectorAll('.pane text')].filter(e => e.textContent && e.checkVisibility())
  .map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("nodes", [9, 21, 61])
def test_whatever_is_drawn_can_be_read_at_first_and_names_when_all_is_seen(opened, nodes, width):
    page, view, host = opened(chains(nodes), viewport={"width": width, "height": 844})
    assert page.evaluate("document.querySelectorAll('.pane .node').length") == nodes
    # As far as text is measured: half a tenth of a pixel less is nothing.
    assert page.evaluate(SMALLEST) >= 10.95
    assert view.locator(".map").is_visible() == (nodes >= 25)
    view.get_by_role("button", name="Fit the drawing").click()
    whole = """() => { const pane = document.querySelector('.pane').getBoundingClientRect()
      return [...document.querySelectorAll('.pane .node')].every(e => { const r = e.getBoundingClientRect()
        return r.left >= pane.left && r.right <= pane.right && r.top >= pane.top && r.bottom <= pane.bottom }) }"""
    eventually("all is in sight", lambda: page.evaluate(whole))
    assert view.locator(".map").is_hidden()
    if width == 1280 and nodes < 25:
        assert page.evaluate(SMALLEST) >= 10.95
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_boxes_tell_ports_type_level_load_and_what_is_done_to_them_in_words(opened):
    page, view, host = opened()
    box = view.get_by_role("button", name="tone, tone")
    for text in ("tone", "out", "-6 dB"):
        eventually(text, lambda: text in box.locator("text").all_text_contents())
    eventually("its load", lambda: any(text.endswith(" %") for text in box.locator("text").all_text_contents()))
    assert "-6 dB" in view.locator(".link .gain").all_text_contents()
    quiet = page.locator("[data-node=quiet]")
    host.call("mute", node="quiet")
    view.get_by_role("button", name="quiet, gain, muted").wait_for()
    assert quiet.locator(".badge").text_content() == "muted"
    host.call("mute", node="quiet", on=False)
    host.call("bypass", node="quiet")
    view.get_by_role("button", name="quiet, gain, bypassed").wait_for()
    host.call("bypass", node="quiet", on=False)
    eventually("no badge", lambda: quiet.locator(".badge").count() == 0)


def test_box_of_a_plugin_says_which_one_it_is(opened):
    page, view, host = opened('[graph]\nname = "rack"\nlinks = ["tone -> amp -> out"]\n[node.tone]\ntype = "tone"\n'
                              '[node.amp]\ntype = "lv2"\nplugin = "eg-amp"\n[node.out]\ntype = "output"\n')
    box = view.get_by_role("button", name="amp, lv2: Simple Amplifier")
    box.wait_for()
    text, frame = (box.locator(part).bounding_box() for part in (".type", ".box"))
    assert text["x"] >= frame["x"] and text["x"] + text["width"] <= frame["x"] + frame["width"], (text, frame)


def test_link_whose_level_is_not_known_looks_otherwise_than_a_silent_one(opened):
    page, view, host = opened()
    kinds = page.evaluate(f"""async () => {{ const {{ drawing }} = await import('{host.url}graph-drawing.js')
      const world = document.createElementNS('http://www.w3.org/2000/svg', 'g')
      document.querySelector('.pane').append(world)
      const peaks = {{ a: undefined, b: [0], c: [0.5] }}
      const drawn = drawing({{ parts: {{ node: () => ({{}}) }}, output: name => peaks[name] }}, world)
      const box = name => ({{ name, type: 't', x: 0, y: 0, width: 100, height: 80, inputs: [], outputs: [] }})
      const link = from => ({{ from, output: 'out', to: 'c', input: 'in', kind: 'audio', gain: 1, path: 'M0 0H10' }})
      drawn.draw({{ nodes: ['a', 'b', 'c'].map(box), links: ['a', 'b', 'c'].map(link) }})
      drawn.levels({{}})
      const style = e => {{ const s = getComputedStyle(e.querySelector('.wire')); return [s.strokeDasharray, s.stroke, s.strokeWidth].join() }}
      const found = [[...world.querySelectorAll('.link')].map(style),
        [...world.querySelectorAll('.node')].map(e => e.querySelector('.number').textContent)]
      world.remove()
      return found }}""")
    assert len(set(kinds[0])) == 3 and kinds[0][0].split(",")[0] != "none", kinds
    assert kinds[1] == ["", "silent", "-6 dB"]


def test_drawing_is_moved_and_zoomed_by_wheel_keys_buttons_and_dragging(opened):
    page, view, host = opened(chains(61))
    x, y = middle(view.locator(".pane"))
    first = place(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, 200)
    eventually("it is smaller", lambda: place(page)["scale"] < first["scale"])
    before = place(page)
    page.mouse.wheel(0, -200)
    eventually("it is larger", lambda: place(page)["scale"] > before["scale"])
    before = place(page)
    view.get_by_role("button", name="Zoom out").click()
    eventually("smaller by a button", lambda: place(page)["scale"] < before["scale"])
    for _ in range(4):
        view.get_by_role("button", name="Zoom in").click()
    pane = view.locator(".pane")
    pane.focus()
    before = place(page)
    page.keyboard.press("+")
    eventually("larger by a key", lambda: place(page)["scale"] > before["scale"])
    before = place(page)
    page.keyboard.press("ArrowRight")
    eventually("moved by a key", lambda: place(page)["x"] < before["x"])
    before = place(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 80, y - 40, steps=4)
    page.mouse.up()
    eventually("moved by dragging", lambda: place(page)["x"] <= before["x"] - 70 and place(page)["y"] <= before["y"] - 30)
    # What was dragged was not chosen.
    assert view.locator("#inspector").is_hidden()
    page.keyboard.press("0")
    eventually("all of it", lambda: place(page)["scale"] < 0.6)
    view.get_by_role("button", name="Zoom in").click()
    view.get_by_role("button", name="Zoom in").click()
    before = place(page)
    box = view.locator(".map").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    eventually("moved in the map", lambda: place(page)["x"] < before["x"] - 100)


def test_two_fingers_zoom(opened):
    page, view, host = opened(chains(21), viewport={"width": 390, "height": 844}, has_touch=True)
    before = place(page)
    view.locator(".pane").evaluate("""e => { const send = (type, id, x) => e.dispatchEvent(new PointerEvent(type, { pointerId: id,
        pointerType: 'touch', clientX: x, clientY: e.getBoundingClientRect().top + 200, bubbles: true }))
      e.setPointerCapture = () => {}
      send('pointerdown', 11, 150); send('pointerdown', 12, 190); send('pointermove', 12, 270); send('pointerup', 12, 270)
      send('pointerup', 11, 150) }""")
    eventually("three times as far apart", lambda: place(page)["scale"] == pytest.approx(min(3, 3 * before["scale"]), rel=0.05))


def test_node_that_is_chosen_is_shown_with_its_controls_and_links_until_escape(opened):
    page, view, host = opened()
    shown = view.locator("#inspector")
    view.get_by_role("button", name="quiet, gain").click()
    assert shown.get_attribute("aria-label") == "Node quiet"
    slider = shown.get_by_role("slider", name="gain_db of quiet")
    slider.press("Home")
    eventually("it is turned", lambda: host.look("get", node="quiet", parameter="gain_db")["value"] == -120)
    shown.get_by_text("About gain").click()
    assert shown.get_by_text("louder or quieter").is_visible()
    shown.get_by_role("button", name="mute").click()
    eventually("it is muted", lambda: node(host, "quiet")["mute"])
    # What was open stays open, and what had the focus keeps it.
    eventually("it is shown", lambda: shown.get_by_role("button", name="mute").get_attribute("aria-pressed") == "true")
    assert shown.get_by_text("louder or quieter").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "mute"
    gain = shown.get_by_label("Gain from quiet to out in dB")
    gain.fill("-9")
    gain.press("Enter")
    eventually("the link has it", lambda: "quiet -> out -9" in links(host))
    # Controls have no gain.
    assert shown.get_by_role("button", name="Unlink lfo from quiet.gain_db").is_visible()
    assert shown.get_by_label("Gain from lfo to quiet.gain_db in dB").count() == 0
    page.keyboard.press("Escape")
    assert shown.is_hidden() and page.evaluate("document.activeElement.dataset.node") == "quiet"
    # By keys: to the next box, and in.
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.node") == "out"
    page.keyboard.press("Enter")
    assert shown.get_attribute("aria-label") == "Node out" and page.evaluate("document.activeElement.ariaLabel") == "Close inspector"
    # What cannot be bypassed does not offer it.
    assert shown.get_by_role("button", name="mute").count() == 1 and shown.get_by_role("button", name="bypass").count() == 0
    host.call("remove", node="out")
    eventually("it is gone", lambda: shown.is_hidden())


def test_link_that_is_chosen_gets_a_gain_and_goes_by_a_key(opened):
    page, view, host = opened()
    shown = view.locator("#inspector")
    wire = view.locator(".link").filter(has=page.get_by_text("tone.out → low.in", exact=False))
    wire.locator(".hit").click(force=True)
    assert shown.get_attribute("aria-label") == "Link from tone to low"
    gain = shown.get_by_label("Gain from tone to low in dB")
    assert gain.input_value() == "-6"
    gain.fill("-12")
    gain.press("Enter")
    eventually("the host has it", lambda: "tone -> low -12" in links(host))
    eventually("it is drawn", lambda: "-12 dB" in view.locator(".link .gain").all_text_contents())
    # In a field the key is the field's own.
    gain.press("Delete")
    wire.locator(".hit").click(force=True)
    page.keyboard.press("Delete")
    eventually("it is unlinked", lambda: not any(link.startswith("tone -> low") for link in links(host)))
    eventually("nothing is chosen", lambda: shown.is_hidden())


def test_link_is_pulled_from_port_to_port_either_way_and_onto_a_box(opened):
    page, view, host = opened()
    pull(page, port(page, "quiet.out"), port(page, "low.in"))
    assert view.locator(".pulled").count() == 1 and view.locator(".pulled.refused").count() == 0
    assert view.locator(".fits").count() == 3
    page.mouse.up()
    eventually("it is linked", lambda: "quiet.out -> low.in 0" in links(host))
    page.get_by_text("Linked: quiet.out to low.in").wait_for()
    eventually("it is drawn", lambda: view.locator(".link").filter(has=page.get_by_text("quiet.out → low.in")).count())
    pull(page, port(page, "out.in_2"), port(page, "low.out"))
    page.mouse.up()
    eventually("it is linked", lambda: "low.out -> out.in_2 0" in links(host))
    # What others add is there, and the boxes that it moves are the same.
    page.evaluate("document.querySelector('[data-node=lfo]').marked = true")
    host.call("add", node={"name": "more", "type": "gain"})
    view.get_by_role("button", name="more, gain").wait_for()
    pull(page, port(page, "tone.out"), page.locator("[data-node=more] .name"))
    page.mouse.up()
    eventually("the only port that fits", lambda: "tone.out -> more.in 0" in links(host))
    eventually("it is drawn", lambda: view.locator(".link").filter(has=page.get_by_text("tone.out → more.in")).count())
    assert page.evaluate("document.querySelector('[data-node=lfo]').marked") is True
    # Where parameters have no ports, they are offered by name.
    pull(page, port(page, "lfo.out"), page.locator("[data-node=more] .name"))
    page.mouse.up()
    to = view.get_by_role("combobox", name="to", exact=True)
    eventually("it is proposed", lambda: to.is_visible() and to.input_value() == "more.gain_db")
    assert view.get_by_role("combobox", name="from").input_value() == "lfo.out"


def test_port_of_another_kind_is_refused_in_sight_and_in_words(opened):
    page, view, host = opened()
    before = links(host)
    pull(page, port(page, "tone.out"), port(page, "quiet.gain_db"))
    assert view.locator(".pulled.refused").count() == 1
    assert view.locator(".why").text_content() == "audio does not go into control"
    page.mouse.up()
    page.get_by_role("alert").filter(has_text="tone.out and quiet.gain_db cannot be linked").wait_for()
    page.get_by_role("alert").get_by_role("button", name="Close").click()
    pull(page, port(page, "tone.out"), port(page, "quiet.out"))
    assert view.locator(".why").text_content() == "both are outputs"
    # Escape gives it up.
    page.keyboard.press("Escape")
    page.mouse.up()
    assert view.locator(".pulled").count() == 0 and page.get_by_role("alert").filter(visible=True).count() == 0
    pull(page, port(page, "tone.out"), view.locator(".legend"))
    page.mouse.up()
    assert view.locator(".pulled").count() == 0 and links(host) == before


def test_operators_see_and_turn_and_link_nothing(opened):
    page, view, host = opened(right="operator")
    pull(page, port(page, "quiet.out"), port(page, "low.in"))
    assert view.locator(".pulled").count() == 0
    page.mouse.up()
    view.get_by_role("button", name="quiet, gain").click()
    shown = view.locator("#inspector")
    assert shown.get_by_role("slider").is_enabled() and shown.get_by_role("button", name="Unlink tone from quiet").is_disabled()
    page.keyboard.press("Escape")
    view.locator(".link").first.locator(".hit").click(force=True)
    page.keyboard.press("Delete")
    page.wait_for_timeout(300)
    assert len(links(host)) == 5


def test_types_are_grouped_and_found_by_other_names_and_go_into_the_chosen_link(opened):
    page, view, host = opened()
    kinds = view.get_by_role("listbox", name="type")
    groups = kinds.evaluate("""e => Object.fromEntries([...e.children].map(group => [group.label, [...group.children].map(o => o.value)]))""")
    for name, group in {"tone": "Sources", "gain": "Effects", "output": "Outputs", "meter": "Meters and recorders", "tts": "Speech and text",
                        "vad": "Speech and text", "lfo": "Control and MIDI", "echo": "Effects", "record": "Meters and recorders"}.items():
        assert name in groups[group], groups
    before = links(host)
    view.locator(".link").filter(has=page.get_by_text("tone.out → low.in", exact=False)).locator(".hit").click(force=True)
    view.get_by_role("button", name="Put a node between").click()
    assert page.evaluate("document.activeElement.ariaLabel") == "Search types"
    page.keyboard.type("volume")
    assert kinds.input_value() == "gain" and view.get_by_label("name", exact=True).input_value() == "gain"
    page.keyboard.press("Enter")
    eventually("it is between", lambda: {"tone -> gain -6", "gain -> low 0"} <= set(links(host)) and "tone -> low -6" not in links(host))
    page.get_by_text("Added: gain into tone -> low").wait_for()
    view.get_by_role("button", name="gain, gain").wait_for()
    # One step takes all of it back.
    view.get_by_role("button", name="Undo").click()
    eventually("as it was", lambda: links(host) == before)
    assert not any(node["name"] == "gain" for node in host.look("nodes")["nodes"])


def test_type_that_is_dropped_on_a_link_goes_into_it_and_elsewhere_stands_by_itself(opened):
    page, view, host = opened(viewport={"width": 1280, "height": 1100})
    kinds = view.get_by_role("listbox", name="type")
    kinds.select_option("gain")
    grip = view.get_by_text("Drag gain onto a link")
    wire = view.locator(".link").filter(has=page.get_by_text("tone.out → low.in", exact=False))
    grip.drag_to(wire.locator(".hit"), force=True)
    eventually("it is between", lambda: {"tone -> gain -6", "gain -> low 0"} <= set(links(host)) and "tone -> low -6" not in links(host))
    page.get_by_text("Added: gain into tone -> low").wait_for()
    assert view.locator(".over").count() == 0
    before = links(host)
    kinds.select_option("meter")
    view.get_by_text("Drag meter onto a link").drag_to(view.locator(".pane"), target_position={"x": 60, "y": 12})
    view.get_by_role("button", name="meter, meter").wait_for()
    assert links(host) == before
    # A type that needs a setting asks for it, and nothing is added before that is given.
    kinds.select_option("file")
    view.get_by_text("Drag file onto a link").drag_to(view.locator(".pane"), target_position={"x": 60, "y": 12})
    assert page.evaluate("document.activeElement.validity.valueMissing")
    assert not any(node["name"] == "file" for node in host.look("nodes")["nodes"])
    # What else is dragged over the drawing is none of its types.
    page.evaluate("""() => document.querySelector('.pane').dispatchEvent(new DragEvent('drop', { bubbles: true,
      cancelable: true, dataTransfer: new DataTransfer() }))""")
    page.wait_for_timeout(300)
    assert not any(node["name"] == "file2" for node in host.look("nodes")["nodes"]) and links(host) == before


def test_levels_of_sixty_nodes_change_what_changed_and_make_nothing_anew(opened):
    page, view, host = opened(chains(61))
    page.evaluate("""() => { window.seen = { made: 0, changed: 0 }
      new MutationObserver(list => { for (const { type, target, addedNodes } of list)
        if (type === 'attributes') seen.changed++
        else if ([...addedNodes].some(node => node.nodeType === 1)) seen.made++ })
        .observe(document.querySelector('.pane'), { subtree: true, childList: true, attributes: true }) }""")
    with long_tasks(page) as tasks:
        for level in (-20, -30):
            for place in range(15):
                host.call("set", node=f"tone{place}", parameter="level_db", value=level)
            eventually("it is shown", lambda: page.evaluate(
                "t => [...document.querySelectorAll('.number')].filter(e => e.textContent === t).length", f"{level} dB") >= 15)
    seen = page.evaluate("seen")
    assert seen["made"] == 0 and seen["changed"] > 30, seen
    assert tasks == []
    # A node that comes leaves the boxes that were there where they are in the page.
    page.evaluate("document.querySelector('[data-node=tone3]').marked = true")
    host.call("add", node={"name": "more", "type": "gain"})
    view.get_by_role("button", name="more, gain").wait_for()
    assert page.evaluate("document.querySelector('[data-node=tone3]').marked") is True


def test_talking_graph_is_drawn_with_all_kinds_where_colours_are_forced(opened):
    page, view, host = opened(TALKING, forced_colors="active")
    colors = page.evaluate("""() => ['.box', '.wire', '.badge rect'].map(s => document.querySelector('.pane ' + s))
      .filter(Boolean).map(e => getComputedStyle(e).stroke)""")
    assert len(colors) == 2 and len(set(colors)) == 1, colors
    assert view.locator(".legend").inner_text().split("\n") == ["message", "audio", "control", "level not known"]
