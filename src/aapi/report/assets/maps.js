// Drawing the phases of a run: maps of a grid, of a slice, of states; and one state over the whole run.
import { escapeMarkup } from "./format.js";
import { centredText, colourOf, dashOf, isDark, makeLayout, plotTitle } from "./plots.js";
import { clampPlace, KINDS, valuesOf } from "./traces.js";

/** @typedef {import("./traces.js").Quantity} Quantity */
/** @typedef {import("./traces.js").Place} Place */

/** @param {StateSpace} space @param {Place | null} place the state that is followed; null for the first one */
const followed = (space, place) => clampPlace(space, place ?? KINDS[space.kind].start(space));

/** A map of one phase. @param {TraceData} run @param {number} frame @param {Quantity} quantity
 * @param {[number, number]} range of the colours @param {Place | null} place @returns {Drawing} */
export function drawMap(run, frame, quantity, [zmin, zmax], place) {
  const { algorithm, phases, steps, space, problem } = run;
  const end = steps[frame].toLocaleString("en");
  const title = `${escapeMarkup(algorithm)}, run ${space.run}, phase ${phases[frame]} (to step ${end})`;
  /** @param {object} more */
  const layout = (more) => makeLayout({ title: plotTitle(title), margin: { l: 8, r: 8, t: 36, b: 8 }, ...more });
  if (!run.tables[quantity.table]) {
    const what = quantity.table === "temperature" ? "temperature" : escapeMarkup(quantity.label);
    const hidden = { xaxis: { visible: false }, yaxis: { visible: false } };
    const annotations = [centredText(`${escapeMarkup(algorithm)} has no ${what}`)];
    return { traces: [], layout: layout({ ...hidden, annotations }) };
  }
  const values = valuesOf(run, quantity, frame);
  if (space.kind === "states" && !quantity.wide) {
    const range = [Math.min(0, zmin), zmax * 1.05];
    const yaxis = { title: escapeMarkup(quantity.label), range };
    return { traces: [bars(values, algorithm)], layout: layout({ xaxis: stateAxis(values.length), yaxis }) };
  }
  const heat = {
    type: "heatmap",
    zmin,
    zmax,
    colorscale: quantity.diverging ? "RdBu" : "Cividis",
    reversescale: Boolean(quantity.diverging),
    colorbar: { thickness: 10, len: 0.9, outlinewidth: 0, tickfont: { size: 11 } },
  };
  const draw = { grid: drawGrid, slice: drawSlice, states: drawStates }[space.kind];
  const { traces, axes } = draw(space, values, heat, followed(space, place));
  return { traces, layout: layout({ ...axes, ...(space.kind === "states" ? {} : { uirevision: problem }) }) };
}

/** @param {number} count @returns {Axis} */
const stateAxis = (count) => ({ title: "state", range: [-0.5, count - 0.5] });

/** @param {number[]} values @param {string} algorithm */
const bars = (values, algorithm) => ({
  type: "bar",
  x: values.map((_, state) => state),
  y: values,
  marker: { color: colourOf(algorithm) },
  hovertemplate: "state %{x}: %{y:.4~g}<extra></extra>",
});

/** Rows of a table. @param {number[]} values @param {number[]} shape */
const rowsOf = (values, [down, across]) =>
  Array.from({ length: down }, (_, i) => values.slice(i * across, (i + 1) * across));

/** White marks with black edges, which can be seen on any colour. @param {(number | string)[]} x
 * @param {(number | string)[]} y @param {string} symbol @param {number} size */
const marks = (x, y, symbol, size) =>
  [
    { size: size + 3, color: "#000000" },
    { size, color: "#ffffff" },
  ].map((marker) => ({
    x,
    y,
    mode: "markers",
    hoverinfo: "skip",
    marker: { symbol, ...marker, line: { width: 2 } },
  }));

