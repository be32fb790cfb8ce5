// A map of features: one point each, drawn pixel by pixel so that 20,000 of them follow the hand on any machine.
// The kernel sends places (float32), codes of colours (uint8) and names only of what is asked for.

function render({ model, el }) {
  el.classList.add("diffnb-map");
  const tools = document.createElement("div");
  tools.className = "diffnb-tools";
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", "Map tools");
  const stage = document.createElement("div");
  stage.className = "diffnb-stage";
  const canvas = document.createElement("canvas");
  const overlay = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  overlay.tabIndex = 0;
  overlay.className = "diffnb-overlay";
  overlay.setAttribute("role", "img");
  const tip = document.createElement("div");
  tip.className = "diffnb-tip";
  tip.hidden = true;
  const said = document.createElement("div");
  said.className = "diffnb-said";
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  const legend = document.createElement("div");
  legend.className = "diffnb-legend";
  stage.append(canvas, overlay, tip);
  el.append(tools, stage, legend, said);

  const ink = canvas.getContext("2d");
  const over = overlay.getContext("2d");
  const names = new Map();
  let points = new Float32Array(0), codes = new Uint8Array(0), colors = new Uint8Array(0), shapes = new Uint8Array(0);
  let selection = new Uint8Array(0), nSelected = 0, order = new Uint32Array(0), steps = new Uint32Array(0);
  let bounds = [-1, 1, -1, 1];
  let view = { zoom: 1, x: 0, y: 0 };
  let mode = "pan", drag = null, lasso = null, hovered = -1, focused = -1;
  let width = 0, height = 0, ratio = 1, image = null, pixels = null, frame = 0;
  // for whoever measures: how often it was drawn, and how long the last time took
  el.diffnbDraws = { count: 0, ms: 0 };

  const panButton = button("Pan", "Drag to move the map", tools, () => setMode("pan"));
  const lassoButton = button("Lasso", "Drag around features to select them", tools, () => setMode("lasso"));
  button("+", "Zoom in", tools, () => zoomAt(1.4));
  button("−", "Zoom out", tools, () => zoomAt(1 / 1.4));
  button("Show all", "Fit all features into view", tools, () => fit());
  button("Clear selection", "Select nothing", tools, () => select(new Uint8Array(selection.length)));
  const counted = document.createElement("span");
  counted.className = "diffnb-hint";
  tools.append(counted);

  function setMode(next) {
    mode = next;
    panButton.setAttribute("aria-pressed", String(mode === "pan"));
    lassoButton.setAttribute("aria-pressed", String(mode === "lasso"));
    overlay.style.cursor = mode === "lasso" ? "crosshair" : "grab";
  }

  // ---- places ----
  const span = () => [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  function toPixel(x, y) {
    const [w, h] = span();
    const u = (x - bounds[0]) / (bounds[1] - bounds[0]) - 0.5 - view.x;
    const v = (y - bounds[2]) / (bounds[3] - bounds[2]) - 0.5 - view.y;
    return [MARGIN.left + w * (0.5 + u * view.zoom), MARGIN.top + h * (0.5 - v * view.zoom)];
  }
  function toData(px, py) {
    const [w, h] = span();
    const u = ((px - MARGIN.left) / w - 0.5) / view.zoom + view.x + 0.5;
    const v = (0.5 - (py - MARGIN.top) / h) / view.zoom + view.y + 0.5;
    return [bounds[0] + u * (bounds[1] - bounds[0]), bounds[2] + v * (bounds[3] - bounds[2])];
  }
  function fit() {
    view = { zoom: 1, x: 0, y: 0 };
    schedule();
  }
  function zoomAt(factor, px = MARGIN.left + span()[0] / 2, py = MARGIN.top + span()[1] / 2) {
    const [w, h] = span();
    const zoom = Math.min(400, Math.max(0.5, view.zoom * factor));
    const u = (px - MARGIN.left) / w - 0.5, v = 0.5 - (py - MARGIN.top) / h;
    view = { zoom, x: view.x + u / view.zoom - u / zoom, y: view.y + v / view.zoom - v / zoom };
    schedule();
  }
  function panBy(dx, dy) {
    const [w, h] = span();
    view = { ...view, x: view.x - dx / w / view.zoom, y: view.y + dy / h / view.zoom };
    schedule();
  }

  // ---- drawing ----
  function schedule() {
    if (!frame) frame = requestAnimationFrame(draw);
  }
  function sort() {
    order = byCode(codes);
    steps = fromLeft(points);
  }
  function draw() {
    frame = 0;
    if (!width || !height) return;
    const began = performance.now();
    drawPoints();
    drawOver();
    el.diffnbDraws = { count: el.diffnbDraws.count + 1, ms: performance.now() - began };
  }
  function drawPoints() {
    const n = points.length / 2;
    const [w, h] = span();
    const kx = (w * view.zoom * ratio) / (bounds[1] - bounds[0]), ky = (h * view.zoom * ratio) / (bounds[3] - bounds[2]);
    const ox = (MARGIN.left + w * (0.5 - (0.5 + view.x) * view.zoom)) * ratio - bounds[0] * kx;
    const oy = (MARGIN.top + h * (0.5 + (0.5 + view.y) * view.zoom)) * ratio + bounds[2] * ky;
    const radius = (n > 5000 ? 2.1 : n > 1000 ? 2.8 : 3.8) * ratio * Math.min(2, view.zoom ** 0.25);
    pixels.fill(0);
    paint(image, { points, codes, colors, shapes, order, selection, nSelected }, { kx, ky, ox, oy, radius });
    ink.putImageData(image, 0, 0);
  }
  function drawOver() {
    const style = getComputedStyle(el);
    const text = style.color, page = style.getPropertyValue("--diffnb-page").trim() || "#fff";
    over.setTransform(ratio, 0, 0, ratio, 0, 0);
    over.clearRect(0, 0, width, height);
    over.font = "12px " + (style.fontFamily || "sans-serif");
    over.fillStyle = over.strokeStyle = text;
    over.lineWidth = 1;
    const [w, h] = span();
    const [left, bottom] = toData(MARGIN.left, MARGIN.top + h), [right, top] = toData(MARGIN.left + w, MARGIN.top);
    over.globalAlpha = 0.85;
    over.textAlign = "center";
    over.textBaseline = "top";
    for (const v of niceTicks(left, right, w / 90)) {
      const [px] = toPixel(v, 0);
      over.fillText(written(v), px, MARGIN.top + h + 5);
    }
    over.textAlign = "right";
    over.textBaseline = "middle";
    for (const v of niceTicks(bottom, top, h / 60)) {
      const [, py] = toPixel(0, v);
      over.fillText(written(v), MARGIN.left - 6, py);
    }
    over.globalAlpha = 0.35;
    over.beginPath();
    over.rect(MARGIN.left, MARGIN.top, w, h);
    const [zx, zy] = toPixel(0, 0);
    if (zx > MARGIN.left && zx < MARGIN.left + w) { over.moveTo(zx, MARGIN.top); over.lineTo(zx, MARGIN.top + h); }
    if (zy > MARGIN.top && zy < MARGIN.top + h) { over.moveTo(MARGIN.left, zy); over.lineTo(MARGIN.left + w, zy); }
    over.stroke();
    over.globalAlpha = 1;
    const [xName, yName] = model.get("axes");
    over.textAlign = "center";
    over.textBaseline = "bottom";
    over.fillText(xName || "", MARGIN.left + w / 2, height - 1);
    over.save();
    over.translate(10, MARGIN.top + h / 2);
    over.rotate(-Math.PI / 2);
    over.textBaseline = "middle";
    over.fillText(yName || "", 0, 0);
    over.restore();
    drawNames(text, page, w, h);
    for (const i of [hovered, focused]) if (i >= 0) ring(over, toPixel(points[2 * i], points[2 * i + 1]), text);
    if (lasso && lasso.length > 1) {
      over.beginPath();
      lasso.forEach(([x, y], k) => (k ? over.lineTo(x, y) : over.moveTo(x, y)));
      over.closePath();
      over.globalAlpha = 0.12;
      over.fill();
      over.globalAlpha = 1;
      over.setLineDash([4, 3]);
      over.stroke();
      over.setLineDash([]);
    }
  }
  function drawNames(text, page, w, h) {
    const taken = [];
    over.textAlign = "left";
    over.textBaseline = "middle";
    over.lineJoin = "round";
    for (const [i, name] of model.get("labels")) {
      const [px, py] = toPixel(points[2 * i], points[2 * i + 1]);
      if (!(px > MARGIN.left && px < MARGIN.left + w && py > MARGIN.top && py < MARGIN.top + h)) continue;
      const short = name.length > 22 ? name.slice(0, 13) + "…" + name.slice(-8) : name;
      const long = over.measureText(short).width;
      const x = px + 8 + long > MARGIN.left + w ? px - 8 - long : px + 8;
      const box = [x, py - 7, x + long, py + 7];
      if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) continue;
      taken.push(box);
      over.lineWidth = 3;
      over.strokeStyle = page;
      over.strokeText(short, x, py);
      over.fillStyle = text;
      over.fillText(short, x, py);
    }
    over.lineWidth = 1;
    over.strokeStyle = over.fillStyle = text;
  }
  // ---- names ----
  function nearest(px, py) {
    let best = -1, least = 100;
    const [w, h] = span();
    const kx = (w * view.zoom) / (bounds[1] - bounds[0]), ky = (h * view.zoom) / (bounds[3] - bounds[2]);
    const [x, y] = toData(px, py);
    for (let i = 0; i < points.length / 2; i++) {
      const dx = (points[2 * i] - x) * kx, dy = (points[2 * i + 1] - y) * ky, d = dx * dx + dy * dy;
      if (d <= least) { least = d; best = i; }
    }
    return best;
  }
  function ask(i) {
    if (i >= 0 && !names.has(i)) {
      names.set(i, "");
      model.send({ ask: "name", index: i });
    }
  }
  function showTip() {
    const i = hovered >= 0 ? hovered : focused;
    tip.hidden = i < 0 || !names.get(i);
    if (tip.hidden) return;
    tip.textContent = names.get(i);
    const [px, py] = toPixel(points[2 * i], points[2 * i + 1]);
    tip.style.left = `${Math.min(px + 12, width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${Math.max(0, py - 30)}px`;
  }
  function hover(i) {
    if (i === hovered) return;
    hovered = i;
    ask(i);
    showTip();
    schedule();
  }
  function focusOn(i) {
    focused = i;
    ask(i);
    showTip();
    if (names.get(i)) said.textContent = names.get(i);
    schedule();
  }
  function onMessage(content) {
    if (content.answer !== "name") return;
    names.set(content.index, content.text);
    if (names.size > 5000) names.delete(names.keys().next().value);
    showTip();
    if (content.index === focused) said.textContent = content.text;
  }

  // ---- selection ----
  function select(mask) {
    model.set("selection", new DataView(mask.buffer));
    model.save_changes();
    takeSelection(mask);
  }
  function takeSelection(mask) {
    selection = mask;
    nSelected = 0;
    for (let i = 0; i < points.length / 2; i++) nSelected += isSet(mask, i) || 0;
    counted.textContent = nSelected ? `${nSelected} selected` : "";
    schedule();
  }
  function selectWithin(polygon, keep) {
    const mask = new Uint8Array(Math.ceil(points.length / 16));
    if (keep) mask.set(selection.subarray(0, mask.length));
    const xs = polygon.map((p) => p[0]), ys = polygon.map((p) => p[1]);
    const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < points.length / 2; i++) {
      const [x, y] = toPixel(points[2 * i], points[2 * i + 1]);
      if (x >= box[0] && x <= box[1] && y >= box[2] && y <= box[3] && inside(polygon, x, y)) mask[i >> 3] |= 1 << (i & 7);
    }
    select(mask);
  }
  function toggle(i) {
    const mask = new Uint8Array(Math.ceil(points.length / 16));
    mask.set(selection.subarray(0, mask.length));
    mask[i >> 3] ^= 1 << (i & 7);
    select(mask);
  }

  // ---- hands and keys ----
  overlay.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    overlay.focus({ preventScroll: true });
    overlay.setPointerCapture(event.pointerId);
    const at = [event.offsetX, event.offsetY];
    drag = { from: at, at, moved: false, lasso: mode === "lasso" || event.shiftKey };
    if (drag.lasso) lasso = [at];
  });
  overlay.addEventListener("pointermove", (event) => {
    const at = [event.offsetX, event.offsetY];
    if (!drag) return hover(nearest(...at));
    drag.moved ||= Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) > 3;
    if (drag.lasso) {
      const last = lasso[lasso.length - 1];
      if (Math.hypot(at[0] - last[0], at[1] - last[1]) > 2) lasso.push(at);
      schedule();
    } else if (drag.moved) {
      panBy(at[0] - drag.at[0], at[1] - drag.at[1]);
    }
    drag.at = at;
  });
  overlay.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { moved, lasso: drawn } = drag;
    const polygon = lasso;
    drag = lasso = null;
    if (drawn && moved && polygon.length > 2) selectWithin(polygon, event.ctrlKey || event.metaKey);
    else if (!moved) {
      const i = nearest(event.offsetX, event.offsetY);
      if (i >= 0) toggle(i);
    }
    schedule();
  });
  overlay.addEventListener("pointercancel", () => { drag = lasso = null; schedule(); });
  overlay.addEventListener("pointerleave", () => hover(-1));
  overlay.addEventListener("blur", () => { focused = -1; showTip(); schedule(); });
  overlay.addEventListener("wheel", (event) => {
    // a page must stay scrollable: the wheel zooms where the map has the focus
    if (document.activeElement !== overlay && !el.getRootNode().activeElement?.isSameNode(overlay) && !event.ctrlKey) return;
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY * 0.002), event.offsetX, event.offsetY);
  }, { passive: false });
  const step = (by) => {
    if (!steps.length) return;
    const at = steps.indexOf(focused);
    focusOn(steps[at < 0 ? (by > 0 ? 0 : steps.length - 1) : (at + by + steps.length) % steps.length]);
  };
  const keys = {
    ArrowLeft: () => panBy(40, 0), ArrowRight: () => panBy(-40, 0), ArrowUp: () => panBy(0, 40), ArrowDown: () => panBy(0, -40),
    "+": () => zoomAt(1.4), "=": () => zoomAt(1.4), "-": () => zoomAt(1 / 1.4), 0: () => fit(), n: () => step(1), p: () => step(-1),
    " ": () => focused >= 0 && toggle(focused), Enter: () => focused >= 0 && toggle(focused),
    Escape: () => { drag = lasso = null; select(new Uint8Array(selection.length)); },
  };
  overlay.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has keys of its own
    act();
  });

  // ---- the kernel's side ----
  function takePoints() {
    points = floats(model.get("points"));
    names.clear();
    hovered = focused = -1;
    bounds = boundsOf(points);
    sort();
    overlay.setAttribute("aria-label", `Map of ${points.length / 2} features. ${HELP}`);
    overlay.title = "";
    takeSelection(bytes(model.get("selection")));
    fit();
  }
  function takeColors() {
    codes = bytes(model.get("codes"));
    colors = bytes(model.get("colors"));
    shapes = bytes(model.get("shapes"));
    names.clear();
    sort();
    writeLegend(legend, model.get("legend"), colors);
    schedule();
  }
  function resize() {
    const box = stage.getBoundingClientRect();
    if (!box.width || !box.height) return;
    width = box.width;
    height = box.height;
    ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const c of [canvas, overlay]) {
      c.width = Math.round(width * ratio);
      c.height = Math.round(height * ratio);
    }
    image = ink.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(image.data.buffer);
    draw();
  }

  const watch = {
    "change:points": takePoints,
    "change:codes": takeColors,
    "change:colors": takeColors,
    "change:legend": takeColors,
    "change:axes": schedule,
    "change:labels": schedule,
    "change:selection": () => takeSelection(bytes(model.get("selection"))),
    "msg:custom": onMessage,
  };
  for (const [event, act] of Object.entries(watch)) model.on(event, act);
  setMode("pan");
  takePoints();
  takeColors();
  const sizes = new ResizeObserver(resize);
  sizes.observe(stage);
  const themes = new MutationObserver(() => setTimeout(schedule, 350));
  themes.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-name", "data-jp-theme-light"] });
  return () => {
    sizes.disconnect();
    themes.disconnect();
    cancelAnimationFrame(frame);
    for (const [event, act] of Object.entries(watch)) model.off(event, act);
  };
}

export default { render };
