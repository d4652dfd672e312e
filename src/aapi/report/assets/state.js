// What the page shows, and what its reader chose.

export const ALL = "\n"; // all studies: no study is called that
export const MANY = 12; // curves in a panel: beyond it, no bands, and one label at a time

/** The data; types are those of report/page_data.py. @type {PageData} */
export let data;

/** @param {PageData} value */
export function setData(value) {
  data = value;
}

export const state = {
  /** @type {string | null} */
  study: null,
  metric: /** @type {Metric} */ ("average"),
  logSteps: false,
  band: /** @type {"std" | "quantiles" | "none"} */ ("std"),
  hidden: /** @type {Set<string>} */ (new Set()), // algorithms that are switched off
  offered: /** @type {Set<string>} */ (new Set()), // algorithms of ablations that were switched on or off once
  last: /** @type {Set<string>} */ (new Set()), // algorithms at the end of the legend
};

/** @typedef {"average" | "regret" | "fraction"} Metric */

/** Whether a row is of the study that is shown. @param {{study: string}} row */
export const isShown = (row) => state.study === ALL || row.study === state.study;
