// Tables that can be sorted, and copied as LaTeX, Markdown and CSV.
import { $, isNew, make, makeButton, makeScroller, makeTable } from "./dom.js";
import { known } from "./format.js";
import { colourOf } from "./plots.js";

/** A column. csv: its cells in a CSV file, by name, where they are others than the value.
 * algorithm: whose colour stands before the text.
 * @template Row
 * @typedef {{name: string, title: string, hint?: string, value: (row: Row) => string | number | null,
 *   text: (row: Row) => string, csv: (row: Row) => Record<string, string | number | null>,
 *   algorithm?: (row: Row) => string}} Column */

/** @template Row @param {string} name @param {(row: Row) => string | number | null} value
 * @param {Partial<Column<Row>>} more @returns {Column<Row>} */
export const column = (name, value, more = {}) => ({
  name,
  title: name,
  value,
  text: (row) => String(value(row) ?? ""),
  csv: (row) => ({ [name]: value(row) }),
  ...more,
});

/** Whether a column has numbers only. @template Row @param {Column<Row>} column @param {Row[]} rows */
const isNumeric = ({ value }, rows) => rows.every((row) => !known(value(row)) || typeof value(row) === "number");

/** Rows by a column; those without a value come last. @template Row @param {Row[]} rows
 * @param {Column<Row> | undefined} column @param {boolean} descending */
export function sortRows(rows, column, descending) {
  if (!column) return rows;
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (!known(x) || !known(y)) return known(x) ? -1 : known(y) ? 1 : 0;
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

/** A table, and what it is sorted by. @template Row
 * @typedef {{columns: Column<Row>[], rows: Row[], numeric: boolean[], by?: string, descending: boolean}} Table */
/** Tables by the ids of their elements. @type {Map<string, Table<any>>} */
const tables = new Map();

/** Show a table in an element; it stays sorted as it was. @template Row @param {string} id
 * @param {Column<Row>[]} columns @param {Row[]} rows */
export function showTable(id, columns, rows) {
  const numeric = columns.map((each) => isNumeric(each, rows));
  /** @type {Table<Row>} */
  const table = Object.assign(tables.get(id) ?? { descending: false }, { columns, rows, numeric });
  tables.set(id, table);
  const where = $(id);
  const isOther = isNew(
    where,
    columns.map(({ name }, i) => [name, numeric[i]]),
  );
  if (isOther) {
    const heads = columns.map((each, i) => makeHead(where, table, each, numeric[i]));
    where.replaceChildren(makeScroller("table", makeTable(heads, [])), makeCopyButtons(table));
  }
  fillTable(where, table);
}

/** @template Row @param {Table<Row>} table */
const sortedRows = ({ columns, rows, by, descending }) =>
  sortRows(
    rows,
    columns.find(({ name }) => name === by),
    descending,
  );

/** A heading that sorts. @template Row @param {HTMLElement} where @param {Table<Row>} table @param {Column<Row>} column
 * @param {boolean} numeric */
function makeHead(where, table, { name, title, hint }, numeric) {
  const sort = () => {
    table.descending = table.by === name ? !table.descending : numeric;
    table.by = name;
    fillTable(where, table);
  };
  const attributes = { scope: "col", "data-column": name, class: numeric ? "number" : null };
  return make("th", attributes, makeButton(title, sort, { title: hint }));
}

/** @template Row @param {HTMLElement} where @param {Table<Row>} table */
function fillTable(where, table) {
  const { columns, numeric } = table;
  where.querySelectorAll("th").forEach((head, i) => {
    const order = columns[i].name !== table.by ? "none" : table.descending ? "descending" : "ascending";
    head.setAttribute("aria-sort", order);
  });
  /** @type {HTMLElement} */ (where.firstElementChild).className =
    table.rows.length > 40 ? "scroller long" : "scroller";
  const rows = sortedRows(table).map((row) =>
    make("tr", {}, ...columns.map((column, i) => makeCell(column, row, numeric[i]))),
  );
  where.querySelector("tbody")?.replaceChildren(...rows);
}

/** @template Row @param {Column<Row>} column @param {Row} row @param {boolean} numeric */
function makeCell({ name, value, text, algorithm }, row, numeric) {
  const cell = make("td", { class: numeric ? "number" : "name", "data-column": name, "data-value": value(row) ?? "" });
  if (algorithm) cell.append(make("span", { class: "swatch", style: `background: ${colourOf(algorithm(row))}` }));
  cell.append(text(row));
  return cell;
}

/** @template Row @param {Table<Row>} table */
function makeCopyButtons(table) {
  const status = make("span", { role: "status" });
  const buttons = Object.entries({ LaTeX: asLatex, Markdown: asMarkdown, CSV: asCsv }).map(([name, write]) => {
    const copy = async () => {
      const copied = await copyText(write(table.columns, sortedRows(table)));
      status.textContent = copied ? `${name} is in the clipboard` : "the browser did not let it be copied";
    };
    return makeButton(name, copy, { "data-copy": name });
  });
  return make("div", { class: "copy" }, "Copy as", ...buttons, status);
}

/** @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // where the page may not ask for the clipboard
    const area = make("textarea", { style: "position: fixed; opacity: 0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** @type {Record<string, string>} */
const LATEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "±": "$\\pm$",
  λ: "$\\lambda$",
  "×": "$\\times$",
  "−": "$-$",
  η: "$\\eta$",
  "–": "--",
};

/** @param {string} text */
export const escapeLatex = (text) => text.replace(/[\\~^±λ×−η–]|[&%$#_{}]/g, (mark) => LATEX[mark] ?? `\\${mark}`);

/** A tabular environment with the rules of booktabs. @template Row @param {Column<Row>[]} columns @param {Row[]} rows */
export function asLatex(columns, rows) {
  /** @param {string[]} cells */
  const line = (cells) => `${cells.map(escapeLatex).join(" & ")} \\\\`;
  const kinds = columns.map(({ value }) => (rows.length && typeof value(rows[0]) === "number" ? "r" : "l")).join("");
  return [
    `\\begin{tabular}{${kinds}}`,
    "\\toprule",
    line(columns.map(({ title }) => title)),
    "\\midrule",
    ...rows.map((row) => line(columns.map(({ text }) => text(row)))),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

/** @template Row @param {Column<Row>[]} columns @param {Row[]} rows */
export function asMarkdown(columns, rows) {
  /** @param {string} cell */
  const escapeCell = (cell) => cell.replace(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll("|", "\\|");
  /** @param {string[]} cells */
  const line = (cells) => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [
    line(columns.map(({ title }) => title)),
    `|${"---|".repeat(columns.length)}`,
    ...rows.map((row) => line(columns.map(({ text }) => text(row)))),
    "",
  ].join("\n");
}

/** With every digit: a column of the table may be several here. @template Row @param {Column<Row>[]} columns
 * @param {Row[]} rows */
export function asCsv(columns, rows) {
  /** @param {string | number | null} value */
  const quote = (value) => {
    let text = String(value ?? "");
    if (typeof value === "string" && /^[=+@\t\r-]/.test(text)) text = `'${text}`; // no formula for a spreadsheet
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const cells = rows.map((row) => Object.assign({}, ...columns.map(({ csv }) => csv(row))));
  const names = Object.keys(cells[0] ?? {});
  return [names.join(","), ...cells.map((row) => names.map((name) => quote(row[name])).join(",")), ""].join("\r\n");
}
