// How regret grows with T where rewards change: one panel for each problem, on logarithmic axes, and the exponents.
import { $, make, makeScroller, makeTable } from "./dom.js";
import { distinct, formatNumber, known } from "./format.js";
import { colourOf, dashOf, LEGEND, makeBand, makeLayout, showPanels } from "./plots.js";
import { data } from "./state.js";

/** p with its interval, if it has one. @param {ExponentData} exponent */
export function exponentText({ estimate, lower, upper }) {
  const interval = known(lower) && known(upper) ? ` [${lower.toFixed(2)}, ${upper.toFixed(2)}]` : "";
  return `${estimate.toFixed(2)}${interval}`;
}

/** A band on a logarithmic axis goes no lower than a tenth of its mean. @param {BandData} band @returns {BandData} */
export function clipBand({ mean, lower, upper }) {
  const floor = (/** @type {number | null} */ low, /** @type {number} */ i) =>
    known(low) ? Math.max(low, 0.1 * (mean[i] ?? 0)) : low;
  return { mean, lower: lower.map(floor), upper };
}

export function showGrowth() {
  const problems = distinct(data.growth.map(({ problem }) => problem));
  $("growth").hidden = !problems.length;
  if (!problems.length) return;
  showPanels(
    $("growth-panels"),
    problems.map((name) => [name, name, () => drawGrowth(data.growth.filter(({ problem }) => problem === name))]),
  );
  const heads = ["problem", "algorithm", "p", "regret at the largest T"];
  const rows = data.growth.map(({ problem, algorithm, exponent, regret, steps }) =>
    make(
      "tr",
      {},
      ...[problem, algorithm].map((name) => make("td", { class: "name" }, name)),
      make("td", {}, exponentText(exponent)),
      make(
        "td",
        {},
        `${formatNumber(regret.mean[regret.mean.length - 1])} at ${formatNumber(steps[steps.length - 1])}`,
      ),
    ),
  );
  const table = makeTable(
    heads.map((name) => make("th", { scope: "col" }, name)),
    rows,
    { class: "plain" },
  );
  $("growth-exponents").replaceChildren(makeScroller("exponents of regret", table));
}

/** @param {RegretGrowth[]} found @returns {Drawing} */
function drawGrowth(found) {
  const traces = found.flatMap(({ algorithm, steps, regret, exponent, fitted }) => {
    const color = colourOf(algorithm);
    const name = `${algorithm}: T^${exponentText(exponent)}`;
    const points = { mode: "markers", marker: { color, size: 6 }, name: algorithm, showlegend: false };
    const hovertemplate = `${algorithm}: %{y:.4g}<extra></extra>`;
    const line = { color, dash: dashOf(algorithm), width: 2 };
    return [
      ...makeBand(steps, clipBand(regret), color),
      { x: steps, y: fitted, mode: "lines", name, line, hoverinfo: "skip" },
      { x: steps, y: regret.mean, ...points, hovertemplate },
    ];
  });
  const log = { type: "log", exponentformat: "power", dtick: 1 };
  const axes = { xaxis: { title: "T", ...log }, yaxis: { title: "regret", ...log } };
  return { traces, layout: makeLayout({ hovermode: "x unified", showlegend: true, legend: LEGEND, ...axes }) };
}
