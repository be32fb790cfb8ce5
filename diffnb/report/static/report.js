// @ts-check
/** Tables of a report: sorted, filtered, shown page by page, and saved as CSV. Cells are set as text, never as markup. */

const ROWS_PER_PAGE = 25;

/** Smaller numbers are written with an exponent. */
const SMALLEST_PLAIN = 0.001;

/** A table with fewer rows needs no tools. */
const MIN_ROWS_FOR_TOOLS = 11;

/**
 * @typedef {{ name: string, number: boolean }} Column
 * @typedef {{ columns: Column[], cells: (string | number | null)[][] }} Data
 */

/**
 * Append an element with a text.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Element} parent
 * @param {Tag} tag
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function append(parent, tag, text = '') {
  const node = document.createElement(tag);
  node.textContent = text;
  parent.append(node);
  return node;
}

/** @param {string | number | null} value */
function textOf(value) {
  if (typeof value !== 'number') {
    return value ?? '';
  }
  if (Number.isInteger(value)) {
    return String(value).replace('-', '−');
  }
  const small = value !== 0 && Math.abs(value) < SMALLEST_PLAIN;
  return (small ? value.toExponential(1) : String(Number(value.toPrecision(3)))).replaceAll('-', '−');
}

/**
 * Rows whose texts contain every word.
 *
 * @param {Data} data
 * @param {string} query
 */
function found({ columns, cells }, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = cells.filter((_, i) => !columns[i].number);
  const all = [...(cells[0] ?? []).keys()];
  return words.length === 0
    ? all
    : all.filter(row => words.every(word => texts.some(cell => String(cell[row]).toLowerCase().includes(word))));
}

/**
 * Sort rows by a column; missing values come last in both directions.
 *
 * @param {number[]} rows
 * @param {(string | number | null)[]} cells
 * @param {boolean} descending
 */
function sorted(rows, cells, descending) {
  const sign = descending ? -1 : 1;
  const missing = (/** @type {string | number | null} */ value) => value === null || value === '';
  return rows.slice().sort((a, b) => {
    const [left, right] = [cells[a], cells[b]];
    if (missing(left) || missing(right)) {
      return Number(missing(left)) - Number(missing(right));
    }
    return sign * (typeof left === 'number' ? left - Number(right) : String(left).localeCompare(String(right)));
  });
}

/**
 * A cell as CSV. A text that a spreadsheet would take for a formula gets an apostrophe.
 *
 * @param {string | number | null} value
 */
function quoted(value) {
  const text = String(value ?? '').replaceAll('"', '""');
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `"'${text}"` : `"${text}"`;
}

/**
 * All rows in the order shown, as CSV.
 *
 * @param {Data} data
 * @param {number[]} rows
 */
function csv({ columns, cells }, rows) {
  const lines = [columns.map(c => quoted(c.name)), ...rows.map(row => cells.map(column => quoted(column[row])))];
  return lines.map(line => line.join(',')).join('\n');
}

/** A table of the page, with its search, its pages and its order. */
class LiveTable {
  /** @param {HTMLElement} root */
  constructor(root) {
    /** @type {Data} */
    this.data = JSON.parse(root.querySelector('script')?.textContent ?? '');
    this.root = root;
    this.title = root.dataset.title ?? '';
    this.order = -1;
    this.descending = false;
    this.page = 0;
    this.buildTools();
    const scroll = append(root, 'div');
    scroll.className = 'scroll';
    scroll.tabIndex = 0;
    scroll.setAttribute('role', 'region');
    scroll.setAttribute('aria-label', this.title);
    const table = append(scroll, 'table');
    this.heads = this.buildHead(append(append(table, 'thead'), 'tr'));
    this.body = append(table, 'tbody');
    this.update();
  }

  buildTools() {
    const tools = append(this.root, 'div');
    tools.className = 'tools';
    tools.hidden = (this.data.cells[0]?.length ?? 0) < MIN_ROWS_FOR_TOOLS;
    const label = append(tools, 'label', 'Filter ');
    this.search = append(label, 'input');
    this.search.type = 'search';
    this.search.addEventListener('input', () => this.goTo(0));
    this.back = append(tools, 'button', 'Previous');
    this.back.addEventListener('click', () => this.goTo(this.page - 1));
    this.forward = append(tools, 'button', 'Next');
    this.forward.addEventListener('click', () => this.goTo(this.page + 1));
    append(tools, 'button', 'Save as CSV').addEventListener('click', () => this.save());
    this.count = append(tools, 'span');
    this.count.setAttribute('role', 'status');
  }

  /** @param {Element} row */
  buildHead(row) {
    return this.data.columns.map((column, i) => {
      const head = append(row, 'th');
      head.scope = 'col';
      head.className = column.number ? 'number' : '';
      append(head, 'button', column.name).addEventListener('click', () => this.sortBy(i));
      return head;
    });
  }

  /** @param {number} column */
  sortBy(column) {
    this.descending = column === this.order ? !this.descending : this.data.columns[column].number;
    this.order = column;
    this.goTo(0);
  }

  /** @param {number} page */
  goTo(page) {
    this.page = Math.max(0, page);
    this.update();
  }

  get rows() {
    const rows = found(this.data, this.search?.value ?? '');
    return this.order < 0 ? rows : sorted(rows, this.data.cells[this.order], this.descending);
  }

  update() {
    const rows = this.rows;
    const start = this.page * ROWS_PER_PAGE;
    const end = Math.min(rows.length, start + ROWS_PER_PAGE);
    this.body.replaceChildren();
    for (const row of rows.slice(start, end)) {
      const line = append(this.body, 'tr');
      this.data.cells.forEach((cells, i) => {
        append(line, 'td', textOf(cells[row])).className = this.data.columns[i].number ? 'number' : '';
      });
    }
    this.heads.forEach((head, i) => {
      head.setAttribute('aria-sort', i !== this.order ? 'none' : this.descending ? 'descending' : 'ascending');
    });
    const all = this.data.cells[0]?.length ?? 0;
    const of = rows.length < all ? `${rows.length} rows found among ${all}` : `${all} rows`;
    this.count.textContent = rows.length ? `${start + 1}–${end} of ${of}` : 'no row';
    this.back.disabled = this.page === 0;
    this.forward.disabled = end >= rows.length;
  }

  save() {
    const url = URL.createObjectURL(new Blob([csv(this.data, this.rows)], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = this.root.dataset.file ?? 'table.csv';
    link.click();
    URL.revokeObjectURL(url);
  }
}

for (const root of document.querySelectorAll('.live')) {
  if (root instanceof HTMLElement) {
    new LiveTable(root);
  }
}
