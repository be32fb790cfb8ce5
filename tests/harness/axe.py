"""Checks of accessibility by axe-core, as lab/package.json installs it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

SCRIPT = Path(__file__).resolve().parents[2] / "lab" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
RUN = """async ([selector, levels]) => {
    const found = await window.axe.run(selector, { resultTypes: ['violations'] });
    const serious = found.violations.filter(v => levels.includes(v.impact));
    const findings = serious.flatMap(v => v.nodes.map(node => `${v.id}: ${node.html.slice(0, 160)}`));
    return { findings, n_passed: found.passes.length };
}"""


def findings(page: Page, selector: str) -> list[str]:
    """Return serious findings within an element; to find nothing that a rule applies to is an error."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    found = page.evaluate(RUN, [selector, SERIOUS])
    if not found["n_passed"]:
        raise ValueError(f"no rule of axe applies to {selector!r}")
    return found["findings"]
