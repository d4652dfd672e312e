// Scores of tuning runs, by the value that was tried; and with rewards on other scales.
import { $ } from "./dom.js";
import { distinct, escapeMarkup, known, plural, titleOf, withOpacity } from "./format.js";
import { colourOf, dashOf, isDark, LEGEND, makeLayout, showPanels } from "./plots.js";
import { data } from "./state.js";

/** In the order of the axis, where values are numbers. @param {TunedPoint[]} points */
export const sortPoints = (points) =>
  [...points].sort((a, b) => (typeof a.x === "number" && typeof b.x === "number" ? a.x - b.x : 0));

/** A logarithmic axis if all values are positive numbers, else one of words. @param {TunedPoint[]} points
 * @returns {Axis} */
export function valueAxis(points) {
  const title = distinct(points.flatMap(({ names }) => names))
    .map(escapeMarkup)
    .join(", ");
  const positive = points.every(({ x }) => typeof x === "number" && x > 0);
  return positive ? { title, type: "log", exponentformat: "none" } : { title, type: "category" };
}

/** The mean over all problems at a value; null if there is none on one, or if runs failed. @param {TunedPoint[]} points
 * @param {number | string} x @param {number} problems */
export function meanOverProblems(points, x, problems) {
  const found = points.filter((point) => point.x === x && !point.failed).map(({ y }) => y);
  const levels = found.filter(known);
  return levels.length === problems ? levels.reduce((sum, y) => sum + y, 0) / problems : null;
}

/** From acting at random, or below, to the optimum. @param {Numbers} levels */
const scoreRange = (levels) => [Math.min(0, ...levels.filter(known)) - 0.05, 1.07];

export function showSensitivity() {
  const points = data.sensitivity.filter(({ y }) => known(y));
  const unscaled = new Set(points.filter(({ reward_scale }) => reward_scale === 1).map(({ problem }) => problem));
  const usual = points.filter(({ problem, reward_scale }) => reward_scale === 1 || !unscaled.has(problem));
  $("sensitivity").hidden = !points.length;
  showGroups("tuned", usual, titleOf, drawTuned);
  const scored = data.by_scale.filter(({ scored, y }) => scored || !known(y)); // others cannot be averaged
  $("scaled").hidden = !scored.length;
  showGroups("scales", scored, ({ algorithm }) => algorithm, drawScales);
}

/** A panel for each key. @param {string} id @param {TunedPoint[]} points @param {(point: TunedPoint) => string} key
 * @param {(points: TunedPoint[]) => Drawing} draw */
function showGroups(id, points, key, draw) {
  const keys = distinct(points.map(key));
  showPanels(
    $(id),
    keys.map((each) => [each, each, () => draw(points.filter((point) => key(point) === each))]),
  );
}

/** @param {TunedPoint[]} points @returns {Drawing} */
function drawTuned(points) {
  const traces = distinct(points.map(({ algorithm }) => algorithm)).map((algorithm) => {
    const mine = sortPoints(points.filter((point) => point.algorithm === algorithm));
    const ink = colourOf(algorithm);
    return {
      x: mine.map(({ x }) => x),
      y: mine.map(({ y }) => y),
      mode: "lines+markers",
      name: escapeMarkup(algorithm),
      line: { color: ink, dash: dashOf(algorithm), width: 2 },
      error_y: { array: mine.map(({ std }) => std), color: withOpacity(ink, 0.45), thickness: 1, width: 0 },
      marker: {
        size: mine.map(({ chosen }) => (chosen ? 13 : 5)),
        color: mine.map(({ chosen }) => (chosen ? "rgba(0,0,0,0)" : ink)),
        line: { color: ink, width: mine.map(({ chosen }) => (chosen ? 2.5 : 0)) },
      },
      customdata: mine.map(({ runs, failed }) => `${plural(runs, "run")}${failed ? `, ${failed} failed` : ""}`),
      hovertemplate: `${escapeMarkup(algorithm)}: %{y:.3f} (%{customdata})<extra></extra>`,
    };
  });
  const scored = points.some((point) => point.scored);
  return {
    traces,
    layout: makeLayout({
      hovermode: "closest",
      showlegend: traces.length > 1,
      legend: LEGEND,
      xaxis: valueAxis(points),
      yaxis: scored ? { title: "score", range: scoreRange(points.map(({ y }) => y)) } : { title: "average reward" },
    }),
  };
}

/** @param {TunedPoint[]} points of one algorithm @returns {Drawing} */
function drawScales(points) {
  const dashes = ["dot", "solid", "dash", "dashdot"];
  const symbols = ["triangle-down", "circle", "triangle-up", "square"];
  const color = colourOf(points[0].algorithm);
  const problems = distinct(points.map(({ problem }) => problem)).length;
  const scales = distinct(points.map(({ reward_scale }) => reward_scale)).sort((a, b) => a - b);
  const traces = scales.map((scale, i) => {
    const mine = sortPoints(points.filter(({ reward_scale }) => reward_scale === scale));
    const values = distinct(mine.map(({ x }) => x));
    const background = isDark() ? "#14171a" : "#fdfdfc";
    return {
      x: values,
      y: values.map((x) => meanOverProblems(mine, x, problems)),
      mode: "lines+markers",
      name: `rewards × ${scale}`,
      line: { color, dash: dashes[i % 4], width: 2 },
      marker: { symbol: symbols[i % 4], size: 8, color: background, line: { color, width: 1.6 } },
      hovertemplate: `× ${scale}: %{y:.3f}<extra></extra>`,
    };
  });
  return {
    traces,
    layout: makeLayout({
      hovermode: "x unified",
      showlegend: true,
      legend: LEGEND,
      xaxis: valueAxis(points),
      yaxis: { title: "mean score", range: scoreRange(traces.flatMap(({ y }) => y)) },
    }),
  };
}
