# SPDX-License-Identifier: Apache-2.0
"""Whatever text comes to a page, from whomever, is text there."""

from conftest import state, wait
from live import Live
from running import TALKING, eventually

VIEWS = ["Talk", "Recorder", "Transcripts", "Meters", "Nodes", "Graph", "Health"]
MARKUP = [
    "<img src=x onerror=\"window.evil=1\">", "<script>window.evil=1</script>", "<svg onload=window.evil=1>",
    "\"><img src=x onerror=window.evil=1>", "' onmouseover='window.evil=1", "javascript:window.evil=1",
    "${window.evil=1}{{window.evil=1}}", "<iframe srcdoc='<script>parent.evil=1</script>'></iframe>",
    "<style>*{display:none}</style>", "</textarea></style></script><b id=evil>", "<a href=javascript:evil=1>x</a>", "&lt;b&gt; &amp;",
]
# What the element and the page may be made of beside what they are made of now.
STRANGE = """() => { const found = []; const look = root => { for (const e of root.querySelectorAll('*')) {
    if (['SCRIPT', 'IFRAME', 'STYLE', 'OBJECT', 'EMBED', 'BASE'].includes(e.tagName) && !e.src?.endsWith('/page.js')) found.push(e.outerHTML)
    if (e.tagName === 'IMG' && !e.src.endsWith('/icon.svg')) found.push(e.outerHTML)
    if (e.tagName === 'A' && !/^(#|embed.html$)/.test(e.getAttribute('href'))) found.push(e.outerHTML)
    for (const { name } of e.attributes) if (name.startsWith('on') || name === 'style' && !e.closest('svg, .meter, voice-graph, #graph')) found.push(name)
    if (e.id === 'evil') found.push(e.outerHTML)
    if (e.shadowRoot) look(e.shadowRoot) } }
  look(document); return found }"""


def seen(page, text):
    """Whether a text is shown as it is."""
    return page.evaluate("""text => { const look = root => root.textContent.includes(text) ||
        [...root.querySelectorAll('*')].some(e => e.shadowRoot && look(e.shadowRoot) || e.value === text)
      return look(document.body) }""", text)


def walk(page):
    """Goes through all views, and looks for what should not be there."""
    for view in VIEWS:
        page.get_by_role("navigation").get_by_role("link", name=view).click()
        wait(page, "v => !document.getElementById(v).hidden", view.lower())
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")
        assert page.evaluate(STRANGE) == [], view
    assert page.evaluate("window.evil") is None


# Who answers says again what it was told, as a model may.
ECHOING = """
[graph]
name = "echoing"
[node.agent]
type = "agent"
keep = true
backend = "command"
command = ["sh", "-c", "while read -r line; do printf '%s\\\\n\\\\n' \\"$line\\"; done"]
[node.tone]
type = "tone"
"""


def test_what_is_said_and_answered_is_text(run, open_page):
    host = run(ECHOING)
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    state(page, "transcript", "#conversation")
    conversation = page.locator("#conversation")
    for count, text in enumerate(MARKUP, 1):
        page.get_by_role("textbox", name="Message").fill(text)
        page.keyboard.press("Enter")
        eventually("it is answered", lambda: conversation.locator("[part~=agent-bubble]").all_inner_texts()[count - 1:] == [text])
        eventually("it is over", lambda: len(host.events("agent.final")) == count)
    assert conversation.locator("[part~=user-bubble]").all_inner_texts() == MARKUP
    assert page.evaluate(STRANGE) == []
    page.get_by_role("navigation").get_by_role("link", name="Transcripts").click()
    for text in MARKUP:
        eventually("it is kept and shown", lambda: text in page.locator("#items p").all_inner_texts())
    # What is searched is words, whatever it means to an archive.
    for text in MARKUP:
        page.fill("#words", text)
        eventually("it is found", lambda: text in page.locator("#items p").all_inner_texts())
    assert not page.get_by_role("alert").filter(visible=True).count()
    walk(page)


def test_names_with_markup_are_refused_or_shown_as_they_are(run, open_page):
    name = "<img src=x onerror=evil=1>"
    host = run(TALKING.replace('name = "talking"', f"name = '{name}'").replace('speaker = "assistant"', f"speaker = '{name}'"))
    host.call("do", node="agent", action="send", arguments={"text": "hello"})
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    eventually("the name is shown", lambda: seen(page, name) and page.title() == name)
    for node in ({"name": name, "type": "gain"}, {"name": "x", "type": name}, {"name": "x", "type": "gain", name: 1}):
        status, answer = host.ask("api/add", {"node": node})
        assert status == 400, answer
    # A user who types it is told so, in words.
    page.get_by_role("navigation").get_by_role("link", name="Graph").click()
    graph = page.locator("#graph")
    graph.get_by_role("listbox", name="type").select_option("gain")
    graph.get_by_label("name", exact=True).fill(name)
    graph.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("alert").filter(has_text="<img").wait_for()
    walk(page)


def test_words_of_an_element_are_text(element):
    attributes = " ".join(f"label-{word}=\"<img src=x onerror='window.evil=1'>\"" for word in (
        "start", "loading", "connecting", "idle", "thinking", "waiting", "message", "empty"))
    page, host = element(attributes + " visualizer='<b>' preset='<i>' mode='widget'")
    state(page, "collapsed")
    page.evaluate("document.querySelector('voice-graph').start()")
    state(page, "expanded")
    page.locator("voice-graph [part~=toggle]").click()
    state(page, "transcript")
    assert page.locator("voice-graph img, voice-graph b, voice-graph i").count() == 0
    assert page.evaluate("window.evil") is None


def test_text_of_a_million_letters_or_of_odd_ones_breaks_nothing(run, open_page):
    host = run()
    page = open_page(host.link)
    wait(page, "document.body.innerText.includes('running')")
    live = Live(host)
    odd = "\u202e\u2066 abc \u0007 \U0001f468\u200d\U0001f469\u200d\U0001f467 e" + "\u0301" * 200
    for text in (odd, "w" * 40_000):
        assert live.call("do", node="agent", action="send", arguments={"text": text})["ok"]
    eventually("it is there", lambda: page.locator("#conversation [part~=user-bubble]").filter(has_text="wwww").count())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    walk(page)
    live.close()
