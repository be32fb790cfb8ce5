// A figure, drawn in the kernel, as an image that says what it shows.

function render({ model, el }) {
  el.classList.add("diffnb-picture");
  const image = document.createElement("img");
  const empty = document.createElement("p");
  empty.className = "diffnb-empty";
  el.append(image, empty);
  let address = "";

  function update() {
    const png = model.get("png");
    if (address) URL.revokeObjectURL(address);
    const there = png && png.byteLength > 0;
    image.hidden = !there;
    empty.hidden = there;
    empty.textContent = model.get("empty");
    address = there ? URL.createObjectURL(new Blob([png], { type: "image/png" })) : "";
    if (there) image.src = address;
    else image.removeAttribute("src");
    image.alt = model.get("alt");
    if (model.get("width")) image.style.width = `${model.get("width")}px`;
  }

  const onChange = "change:png change:alt change:width change:empty";
  model.on(onChange, update);
  update();
  return () => {
    model.off(onChange, update);
    if (address) URL.revokeObjectURL(address);
  };
}

export default { render };
