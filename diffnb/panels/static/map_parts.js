// What the map of features is drawn with: markers, pixels, orders, ticks, legend. Read before feature_map.js.

const NO_VALUE = 255;
const MARGIN = { left: 62, right: 14, top: 12, bottom: 34 };
const HELP =
  "Drag to pan, Shift and drag (or Lasso) to select. Keys: arrows pan, + and − zoom, 0 shows all, " +
  "n and p step through features, Space selects, Escape clears.";

function button(text, title, parent, onClick) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "diffnb-button";
  made.textContent = text;
  made.title = title;
  if (text.length === 1) made.setAttribute("aria-label", title);
  made.addEventListener("click", onClick);
  parent.append(made);
  return made;
}

// coverage of a marker around its centre: disc, square, triangle, diamond
function stamp(shape, radius) {
  const reach = Math.ceil(radius + 0.5);
  const dx = [], dy = [], cover = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      let distance;
      if (shape === 1) distance = Math.max(Math.abs(x), Math.abs(y)) * 1.13;
      else if (shape === 2) distance = Math.max(Math.abs(x) * 1.5 - y * 0.75, y * 1.5) * 0.8 + radius * 0.05;
      else if (shape === 3) distance = (Math.abs(x) + Math.abs(y)) * 0.8;
      else distance = Math.hypot(x, y);
      const share = Math.min(1, Math.max(0, radius + 0.5 - distance));
      if (share > 0.02) { dx.push(x); dy.push(y); cover.push(share); }
    }
  }
  return { dx, dy, cover, length: dx.length };
}

const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const isSet = (mask, i) => (mask[i >> 3] >> (i & 7)) & 1;

function floats(view) {
  // a buffer from the wire need not begin at a multiple of four
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

function niceTicks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) ticks.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return ticks;
}

const written = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

// around the feature under the pointer, or the one that keys have come to
function ring(over, [px, py], color) {
  over.strokeStyle = color;
  over.lineWidth = 2;
  over.beginPath();
  over.arc(px, py, 7, 0, 2 * Math.PI);
  over.stroke();
  over.lineWidth = 1;
}

// features in the order in which they are drawn: those without a group lie under the others
function byCode(codes) {
  const n = codes.length, starts = new Uint32Array(257), order = new Uint32Array(n);
  for (let i = 0; i < n; i++) starts[((codes[i] + 1) & 255) + 1]++;
  for (let i = 0; i < 256; i++) starts[i + 1] += starts[i];
  for (let i = 0; i < n; i++) order[starts[(codes[i] + 1) & 255]++] = i;
  return order;
}

// features in the order in which keys step through them
function fromLeft(points) {
  const there = [];
  for (let i = 0; i < points.length / 2; i++) if (isFinite(points[2 * i]) && isFinite(points[2 * i + 1])) there.push(i);
  return Uint32Array.from(there).sort((a, b) => points[2 * a] - points[2 * b] || points[2 * a + 1] - points[2 * b + 1]);
}

// what of the plane holds all points, with some room around
function boundsOf(points) {
  let [a, b, c, d] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    const x = points[i], y = points[i + 1];
    if (!(isFinite(x) && isFinite(y))) continue;
    if (x < a) a = x;
    if (x > b) b = x;
    if (y < c) c = y;
    if (y > d) d = y;
  }
  if (!(b >= a)) return [-1, 1, -1, 1];
  const px = (b - a) * 0.06 || Math.abs(a) || 1, py = (d - c) * 0.06 || Math.abs(c) || 1;
  return [a - px, b + px, c - py, d + py];
}

function inside(polygon, x, y) {
  let within = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

// all points into the pixels of an image, those that are selected over the others
function paint(image, features, place) {
  const { data, width: W, height: H } = image;
  const { points, codes, colors, shapes, order, selection, nSelected } = features;
  const { kx, ky, ox, oy, radius } = place;
  const marks = [1, 1.35].map((grown) => [0, 1, 2, 3].map((shape) => stamp(shape, radius * grown)));
  for (const pass of nSelected ? [0, 1] : [0]) {
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      const chosen = nSelected ? isSet(selection, i) : 0;
      if (nSelected && chosen !== pass) continue;
      const x = Math.round(ox + points[2 * i] * kx), y = Math.round(oy - points[2 * i + 1] * ky);
      if (!(x > -20 && y > -20 && x < W + 20 && y < H + 20)) continue;
      const code = codes[i], none = code === NO_VALUE;
      const mark = marks[chosen ? 1 : 0][none ? 0 : shapes[code] || 0];
      const r = none ? 150 : colors[3 * code], g = none ? 150 : colors[3 * code + 1], b = none ? 150 : colors[3 * code + 2];
      const strength = nSelected ? (chosen ? 1 : 0.18) : code === 0 || none ? 0.6 : 0.9;
      for (let m = 0; m < mark.length; m++) {
        const px = x + mark.dx[m], py = y + mark.dy[m];
        if (px < 0 || py < 0 || px >= W || py >= H) continue;
        const at = 4 * (py * W + px), a = mark.cover[m] * strength, under = data[at + 3] / 255;
        const full = a + under * (1 - a), share = a / full;
        data[at] += (r - data[at]) * share;
        data[at + 1] += (g - data[at + 1]) * share;
        data[at + 2] += (b - data[at + 2]) * share;
        data[at + 3] = full * 255;
      }
    }
  }
}

// groups with their markers, or a scale of numbers; every name is text
function writeLegend(legend, { title, items, low, high, more }, colors) {
  legend.replaceChildren();
  const head = document.createElement("strong");
  head.textContent = title || "";
  legend.append(head);
  if (low !== undefined && low !== null) {
    const strip = document.createElement("span");
    strip.className = "diffnb-strip";
    const stops = Array.from({ length: colors.length / 3 }, (_, i) => `rgb(${colors[3 * i]},${colors[3 * i + 1]},${colors[3 * i + 2]})`);
    strip.style.background = `linear-gradient(to right, ${stops.filter((_, i) => i % 16 === 0).join(",")})`;
    const [from, to] = [document.createElement("span"), document.createElement("span")];
    from.textContent = written(low);
    to.textContent = written(high);
    legend.append(from, strip, to);
  }
  for (const item of items || []) {
    const entry = document.createElement("span");
    entry.className = "diffnb-entry";
    const dot = document.createElement("i");
    dot.className = `diffnb-dot diffnb-shape-${item.shape}`;
    dot.style.background = item.color;
    const label = document.createElement("span");
    label.textContent = `${item.label} (${item.count})`;
    entry.append(dot, label);
    legend.append(entry);
  }
  if (more) legend.append(`and ${more} more`);
}
