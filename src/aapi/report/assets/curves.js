// Learning curves: one panel for each problem, with the same algorithms switched on in all of them.
import { $, isNew, makeButton } from "./dom.js";
import { distinct, escapeMarkup, known, titleOf, withOpacity } from "./format.js";
import { centredText, colourOf, dashOf, isDark, makeLayout, showPanels } from "./plots.js";
import { ALL, data, isShown, MANY, state } from "./state.js";
import { showTheory } from "./theory.js";

/** @typedef {RowData & {curve: CurveData}} CurveRow */
/** @typedef {import("./state.js").Metric} Metric */

/** @type {Record<Metric, {label: string, hint: string, axis: string}>} */
export const METRICS = {
  average: { label: "−(1/t) Σ r", hint: "the paper's measure: minus the average reward so far", axis: "−(1/t) Σ r" },
  regret: { label: "regret", hint: "t λ* − Σ r", axis: "regret" },
  fraction: {
    label: "fraction of λ*",
    hint: "average reward so far, over the best possible one",
    axis: "average reward / λ*",
  },
};

/** Every metric is linear in the average reward so far: slope · average + offset at step t.
 * Nothing where it does not exist: without an optimal gain, or for fractions of one that is not positive.
 * @param {Metric} metric @param {number | null} gain the optimal one */
export function linearMetric(metric, gain) {
  /** @typedef {(t: number) => number} OfStep */
  /** @param {OfStep} slope @param {OfStep} offset @param {number | null} optimum */
  const line = (slope, offset, optimum) => ({ slope, offset, optimum });
  const zero = () => 0;
  if (metric === "average") return line(() => -1, zero, known(gain) ? -gain : null);
  if (!known(gain) || (metric === "fraction" && gain <= 0)) return null;
  if (metric === "regret")
    return line(
      (t) => -t,
      (t) => t * gain,
      0,
    );
  return line(() => 1 / gain, zero, 1);
}

/** The line of a curve, and bands around it with their opacities, in average rewards.
 * @param {CurveData} curve @param {typeof state.band} band
 * @returns {{middle: Numbers, bands: [lower: Numbers, upper: Numbers, opacity: number][]}} */
export function curveBands({ mean, std, quantiles }, band) {
  if (band === "none") return { middle: mean, bands: [] };
  if (band === "quantiles") {
    const [lowest, low, middle, high, highest] = quantiles;
    return {
      middle,
      bands: [
        [lowest, highest, 0.1],
        [low, high, 0.16],
      ],
    };
  }
  /** @param {1 | -1} sign */
  const edge = (sign) => mean.map((value, i) => (known(value) ? value + sign * (std[i] ?? 0) : null));
  return { middle: mean, bands: [[edge(-1), edge(1), 0.16]] };
}

/** The range of an axis, with some room around the values. @param {number[]} values */
export function paddedRange(values) {
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const room = 0.05 * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

export function showCurves() {
  hideMostOfAblations();
  const rows = /** @type {CurveRow[]} */ (data.rows.filter((row) => row.curve && isShown(row)));
  $("curves").hidden = !rows.length;
  /** @type {Map<string, CurveRow[]>} */
  const problems = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.study, row.problem, row.reward_scale, row.steps]);
    problems.set(key, [...(problems.get(key) ?? []), row]);
  }
  const several = state.study === ALL && distinct(rows.map(({ study }) => study)).length > 1;
  showPanels(
    $("panels"),
    [...problems].map(([key, group]) => {
      const title = titleOf(group[0]) + (several ? ` (${group[0].study})` : "");
      return [key, title, () => drawCurves(group)];
    }),
  );
  const labels = distinct(rows.map(({ algorithm }) => algorithm));
  labels.sort((a, b) => Number(state.last.has(a)) - Number(state.last.has(b)));
  showLegend(labels);
  $("curves-caption").textContent = caption(rows, [...problems.values()], labels);
}

/** @param {CurveRow[]} rows @param {CurveRow[][]} groups @param {string[]} labels */
function caption(rows, groups, labels) {
  const bare =
    rows.some(({ runs }) => runs < 2) || groups.some((group) => group.length > MANY)
      ? ` (no bands for one run, or for more than ${MANY} curves)`
      : "";
  const spread = {
    std: `mean ± standard deviation over runs${bare}`,
    quantiles: `median, 25–75 % and 10–90 % of runs${bare}`,
    none: "means over runs",
  }[state.band];
  const first = `The first ${state.logSteps ? "thousandth" : "fiftieth"} of the steps may lie outside.`;
  const on = labels.filter((label) => !state.hidden.has(label)).length;
  const some = labels.length > MANY ? ` ${on} of ${labels.length} algorithms are switched on.` : "";
  const { hint } = METRICS[state.metric];
  return `${hint}; ${spread}; dotted: the optimum. ${first} Drag to zoom, double-click to return.${some}`;
}

/** Ablations have too many curves: only some are switched on in the beginning. */
function hideMostOfAblations() {
  for (const { study, shown } of data.ablations) {
    const labels = distinct(data.rows.filter((row) => row.study === study).map((row) => row.algorithm));
    if (labels.length <= MANY) continue;
    const elsewhere = new Set(data.rows.filter((row) => row.study !== study).map((row) => row.algorithm));
    for (const label of labels.filter((each) => !state.offered.has(each))) {
      state.offered.add(label);
      if (shown.includes(label) || elsewhere.has(label)) continue;
      state.hidden.add(label);
      state.last.add(label);
    }
  }
}

/** Switch algorithms on or off, here and in the plots of theory. @param {string[]} labels @param {boolean} on */
function switchAlgorithms(labels, on) {
  for (const label of labels) {
    if (on) state.hidden.delete(label);
    else state.hidden.add(label);
  }
  showCurves();
  showTheory();
}

