// The lines that reproduce what is on screen, and a button that copies them.

async function copy(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // no clipboard for pages without a secure address: select the text and ask the browser
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

function render({ model, el }) {
  el.classList.add("diffnb-code");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "diffnb-button";
  button.textContent = "Copy code";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  said.className = "diffnb-hint";
  const note = document.createElement("p");
  note.className = "diffnb-hint";
  const lines = document.createElement("pre");
  lines.tabIndex = 0;
  lines.setAttribute("aria-label", "Python code");
  el.append(button, said, note, lines);
  button.addEventListener("click", async () => {
    const done = await copy(model.get("code"), lines);
    said.textContent = done ? "Copied." : "Selected: press Ctrl+C.";
    setTimeout(() => (said.textContent = ""), 3000);
  });

  function update() {
    lines.textContent = model.get("code");
    note.textContent = model.get("note");
    note.hidden = !model.get("note");
  }

  model.on("change:code change:note", update);
  update();
  return () => model.off("change:code change:note", update);
}

export default { render };
