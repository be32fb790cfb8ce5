// @ts-check
/** A figure drawn in the kernel, as an image with a description. */
/** @import { PictureTraits, View } from './types.js' */

import { append } from './shared/dom.js';
import { listen } from './shared/model.js';

/** @param {View<PictureTraits>} view */
function render({ model, el }) {
  el.classList.add('diffnb-picture');
  const image = append(el, 'img');
  const empty = append(el, 'p', { class: 'diffnb-empty' });
  let url = '';

  function release() {
    if (url) {
      URL.revokeObjectURL(url);
    }
    url = '';
  }

  function update() {
    release();
    const png = model.get('png');
    if (png && png.byteLength > 0) {
      url = URL.createObjectURL(new Blob([png], { type: 'image/png' }));
      image.src = url;
    } else {
      image.removeAttribute('src');
    }
    image.hidden = !url;
    image.alt = model.get('alt');
    image.style.width = model.get('width') ? `${model.get('width')}px` : '';
    empty.hidden = !!url;
    empty.textContent = model.get('empty');
  }

  update();
  const changes = ['change:png', 'change:alt', 'change:width', 'change:empty'];
  const stop = listen(model, Object.fromEntries(changes.map(event => [event, update])));
  return () => {
    stop();
    release();
  };
}

export default { render };
