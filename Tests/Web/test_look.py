# SPDX-License-Identifier: Apache-2.0
"""What [web] says of texts, theme, logo and state holds on the page and in elements of other pages."""



import os

import pytest

from conftest import state, wait
from running import TALKING, Running, eventually

LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path fill="#c0ffee" d="M0 0h9v9H0z"/></svg>'
WEB = '[web]\nlogo = "logo.svg"\ntheme = "dark"\ntexts = { start = "Ask me", message = "Your question" }\n'


@pytest.fixture
def logo(tmp_path):
    """The file beside the graph."""
    (tmp_path / "logo.svg").write_text(LOGO)
    return tmp_path / "logo.svg"


def web(logo, more=""):
    return TALKING + WEB.replace("logo.svg", str(logo)) + more


def launcher(page):
    return page.locator("voice-graph [part~=launcher]")


def scheme(page):
    return page.evaluate("getComputedStyle(document.querySelector('voice-graph').shadowRoot.lastChild).colorScheme")


def test_an_element_elsewhere_looks_as_the_host_says(element, logo):
    page, host = element(graph=web(logo))
    state(page, "collapsed")
    assert launcher(page).inner_text() == "Ask me" and scheme(page) == "dark"
    image = launcher(page).locator("img")
    eventually("the logo is there", lambda: image.evaluate("i => i.complete && i.naturalWidth") == 9)
    assert image.get_attribute("src") == host.url + "logo" and image.bounding_box()["width"] == 32
    launcher(page).click()
    state(page, "expanded")
    assert page.locator("voice-graph [part~=input]").get_attribute("placeholder") == "Your question"


def test_what_the_page_says_itself_goes_first(element, logo):
    page, _ = element('theme="light" label-start="Talk"', graph=web(logo))
    state(page, "collapsed")
    assert launcher(page).inner_text() == "Talk" and scheme(page) == "light"
    page.evaluate("document.querySelector('voice-graph').labels = { start: 'Speak', message: 'Type' }")
    assert launcher(page).inner_text() == "Talk"
    page.evaluate("document.querySelector('voice-graph').removeAttribute('label-start')")
    assert launcher(page).inner_text() == "Speak"


def test_a_conversation_begins_by_itself_where_it_is_to(element, logo):
    page, _ = element(graph=web(logo, 'state = "expanded"\n'))
    state(page, "expanded")
    page.evaluate("document.querySelector('voice-graph').end()")
    state(page, "collapsed")


def test_the_page_has_theme_and_logo_until_its_user_chooses(run, open_page, logo):
    host = run(web(logo))
    page = open_page(host.link)
    wait(page, "document.documentElement.dataset.theme === 'dark'")
    assert page.locator("header img").get_attribute("src") == "logo"
    page.select_option("#theme", "light")
    page.reload()
    wait(page, "document.body.innerText.includes('running')")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert host.look("look")["texts"] == {"start": "Ask me", "message": "Your question"}


@pytest.mark.parametrize("line,told", [
    ('texts = { strat = "x" }', "there is no word 'strat'"), ('logo = "nothing.svg"', "cannot read"),
    ('logo = "graph.conf"', "no SVG, PNG, JPEG or WebP"), ('theme = "drak"', "did you mean 'dark'?"),
    ('state = 1', "not a whole number"), ('texts = "x"', "'texts' must be a table"),
])
def test_what_cannot_be_is_refused_before_anything_sounds(tmp_path, line, told):
    with pytest.raises(AssertionError) as refused:
        Running(tmp_path / "run", TALKING + "[web]\n" + line + "\n")
    assert told in str(refused.value)


def test_a_logo_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "logo.png")
    with pytest.raises(AssertionError, match="is no file"):
        Running(tmp_path / "run", TALKING + f'[web]\nlogo = "{tmp_path / "logo.png"}"\n')


def test_every_word_of_the_element_can_be_said_otherwise(run, open_page):
    page = open_page(run().link)
    words = page.evaluate("import('/words.js').then(({ words }) => Object.keys(words))")
    texts = ", ".join(f'{word} = "{number}"' for number, word in enumerate(words))
    assert run(TALKING + "[web]\ntexts = { " + texts + " }\n").look("look")["texts"] == {
        word: str(number) for number, word in enumerate(words)}