/** @param {StateSpace} space @param {number[]} values @param {object} heat @param {Place} place */
function drawGrid({ shape = [] }, values, heat, [row, column]) {
  const gap = shape[1] > 25 ? 0 : 1;
  const hovertemplate = "row %{y}, column %{x}: %{z:.4~g}<extra></extra>";
  const square = { constrain: "domain", showgrid: false };
  return {
    traces: [
      { ...heat, z: rowsOf(values, shape), xgap: gap, ygap: gap, hovertemplate },
      ...marks([column], [row], "square-open", 11),
    ],
    axes: {
      xaxis: { title: "column", ...square },
      yaxis: { title: "row", autorange: "reversed", scaleanchor: "x", ...square },
    },
  };
}

/** @param {StateSpace} space @param {number[]} values @param {object} heat @param {Place} place */
function drawSlice({ shape = [], axes = [] }, values, heat, [angle, velocity]) {
  const rows = rowsOf(values, shape);
  const [angles, velocities] = axes;
  const z = velocities.map((_, j) => rows.map((row) => row[j]));
  const hovertemplate = "angle %{x:.2f}, velocity %{y:.2f}: %{z:.4~g}<extra></extra>";
  return {
    traces: [
      { ...heat, z, x: angles, y: velocities, hovertemplate },
      ...marks([angles[angle]], [velocities[velocity]], "square-open", 11),
    ],
    axes: { xaxis: { title: "angle" }, yaxis: { title: "angular velocity" } },
  };
}

/** States × actions, with rings at the optimal ones. @param {StateSpace} space @param {number[]} values
 * @param {object} heat */
function drawStates({ actions, optimal = [] }, values, heat) {
  const z = actions.map((_, action) => optimal.map((__, state) => values[state * actions.length + action]));
  const names = actions.map(escapeMarkup);
  const hovertemplate = "state %{x}, %{y}: %{z:.4~g}<extra></extra>";
  const rings = marks(
    optimal.map((_, state) => state),
    optimal.map((action) => names[action]),
    "circle-open",
    optimal.length > 30 ? 7 : 11,
  );
  return {
    traces: [{ ...heat, z, y: names, xgap: 1, ygap: 1, hovertemplate }, ...rings],
    axes: { xaxis: stateAxis(optimal.length), yaxis: { type: "category" } },
  };
}

/** One state over the whole run. @param {TraceData[]} runs the left one first @param {Quantity} quantity
 * @param {number} step where the maps are @param {Place | null} place @returns {Drawing} */
export function drawFollowed(runs, quantity, step, place) {
  const traces = runs
    .filter(({ tables }) => tables[quantity.table])
    .map((run) => {
      const { space, algorithm } = run;
      const index = KINDS[space.kind].index(space, followed(space, place), quantity);
      return {
        x: run.steps,
        y: run.phases.map((_, frame) => valuesOf(run, quantity, frame)[index]),
        mode: "lines+markers",
        name: escapeMarkup(algorithm),
        line: { color: colourOf(algorithm), dash: dashOf(algorithm), width: 2 },
        marker: { size: 4 },
        hovertemplate: "%{y:.4~g}",
      };
    });
  const levels = traces.flatMap(({ y }) => y);
  const wide = !quantity.range && Math.min(...levels) > 0 && Math.max(...levels) > 20 * Math.min(...levels);
  const { space } = runs[0];
  const where = KINDS[space.kind].describe(space, followed(space, place), quantity);
  const line = { color: isDark() ? "#a2a9b1" : "#5b6168", width: 1, dash: "dot" };
  return {
    traces,
    layout: makeLayout({
      hovermode: "x unified",
      showlegend: true,
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", font: { size: 11 } },
      margin: { l: 8, r: 12, t: 58, b: 8 },
      title: plotTitle(escapeMarkup(`${quantity.label} in ${where}, over the run`)),
      xaxis: { title: "step", tickformat: "~s", hoverformat: ",d" },
      yaxis: { title: escapeMarkup(quantity.label), type: wide ? "log" : "linear", tickformat: "~g" },
      shapes: [{ type: "line", x0: step, x1: step, yref: "paper", y0: 0, y1: 1, line }],
    }),
  };
}
