import { LabIcon } from '@jupyterlab/ui-components';
import { MAIN, NEW, OF_TUTORIAL } from './icons.js';

export const icon = new LabIcon({ name: 'diffnb:icon', svgstr: MAIN });
export const newIcon = new LabIcon({ name: 'diffnb:new', svgstr: NEW });

const tutorials = new Map(
  Object.entries(OF_TUTORIAL).map(([file, svgstr]) => [file, new LabIcon({ name: `diffnb:${file}`, svgstr })])
);

/** The icon of a tutorial, or that of the extension where it has none. */
export const tutorialIcon = (file: unknown) => tutorials.get(String(file)) ?? icon;
