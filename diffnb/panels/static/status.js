// State of a panel: progress, a message, notes, a folded traceback. All names arrive as text and stay text.

function luminance(element) {
  // the first ancestor that paints a background decides
  for (let node = element; node; node = node.parentElement) {
    const parts = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (parts.length >= 3 && (parts.length < 4 || parts[3] > 0.5)) {
      return (0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]) / 255;
    }
  }
  return matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark")
    ? 0
    : 1;
}

function hideStaticPicture(mark) {
  // the picture that stands for this panel in a saved notebook is marked inside its own bytes
  if (!mark) return () => {};
  const picture = `img[src*="${mark}"], img[alt="diffnb ${mark}"]`;
  const style = document.createElement("style");
  style.textContent =
    `:is(${picture}) { display: none !important; }\n` +
    `.jp-OutputArea-child:has(:is(${picture})) { display: none !important; }`;
  document.head.append(style);
  return () => style.remove();
}

function element(tag, className, parent) {
  const made = document.createElement(tag);
  made.className = className;
  parent.append(made);
  return made;
}

function render({ model, el }) {
  el.classList.add("diffnb-status");
  const row = element("div", "diffnb-status-row", el);
  const bar = element("progress", "diffnb-progress", row);
  bar.setAttribute("aria-label", "progress");
  const message = element("span", "diffnb-message", row);
  message.setAttribute("role", "status");
  message.setAttribute("aria-live", "polite");
  const notes = element("ul", "diffnb-notes", el);
  const folded = element("details", "diffnb-details", el);
  element("summary", "", folded).textContent = "Traceback";
  const trace = element("pre", "diffnb-trace", folded);
  trace.tabIndex = 0;

  function update() {
    const state = model.get("state");
    el.dataset.state = state;
    const total = model.get("total");
    bar.hidden = state !== "running" && state !== "stopping";
    if (total > 0) {
      bar.max = total;
      bar.value = model.get("done");
    } else {
      bar.removeAttribute("value");
    }
    const step = model.get("step");
    const counted = step && total > 0 ? ` · ${step} ${model.get("done")} of ${total}` : step ? ` · ${step}` : "";
    message.textContent = model.get("message") + (bar.hidden ? "" : counted);
    notes.replaceChildren(
      ...model.get("notes").map((note) => {
        const item = document.createElement("li");
        item.textContent = note;
        return item;
      }),
    );
    notes.hidden = model.get("notes").length === 0;
    folded.hidden = !model.get("details");
    trace.textContent = model.get("details");
  }

  function look() {
    if (!el.isConnected) return;
    const dark = luminance(el) < 0.5;
    for (const panel of document.querySelectorAll(".diffnb-panel")) {
      if (panel.contains(el)) panel.dataset.dark = String(dark);
    }
    if (dark !== model.get("dark")) {
      model.set("dark", dark);
      model.save_changes();
    }
  }

  const showAgain = hideStaticPicture(model.get("mark"));
  const themes = new MutationObserver(() => setTimeout(look, 300));
  for (const node of [document.body, document.documentElement]) {
    themes.observe(node, { attributes: true, attributeFilter: ["class", "data-jp-theme-name", "data-jp-theme-light", "style"] });
  }
  const onChange = ["state", "message", "notes", "details", "step", "done", "total"].map((name) => `change:${name}`).join(" ");
  model.on(onChange, update);
  update();
  const first = setTimeout(look, 50);
  return () => {
    clearTimeout(first);
    themes.disconnect();
    showAgain();
    model.off(onChange, update);
  };
}

export default { render };
