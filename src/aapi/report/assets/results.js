// The table of results, and the differences between algorithms.
import { $ } from "./dom.js";
import { formatCount, formatPercent, formatSignificant, known, titleOf } from "./format.js";
import { ALL, data, isShown, state } from "./state.js";
import { column, showTable } from "./tables.js";

/** 0.123 ± 0.004, of a row that has runs. @param {RowData} row */
export const formatReward = ({ mean, std }) =>
  formatSignificant(mean, 4) + (known(std) ? ` ± ${formatSignificant(std, 2)}` : "");

/** @param {IntervalData} interval @param {number} digits */
export const formatInterval = ({ estimate, lower, upper }, digits) =>
  `${formatSignificant(estimate, digits)} [${formatSignificant(lower, digits)}, ${formatSignificant(upper, digits)}]`;

/** @param {ComparisonData} comparison */
export function formatVerdict({ ours, theirs, verdict }) {
  if (!known(verdict)) return "too few runs";
  return verdict === 0 ? "no difference seen" : `${verdict > 0 ? ours : theirs} earns more`;
}

/** @type {import("./tables.js").Column<{study: string}>} */
const STUDY = column("study", (row) => row.study);
/** @type {import("./tables.js").Column<{problem: string, reward_scale: number}>} */
const PROBLEM = column("problem", titleOf, {
  csv: ({ problem, reward_scale }) => ({ problem, reward_scale }),
});

export function showResults() {
  const rows = data.rows.filter(isShown);
  const studies = state.study === ALL ? [STUDY] : [];
  showTable("results", [...studies, PROBLEM, ...resultColumns(rows)], rows);
  const comparisons = data.comparisons.filter(isShown);
  $("comparing").hidden = !comparisons.length;
  showTable("comparisons", [...studies, PROBLEM, ...COMPARISON], comparisons);
}

/** @param {RowData[]} rows */
function resultColumns(rows) {
  const columns = [
    column("algorithm", (/** @type {RowData} */ r) => r.algorithm, { algorithm: (r) => r.algorithm }),
    column("chosen", (/** @type {RowData} */ r) => r.chosen, { text: (r) => r.chosen || "–" }),
    column("runs", (/** @type {RowData} */ r) => r.runs, {
      text: (r) => (r.runs === r.planned ? String(r.runs) : `${r.runs} of ${r.planned}`),
      csv: (r) => ({ runs: r.runs, steps: r.steps }),
    }),
    column("mean", (/** @type {RowData} */ r) => r.mean, {
      title: "reward ± std",
      text: (r) => (known(r.mean) ? formatReward(r) : "no run"),
      csv: (r) => ({ mean: r.mean, std: r.std }),
    }),
    column("interval", (/** @type {RowData} */ r) => r.lower, {
      title: "95 % interval",
      text: (r) => (known(r.lower) ? `${formatSignificant(r.lower, 4)} to ${formatSignificant(r.upper, 4)}` : ""),
      csv: (r) => ({ lower: r.lower, upper: r.upper }),
    }),
    column("iqm", (/** @type {RowData} */ r) => r.iqm, {
      title: "IQM",
      hint: "interquartile mean: of the middle half of the runs",
      text: (r) => formatSignificant(r.iqm, 4),
    }),
    column("worst", (/** @type {RowData} */ r) => r.worst, { text: (r) => formatSignificant(r.worst, 4) }),
    column("fraction", (/** @type {RowData} */ r) => r.fraction, {
      title: "of λ*",
      text: (r) => formatPercent(r.fraction),
    }),
    column("score", (/** @type {RowData} */ r) => r.score, {
      hint: "0: acting at random, 1: the optimum",
      text: (r) => (known(r.score) ? r.score.toFixed(3).replace("-", "−") : ""),
    }),
    column("regret", (/** @type {RowData} */ r) => r.regret, { text: (r) => formatCount(r.regret) }),
    column("seconds", (/** @type {RowData} */ r) => r.seconds, {
      title: "time",
      hint: "processor seconds, tuning included",
      text: (r) => `${r.seconds.toFixed(1)} s`,
    }),
  ];
  const optional = ["chosen", "fraction", "score", "regret"]; // only where there is something in them
  return columns.filter(
    ({ name, value }) => !optional.includes(name) || rows.some((row) => known(value(row)) && value(row) !== ""),
  );
}

const COMPARISON = [
  column("comparison", (/** @type {ComparisonData} */ c) => `${c.ours} − ${c.theirs}`, {
    csv: ({ ours, theirs }) => ({ ours, theirs }),
  }),
  intervalColumn("difference", "difference of means", 3),
  intervalColumn("improvement", "P(better)", 2),
  column("verdict", formatVerdict),
];

/** @param {"difference" | "improvement"} name @param {string} title @param {number} digits */
function intervalColumn(name, title, digits) {
  return column(name, (/** @type {ComparisonData} */ c) => c[name].estimate, {
    title,
    text: (c) => formatInterval(c[name], digits),
    csv: (c) => ({ [name]: c[name].estimate, [`${name}_lower`]: c[name].lower, [`${name}_upper`]: c[name].upper }),
  });
}
