// A table of features of which only the visible rows travel: search and order are the kernel's, rows are text.

const ROW = 26;
const SPARE = 20;

function element(tag, className, parent) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  parent.append(made);
  return made;
}

function labelled(text, input, parent) {
  const label = element("label", "diffnb-field", parent);
  element("span", "", label).textContent = text;
  label.append(input);
  return label;
}

function render({ model, el }) {
  el.classList.add("diffnb-table");
  const tools = element("div", "diffnb-tools", el);
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "part of a name or group";
  labelled("Search", search, tools);
  const only = document.createElement("input");
  only.type = "checkbox";
  labelled("Selected only", only, tools);
  const all = element("button", "diffnb-button", tools);
  all.type = "button";
  all.textContent = "Select all found";
  const none = element("button", "diffnb-button", tools);
  none.type = "button";
  none.textContent = "Clear selection";
  const csv = element("button", "diffnb-button", tools);
  csv.type = "button";
  csv.textContent = "Download CSV";
  const counted = element("span", "diffnb-hint diffnb-counted", tools);
  counted.setAttribute("role", "status");
  counted.setAttribute("aria-live", "polite");

  const scroller = element("div", "diffnb-scroller", el);
  scroller.tabIndex = 0;
  scroller.setAttribute("aria-label", "Features: arrows move, Space selects");
  scroller.setAttribute("role", "region");
  const table = element("table", "", scroller);
  const head = element("tr", "", element("thead", "", table));
  const body = element("tbody", "", table);
  let current = -1;
  let waiting = 0;

  function writeHead() {
    const [by, down] = model.get("order");
    head.replaceChildren();
    const tick = element("th", "diffnb-tick", head);
    tick.setAttribute("aria-label", "selected");
    model.get("columns").forEach((column, i) => {
      const cell = element("th", column.number ? "diffnb-number" : "", head);
      cell.scope = "col";
      const button = element("button", "", cell);
      button.type = "button";
      button.textContent = column.name + (i === by ? (down ? " ▼" : " ▲") : "");
      button.title = `Order by ${column.name}`;
      cell.setAttribute("aria-sort", i === by ? (down ? "descending" : "ascending") : "none");
      button.addEventListener("click", () => {
        const [was, wasDown] = model.get("order");
        model.set("order", [i, i === was ? !wasDown : column.number]);
        model.save_changes();
      });
    });
  }

  function writeRows() {
    const { start, rows, found, selected, all: total } = model.get("page");
    table.setAttribute("aria-rowcount", String(found + 1));
    body.replaceChildren();
    const width = model.get("columns").length + 1;
    spacer(start * ROW, width);
    rows.forEach((row, k) => {
      const place = start + k;
      const line = element("tr", "diffnb-row", body);
      line.setAttribute("aria-rowindex", String(place + 2));
      line.setAttribute("aria-selected", String(row.on));
      line.dataset.place = place;
      if (place === current) line.classList.add("diffnb-current");
      const tick = element("input", "", element("td", "diffnb-tick", line));
      tick.type = "checkbox";
      tick.checked = row.on;
      tick.tabIndex = -1;
      tick.setAttribute("aria-label", `select ${row.cells[0]}`);
      row.cells.forEach((text, i) => {
        const cell = element("td", model.get("columns")[i].number ? "diffnb-number" : "", line);
        cell.textContent = text;
        cell.title = text;
      });
      line.addEventListener("click", () => pick(place, row.index));
    });
    spacer(Math.max(0, found - start - rows.length) * ROW, width);
    const chosen = selected ? ` · ${selected} selected` : "";
    counted.textContent = `${found} of ${total} features${chosen}`;
    only.checked = model.get("only_selected");
  }

  function spacer(height, width) {
    const cell = element("td", "", element("tr", "diffnb-spacer", body));
    cell.colSpan = width;
    cell.style.height = `${height}px`;
  }

  function pick(place, index) {
    current = place;
    model.send({ ask: "toggle", index });
    mark();
  }

  function mark() {
    for (const line of body.querySelectorAll(".diffnb-row")) {
      line.classList.toggle("diffnb-current", Number(line.dataset.place) === current);
    }
  }

  function wanted() {
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - SPARE);
    return [first, first + Math.ceil((scroller.clientHeight || 400) / ROW) + 2 * SPARE];
  }

  function fetchRows() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!scroller.clientHeight) return; // in a tab that is not shown
      const [from, to] = wanted();
      const { start, rows, found } = model.get("page");
      const top = Math.floor(scroller.scrollTop / ROW), end = Math.min(found, top + Math.ceil(scroller.clientHeight / ROW));
      if (top >= start && end <= start + rows.length) return;
      model.set("window", [from, to]);
      model.save_changes();
    }, 40);
  }

  function toTop() {
    scroller.scrollTop = 0;
    current = -1;
  }

  scroller.addEventListener("scroll", fetchRows, { passive: true });
  scroller.addEventListener("keydown", (event) => {
    const { start, rows, found } = model.get("page");
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      current = Math.min(found - 1, Math.max(0, current + moves[event.key]));
      if (current * ROW < scroller.scrollTop) scroller.scrollTop = current * ROW;
      const low = (current + 2) * ROW - scroller.clientHeight;
      if (low > scroller.scrollTop) scroller.scrollTop = low;
      mark();
    } else if ((event.key === " " || event.key === "Enter") && event.target === scroller && rows[current - start]) {
      pick(current, rows[current - start].index);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  search.addEventListener("keydown", (event) => event.stopPropagation());
  search.addEventListener("input", () => {
    clearTimeout(search.later);
    search.later = setTimeout(() => {
      toTop();
      model.set("query", search.value);
      model.save_changes();
    }, 150);
  });
  only.addEventListener("change", () => {
    toTop();
    model.set("only_selected", only.checked);
    model.save_changes();
  });
  all.addEventListener("click", () => model.send({ ask: "select_found" }));
  none.addEventListener("click", () => model.send({ ask: "clear" }));

  // a long table comes in pieces, so that no message holds up the others
  let pieces = [];
  csv.addEventListener("click", () => {
    pieces = [];
    model.send({ ask: "csv", from: 0 });
  });
  function onMessage(content) {
    if (content.answer !== "csv") return;
    if (!el.offsetParent) return; // another view of the same table asked
    pieces.push(content.text);
    if (content.next) return model.send({ ask: "csv", from: content.next });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(pieces, { type: "text/csv" }));
    link.download = content.name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const watch = {
    "change:columns": () => { writeHead(); toTop(); },
    "change:order": writeHead,
    "change:page": writeRows,
    "change:query": () => { if (search.value !== model.get("query")) search.value = model.get("query"); },
    "msg:custom": onMessage,
  };
  for (const [event, act] of Object.entries(watch)) model.on(event, act);
  search.value = model.get("query");
  writeHead();
  writeRows();
  const sizes = new ResizeObserver(fetchRows);
  sizes.observe(scroller);
  return () => {
    sizes.disconnect();
    clearTimeout(waiting);
    for (const [event, act] of Object.entries(watch)) model.off(event, act);
  };
}

export default { render };
