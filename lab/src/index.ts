/** diffnb in JupyterLab: the sidebar, the notebooks, the data files. */

import { filesPlugin } from './files-plugin.js';
import { notebooksPlugin } from './notebooks-plugin.js';
import { sidebarPlugin } from './sidebar-plugin.js';

export default [sidebarPlugin, notebooksPlugin, filesPlugin];
