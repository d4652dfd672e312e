// Ablation studies: a map of scores by evaluator and learning rate, for each problem, and the effect of each factor.
import { $, isNew, make, makeItems, makeScroller } from "./dom.js";
import { formatDecimal, formatPercent, formatSignificant, known, plural } from "./format.js";
import { formatReward } from "./results.js";
import { data } from "./state.js";

const CIVIDIS = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56],
];

/** The style of a cell, the same on light and on dark pages. @param {number} score */
export function scoreStyle(score) {
  const place = Math.min(1, Math.max(0, score)) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low].map((part, i) => Math.round(part + (place - low) * (CIVIDIS[low + 1][i] - part)));
  return `background-color: rgb(${mixed.join(", ")}); color: ${score < 0.47 ? "#ffffff" : "#000000"}`;
}

/** A cell: its score, and lines that describe it. @typedef {{score: number | null, lines: string[]}} Cell */
/** Rows of cells of one problem. @typedef {{title: string, rows: Cell[][]}} Group */

/** @param {number | string} found the index of a row, or why there is none @param {string} name @param {RowData[]} rows
 * @returns {Cell} */
export function describeCell(found, name, rows) {
  if (typeof found === "string") return { score: null, lines: [name, `no score: ${found}`] };
  const row = rows[found];
  const lines = [
    name,
    known(row.score) ? `score ${formatDecimal(row.score)}` : "",
    `reward ${formatReward(row)}`,
    known(row.fraction) ? `${formatPercent(row.fraction)} of the optimum` : "",
    `worst run ${formatSignificant(row.worst, 4)}`,
    row.runs === row.planned ? plural(row.runs, "run") : `${row.runs} of ${row.planned} runs`,
  ];
  return { score: row.score, lines: lines.filter(Boolean) };
}

/** The cells of each problem, and their means if there are several. @param {AblationData} ablation
 * @param {RowData[]} rows @returns {Group[]} */
export function groupCells({ problems, evaluators, columns, means }, rows) {
  const groups = problems.map(({ title, cells }) => ({
    title,
    rows: cells.map((line, i) =>
      line.map((found, j) => describeCell(found, `${title}: ${evaluators[i]}, ${columns[j].name}`, rows)),
    ),
  }));
  if (groups.length < 2) return groups;
  const title = `mean over ${groups.length} problems`;
  const meanRows = means.map((line, i) =>
    line.map((score, j) => ({
      score,
      lines: [
        `${title}: ${evaluators[i]}, ${columns[j].name}`,
        known(score) ? `score ${formatDecimal(score)}` : "no score: not on all of them",
      ],
    })),
  );
  return [...groups, { title, rows: meanRows }];
}

export function showAblations() {
  $("ablation").hidden = !data.ablations.length;
  const shown = data.ablations.map((ablation) => ({ ablation, groups: groupCells(ablation, data.rows) }));
  if (!isNew($("ablation-maps"), shown)) return;
  hideTip();
  $("ablation-maps").replaceChildren(
    ...shown.flatMap(({ ablation, groups }) => [
      shown.length > 1 ? make("h3", {}, ablation.study) : "",
      makeScroller(`scores of ${ablation.study}`, makeMap(ablation, groups)),
      make("ul", { class: "effects" }, ...makeItems(ablation.effects)),
      make("ul", { class: "notes" }, ...makeItems(ablation.empty_cells.map((line) => `No score of ${line}.`))),
    ]),
  );
}

/** @param {AblationData} ablation @param {Group[]} groups */
function makeMap({ columns, evaluators }, groups) {
  const edges = columns.map((column, j) => (j === 0 || column.group !== columns[j - 1].group ? "edge" : null));
  const heads = columns.flatMap(({ group }, j) => {
    if (!edges[j]) return [];
    const next = edges.indexOf("edge", j + 1);
    const width = (next < 0 ? columns.length : next) - j;
    return [make("th", { scope: "colgroup", colspan: width, class: "edge" }, group.replace("η ", "η\u00a0"))];
  });
  const labels = columns.map(({ label }, j) => make("th", { scope: "col", class: edges[j] }, label));
  const bodies = groups.map(({ title, rows }, g) => {
    const head = make("th", { scope: "rowgroup", colspan: columns.length + 1 }, make("span", {}, title));
    const lines = rows.map((row, i) => {
      const cells = row.map((cell, j) => makeScoreCell(cell, edges[j], g + i + j ? -1 : 0));
      return make("tr", {}, make("th", { scope: "row" }, evaluators[i]), ...cells);
    });
    return make("tbody", {}, make("tr", {}, head), ...lines);
  });
  const table = make(
    "table",
    { class: "heat", style: `min-width: ${9 + 4.6 * columns.length}rem` },
    make(
      "thead",
      {},
      make("tr", {}, make("td"), ...heads),
      make("tr", {}, make("th", { scope: "col" }, "evaluator"), ...labels),
    ),
    ...bodies,
  );
  table.addEventListener("keydown", (event) => moveByKey(event, table));
  for (const name of ["mouseover", "focusin"])
    table.addEventListener(name, (event) => showTip(/** @type {HTMLElement} */ (event.target)));
  for (const name of ["mouseleave", "focusout"]) table.addEventListener(name, hideTip);
  return table;
}

/** @param {Cell} cell @param {string | null} edge @param {number} tabindex */
function makeScoreCell({ score, lines }, edge, tabindex) {
  const attributes = {
    tabindex,
    class: [edge, known(score) ? null : "empty"].filter(Boolean).join(" ") || null,
    style: known(score) ? scoreStyle(score) : null,
    "data-about": lines.join("\n"),
    "aria-label": lines.join(", "),
  };
  return make("td", attributes, known(score) ? formatDecimal(score) : "–");
}

/** @type {Record<string, [down: number, across: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Arrow keys lead from cell to cell; one of them is reached by the Tab key.
 * @param {KeyboardEvent} event @param {HTMLElement} table */
function moveByKey(event, table) {
  if (event.key === "Escape") hideTip();
  const arrow = ARROWS[event.key];
  const from = /** @type {HTMLTableCellElement} */ (event.target);
  if (!arrow || !from.dataset.about) return;
  const rows = [...table.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td")])
    .filter((row) => row.length);
  const i = rows.findIndex((row) => row.includes(from));
  const to = rows[i + arrow[0]]?.[rows[i].indexOf(from) + arrow[1]];
  event.preventDefault();
  if (!to) return;
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

/** The cell that the tip describes. @type {HTMLElement | null} */
let pointed = null;

/** @param {HTMLElement} cell */
function showTip(cell) {
  pointed = cell.dataset.about ? cell : null;
  $("tip").textContent = pointed?.dataset.about ?? "";
  placeTip();
}

export function placeTip() {
  const tip = $("tip");
  tip.hidden = !pointed;
  if (!pointed) return;
  const { left, width, top, bottom } = pointed.getBoundingClientRect();
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(room, left + (width - tip.offsetWidth) / 2))}px`;
  tip.style.top = `${bottom + 6 + tip.offsetHeight < innerHeight ? bottom + 6 : top - 6 - tip.offsetHeight}px`;
}

function hideTip() {
  pointed = null;
  placeTip();
}
