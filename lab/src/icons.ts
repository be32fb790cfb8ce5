/** The drawings of icons. Each tutorial has one of its own, so that cards of the launcher can be told apart. */

// themes colour the attributes fill and stroke of this class: lines are left unfilled by their style
const drawing = (
  filled: string,
  lines: string
) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g class="jp-icon3 jp-icon-selectable" fill="#616161">${filled}</g>
  <g class="jp-icon3 jp-icon-selectable" stroke="#616161" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" style="fill: none">${lines}</g>
</svg>`;

const dots = (places: readonly (readonly [number, number, number])[]) =>
  places.map(([x, y, radius]) => `<circle cx="${x}" cy="${y}" r="${radius}"/>`).join('');

const squares = (rows: readonly string[]) =>
  rows
    .flatMap((row, i) =>
      [...row].map((cell, j) =>
        cell === 'x' ? `<rect x="${6 + 3 * j}" y="${1.5 + 3 * i}" width="2.7" height="2.7"/>` : ''
      )
    )
    .join('');

const COLUMNS = dots([5, 19].flatMap(x => [5, 12, 19].map(y => [x, y, 2.4] as const)));

/** Two conditions with the same features; one connection that only the second has. */
export const MAIN = drawing(COLUMNS, '<path d="M19 5v14M11.2 8.2h1.6M11.2 12h1.6M11.2 15.8h1.6"/>');

/** A page that is begun. */
export const NEW = drawing('', '<path d="M13 2.5H6v19h12V8zM13 2.5V8h5M12 11.5v6.5M8.8 14.8h6.4"/>');

/** By the names of the files. */
export const OF_TUTORIAL: Readonly<Record<string, string>> = {
  // a stopwatch
  '00_quickstart.ipynb': drawing(
    '',
    '<circle cx="12" cy="14" r="8"/><path d="M12 14V9.5M12 6V3M9.3 2.6h5.4M18 7.6l1.6-1.6"/>'
  ),
  // cells of two types
  '01_scrna.ipynb': drawing(
    dots([
      [6, 8, 3],
      [11.5, 4.6, 2.2],
      [5.2, 15, 2.2]
    ]),
    '<circle cx="16.5" cy="11" r="3.4"/><circle cx="12" cy="18" r="2.8"/><circle cx="19.4" cy="18.4" r="2"/>'
  ),
  // a brain
  '02_fmri.ipynb': drawing(
    '',
    '<path d="M12 4.5c-1.8-2.4-5.6-1.4-5.6 1.6-2.9.6-4 3.6-2.4 5.7-1.7 2.3-.6 5.5 2.3 6 .5 3 4.3 3.7 5.7 1.4 1.4 2.3 5.2 1.6 5.7-1.4 2.9-.5 4-3.7 2.3-6 1.6-2.1.5-5.1-2.4-5.7 0-3-3.8-4-5.6-1.6zM12 4.5v14.7M8 9.4c1.6.4 2.4 1.3 2.4 2.8M16 9.4c-1.6.4-2.4 1.3-2.4 2.8"/>'
  ),
  // bands of an image
  '03_hyperspectral.ipynb': drawing(
    '<path d="M12 2.5 21.5 7.5 12 12.5 2.5 7.5z"/>',
    '<path d="M2.5 12 12 17 21.5 12M2.5 16.5 12 21.5 21.5 16.5"/>'
  ),
  // a digit of pixels
  '04_mnist.ipynb': drawing(squares(['.xx.', 'x..x', 'x..x', '.xxx', '...x', '...x', '.xx.']), ''),
  // a curve of survival
  '05_patients.ipynb': drawing('', '<path d="M3 3v18h18M6 5.5h4v4h4v5h3.5v3.5H21"/>'),
  // data on disks
  '06_large.ipynb': drawing(
    '',
    '<ellipse cx="12" cy="5.5" rx="8" ry="3"/><path d="M4 5.5v13c0 1.7 3.6 3 8 3s8-1.3 8-3v-13M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3"/>'
  ),
  // a page with a figure
  '07_paper.ipynb': drawing('', '<path d="M5 2.5h14v19H5zM8 7h8M8 10h8M8 18l2.5-3.5 2 2L16 13.5"/>')
};