/** @param {string[]} labels */
function showLegend(labels) {
  /** @param {string} label */
  const isOn = (label) => !state.hidden.has(label);
  if (isNew($("legend"), [labels, isDark()])) {
    const buttons = labels.map((label) => {
      const toggle = () => switchAlgorithms([label], !isOn(label));
      const button = makeButton(lineSample(label), toggle, {
        "data-algorithm": label,
        title: "show or hide in all panels",
      });
      button.append(label);
      return button;
    });
    if (labels.length > 4)
      buttons.unshift(
        makeButton("all", () => switchAlgorithms([...state.hidden], true), { "data-all": "yes" }),
        makeButton("none", () => switchAlgorithms(labels, false), { "data-all": "no" }),
      );
    $("legend").replaceChildren(...buttons);
  }
  for (const button of $("legend").querySelectorAll("button")) {
    const label = button.dataset.algorithm;
    if (label !== undefined) button.setAttribute("aria-pressed", String(isOn(label)));
  }
}

/** A short line as an algorithm is drawn. @param {string} label */
function lineSample(label) {
  const [image, line] = ["svg", "line"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  const dashes = /** @type {Record<string, string>} */ ({ dash: "8 5", dot: "3 4", dashdot: "8 4 2 4" });
  const attributes = { x1: 0, x2: 29, y1: 5, y2: 5, stroke: colourOf(label), "stroke-width": 3 };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, String(value));
  line.setAttribute("stroke-dasharray", dashes[dashOf(label)] ?? "");
  image.append(line);
  return image;
}

/** @param {CurveRow[]} group @returns {Drawing} */
function drawCurves(group) {
  const visible = group.filter((row) => !state.hidden.has(row.algorithm));
  const many = visible.length > MANY;
  const drawn = visible.map((row) => drawCurve(row, many)).filter(known);
  const traces = drawn.flatMap((each) => each.traces);
  const levels = drawn.flatMap((each) => each.levels); // what the vertical axis has to show
  const optimum = drawn.find((each) => known(each.optimum))?.optimum;
  if (known(optimum)) {
    const { steps } = visible[0].curve;
    levels.push(optimum);
    traces.push({
      x: steps,
      y: steps.map(() => optimum),
      mode: "lines",
      name: "optimum",
      line: { color: isDark() ? "#c7ccd1" : "#44484d", dash: "dot", width: 1.3 },
      hovertemplate: "%{y:.5~g}",
    });
  }
  const why = known(group[0].optimal_gain)
    ? "λ* is not positive, so there is no fraction of it"
    : "the optimum of this problem is not known";
  return {
    traces,
    layout: makeLayout({
      hovermode: many ? "closest" : "x unified",
      uirevision: `${state.metric} ${state.logSteps} ${state.band}`,
      xaxis: stepAxis(Math.max(...group.map(({ curve }) => curve.steps.at(-1) ?? 1))),
      yaxis: {
        title: METRICS[state.metric].axis,
        ...(levels.length ? { range: paddedRange(levels) } : {}),
        tickformat: state.metric === "regret" ? "~s" : "~g",
      },
      annotations: visible.length && !traces.length ? [centredText(why)] : [],
    }),
  };
}

/** @param {number} last @returns {Axis} */
function stepAxis(last) {
  const shared = { title: "step t", hoverformat: ",d", exponentformat: "none", nticks: 6 };
  if (!state.logSteps) return { ...shared, type: "linear", range: [0, last], tickformat: "~s" };
  return { ...shared, type: "log", range: [Math.log10(Math.max(1, last / 1000)), Math.log10(last)], dtick: 1 };
}

/** The line and bands of one algorithm, and their levels after the first steps; nothing where the metric has none.
 * @param {CurveRow} row @param {boolean} many */
function drawCurve({ algorithm, optimal_gain, runs, curve }, many) {
  const metric = linearMetric(state.metric, optimal_gain);
  if (!metric) return null;
  const { steps, std } = curve;
  /** @param {Numbers} values */
  const transform = (values) =>
    values.map((value, i) => (known(value) ? metric.slope(steps[i]) * value + metric.offset(steps[i]) : null));
  const early = (steps.at(-1) ?? 1) * (state.logSteps ? 0.001 : 0.02); // noise of another size
  /** @param {Numbers} values */
  const late = (values) => values.filter((value, i) => known(value) && steps[i] >= early).filter(known);
  const { middle, bands } = curveBands(curve, state.band);
  const y = transform(middle);
  const levels = late(y);
  /** @type {object[]} */
  const traces = [];
  for (const [low, high, opacity] of many || runs < 2 ? [] : bands) {
    const [lower, upper] = [transform(low), transform(high)];
    levels.push(...late(lower), ...late(upper));
    traces.push({
      x: [...steps, ...[...steps].reverse()],
      y: [...lower, ...upper.reverse()],
      fill: "toself",
      fillcolor: withOpacity(colourOf(algorithm), opacity),
      line: { width: 0 },
      mode: "lines",
      hoverinfo: "skip",
    });
  }
  traces.push({
    x: steps,
    y,
    mode: steps.length > 1 ? "lines" : "markers",
    name: escapeMarkup(algorithm),
    line: { color: colourOf(algorithm), dash: dashOf(algorithm), width: many ? 1.3 : 2 },
    customdata: std.map((value, i) => Math.abs(metric.slope(steps[i])) * (value ?? 0)),
    hovertemplate: state.band === "quantiles" || runs < 2 ? "%{y:.5~g}" : "%{y:.5~g} ± %{customdata:.2~g}",
  });
  return { traces, levels, optimum: metric.optimum };
}
