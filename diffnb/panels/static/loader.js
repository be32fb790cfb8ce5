// @ts-check
/**
 * Loads the modules of a widget. anywidget imports a widget from the blob: URL of one text, and a relative import
 * resolves to nothing there. So every module gets a blob: URL as well, and its imports are pointed at those URLs.
 *
 * Python (`_modules.py`) appends the call to this file; nothing imports it.
 */

/**
 * A module with the imports in its text, each with the name of the module that it means.
 *
 * @typedef {{ readonly name: string, readonly text: string, readonly imports: Readonly<Record<string, string>> }} Module
 */

/**
 * The default export of the last module.
 *
 * @param {readonly Module[]} modules every module after those that it imports
 * @param {(text: string) => string} [urlOf] a URL from which the text can be imported
 */
export async function load(modules, urlOf = blobUrl) {
  /** @type {Map<string, string>} */
  const urls = new Map();
  let last = '';
  for (const module of modules) {
    last = urlOf(linked(module, urls));
    urls.set(module.name, last);
  }
  try {
    return (await import(last)).default;
  } finally {
    for (const url of urls.values()) {
      URL.revokeObjectURL(url);
    }
  }
}

/**
 * The text of a module with URLs for its imports, and its name for stack traces and debuggers.
 *
 * @param {Module} module
 * @param {ReadonlyMap<string, string>} urls
 */
function linked({ name, text, imports }, urls) {
  let result = text;
  for (const [specifier, imported] of Object.entries(imports)) {
    result = result.replaceAll(`'${specifier}'`, `'${urls.get(imported)}'`);
  }
  return `${result}\n//# sourceURL=diffnb/${name}\n`;
}

/** @param {string} text */
function blobUrl(text) {
  return URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
}
