"""Modules of the operator's page, each without the others."""

from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import visit
from tests.fakes.arena import Arena

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# `drawn(graph, data)` shows data in the graph of `element`, and notes its `labels`.
NOTE_TEXTS = """const element = document.getElementById('main').appendChild(document.createElement('div'));
    Object.assign(element.style, { width: '400px', height: '60px' });
    const labels = [], { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
    prototype.fillText = function (text, ...place) {
        labels.push(text);
        fillText.call(this, text, ...place);
    };
    const drawn = async (graph, data) => {
        graph.show(data);
        await new Promise((done) => setTimeout(done));      // uPlot draws in a microtask
        prototype.fillText = fillText;
    };"""

# How wide the bars of a graph of these times are, and the labels of its axis.
BARS_AND_LABELS = f"""async (times) => {{
    const {{ colour }} = await import('/static/common/graph.js');
    const {{ makeTimeGraph }} = await import('/static/operator/plots.js');
    {NOTE_TEXTS}
    const graph = makeTimeGraph(element);
    await drawn(graph, [times.map((time, index) => 2 * index), times]);
    const canvas = element.querySelector('canvas');
    const {{ data }} = canvas.getContext('2d').getImageData(0, canvas.height / 2, canvas.width, 1);
    graph.destroy();
    const hex = (at) => '#' + [...data.slice(at, at + 3)].map((it) => it.toString(16).padStart(2, '0')).join('');
    const row = Array.from({{ length: canvas.width }}, (_, x) => (hex(4 * x) === colour('--accent') ? '#' : ' '));
    return [row.join('').trim().split(/ +/).map((bar) => bar.length), labels];
}}"""

# The labels of time of a graph of lines from one local moment to another.
LABELS_OF_TIME = f"""async (moments) => {{
    const {{ makeLineGraph }} = await import('/static/operator/plots.js');
    {NOTE_TEXTS}
    const graph = makeLineGraph(element, 1);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame().then(frame);      // a new graph is drawn again once its size has been observed
    await drawn(graph, [moments.map((moment) => new Date(moment) / 1000), [1500, 1600]]);
    graph.destroy();
    return labels.filter((label) => /[:a-z]/.test(label));
}}"""


def test_the_graph_of_times_draws_whole_bars_and_short_labels(browser: "Browser", arena: Arena, address: str) -> None:
    with visit(browser, f"http://{address}/") as page:
        widths, _ = page.page.evaluate(BARS_AND_LABELS, [1.0, 1.0, 1.0])
        _, labels = page.page.evaluate(BARS_AND_LABELS, [0.0001, 0.0003])
    assert (len(widths), len(set(widths))) == (3, 1), widths
    assert labels
    assert all(len(label) <= len("0.05 s") for label in labels), labels


def test_a_graph_of_lines_names_times_days_or_months(browser: "Browser", arena: Arena, address: str) -> None:
    wanted = {
        ("2026-01-01T06:00", "2026-01-01T12:00"): "06:00, 08:00, 10:00, 12:00",
        ("2026-01-01T06:00", "2026-01-03T12:00"): "12:00, 2 Jan, 12:00, 3 Jan, 12:00",
        ("2025-12-30T00:00", "2026-01-03T12:00"): "30 Dec, 31 Dec, 1 Jan, 2 Jan, 3 Jan",
        ("2026-01-01T00:00", "2026-12-20T00:00"): "Jan 2026, Apr 2026, Jul 2026, Oct 2026",
        ("2022-12-20T00:00", "2026-01-20T00:00"): "Jan 2023, Jan 2024, Jan 2025, Jan 2026",
    }
    with visit(browser, f"http://{address}/") as page:
        found = {span: ", ".join(page.page.evaluate(LABELS_OF_TIME, list(span))) for span in wanted}
    assert found == wanted


def test_moves_are_numbered_as_the_position_says(browser: "Browser", arena: Arena, address: str) -> None:
    starts = {
        "": "1. 1… 2.", "w - - 0 12": "12. 12… 13.", "b - - 5 40": "40… 41. 41…",
        "w - - 3+3 0 7": "7. 7… 8.", "b KQkq e3 0 7 +0+0": "7… 8. 8…",
    }  # fmt: skip
    script = """async (rest) => {
        const { numbered } = await import('/static/operator/words.js');
        return [1, 2, 3].map((ply) => numbered({ ply, san: '' }, rest && `4k3/8/8/8/8/8/4P3/4K3 ${rest}`).trim());
    }"""
    with visit(browser, f"http://{address}/") as page:
        assert {rest: " ".join(page.page.evaluate(script, rest)) for rest in starts} == starts


def test_a_clock_changes_the_page_only_with_its_text(browser: "Browser", arena: Arena, address: str) -> None:
    script = """async () => {
        const { setClock } = await import('/static/common/clock.js');
        const element = document.getElementById('main').appendChild(document.createElement('span'));
        const texts = [];
        new MutationObserver(() => texts.push(element.textContent)).observe(element, { childList: true });
        setClock(element, 500.9, true, {});
        await new Promise((done) => setTimeout(done, 1500));
        return texts;
    }"""
    with visit(browser, f"http://{address}/") as page:
        texts = page.page.evaluate(script)
    assert texts[:2] == ["8:20", "8:19"]
    assert len(texts) == len(set(texts)), "no layout is made anew for the same text"
