"""Contrast of text against what is painted behind it, as WCAG 2 defines it."""

from __future__ import annotations

from playwright.sync_api import Locator

# disabled controls are exempt in WCAG, and text on a picture cannot be judged from styles
MEASURE = """root => {
    const parse = text => {
        const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
        return [r, g, b, a];
    };
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
    const background = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            layers.push(colour);
            if (colour[3] === 1) break;
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
    };
    const luminance = rgb => {
        const [r, g, b] = rgb.map(c => c / 255).map(c => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const worst = { ratio: 21, text: '' };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode.textContent.trim();
        const element = walker.currentNode.parentElement;
        if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (element.closest('[disabled], [aria-disabled=true], script, style, svg, option')) continue;
        const behind = background(element);
        const front = over(parse(getComputedStyle(element).color), behind);
        const [low, high] = [luminance(front), luminance(behind)].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < worst.ratio) Object.assign(worst, { ratio, text });
    }
    return [worst.ratio, worst.text];
}"""


def worst_contrast(locator: Locator) -> tuple[float, str]:
    """Return the smallest contrast ratio of the visible text in an element, and the text that has it."""
    ratio, text = locator.evaluate(MEASURE)
    return float(ratio), str(text)
