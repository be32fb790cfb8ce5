import { LabIcon } from '@jupyterlab/ui-components';

// two conditions with the same features; one connection that only the second has
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g class="jp-icon3 jp-icon-selectable" fill="#616161">
    <circle cx="5" cy="5" r="2.4"/><circle cx="5" cy="12" r="2.4"/><circle cx="5" cy="19" r="2.4"/>
    <circle cx="19" cy="5" r="2.4"/><circle cx="19" cy="12" r="2.4"/><circle cx="19" cy="19" r="2.4"/>
  </g>
  <path class="jp-icon3 jp-icon-selectable" d="M19 5v14M11.2 8.2h1.6M11.2 12h1.6M11.2 15.8h1.6" stroke="#616161" stroke-width="1.8" fill="none"/>
</svg>`;

export const icon = new LabIcon({ name: 'diffnb:icon', svgstr: SVG });
