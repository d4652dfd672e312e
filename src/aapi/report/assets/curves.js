// Learning curves: one panel for each problem, with the same algorithms switched on in all of them.
const METRICS = {
  average: { label: "−(1/t) Σ r", hint: "the paper's measure: minus the average reward so far", axis: "−(1/t) Σ r" },
  regret: { label: "regret", hint: "t λ* − Σ r", axis: "regret" },
  fraction: {
    label: "fraction of λ*",
    hint: "average reward so far, over the best possible one",
    axis: "average reward / λ*",
  },
};
const MANY = 12; // curves in a panel: beyond it, no bands, and one label at a time

function showCurves() {
  offer();
  const rows = data.rows.filter((row) => row.curve && (state.study === ALL || row.study === state.study));
  $("curves").hidden = !rows.length;
  const places = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.study, row.problem, row.scale, row.steps]);
    places.set(key, [...(places.get(key) ?? []), row]);
  }
  const labels = distinct(rows.map((row) => row.algorithm)).sort((a, b) => state.late.has(a) - state.late.has(b));
  legend(labels);
  keepOnly($("panels"), [...places.keys()]);
  const repeated = state.study === ALL && distinct(rows.map((row) => row.study)).length > 1;
  for (const [key, group] of places) {
    const title = titled(group[0].problem, group[0].scale) + (repeated ? ` (${group[0].study})` : "");
    plot(panelFor($("panels"), key, title), () => drawCurves(group));
  }
  const bare =
    rows.some((row) => row.runs < 2) || [...places.values()].some((group) => group.length > MANY)
      ? ` (no bands for one run, or for more than ${MANY} curves)`
      : "";
  const spread = {
    std: `mean ± standard deviation over runs${bare}`,
    quantiles: `median, 25–75 % and 10–90 % of runs${bare}`,
    none: "means over runs",
  }[state.band];
  const early = state.log ? "thousandth" : "fiftieth";
  const some =
    labels.length > MANY ? ` ${labels.filter((label) => !state.hidden.has(label)).length} of ${labels.length} algorithms are switched on.` : "";
  $("curves-caption").textContent =
    `${METRICS[state.metric].hint}; ${spread}; dotted: the optimum. The first ${early} of the steps may lie outside. Drag to zoom, double-click to return.${some}`;
}

// Where parts are exchanged there are too many curves: only some are switched on in the beginning.
function offer() {
  for (const { study, shown } of data.exchanges) {
    const labels = distinct(data.rows.filter((row) => row.study === study).map((row) => row.algorithm));
    if (labels.length <= MANY) continue;
    const elsewhere = new Set(data.rows.filter((row) => row.study !== study).map((row) => row.algorithm));
    for (const label of labels.filter((each) => !state.offered.has(each))) {
      state.offered.add(label);
      if (shown.includes(label) || elsewhere.has(label)) continue;
      state.hidden.add(label);
      state.late.add(label); // in the legend
    }
  }
}

function switched() {
  showCurves();
  showTheory();
}

function legend(labels) {
  const shown = (label) => !state.hidden.has(label);
  const buttons = [...$("legend").children];
  if (!isNew($("legend"), [labels, isDark()])) {
    for (const chip of buttons)
      if (chip.dataset.algorithm !== undefined)
        chip.setAttribute("aria-pressed", String(shown(chip.dataset.algorithm)));
    return;
  }
  const chips = labels.map((label) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({
      x1: 0,
      x2: 29,
      y1: 5,
      y2: 5,
      stroke: colour(label),
      "stroke-width": 3,
      "stroke-dasharray": { dash: "8 5", dot: "3 4", dashdot: "8 4 2 4" }[dash(label)] ?? "",
    }))
      stroke.setAttribute(name, value);
    line.append(stroke);
    return make(
      "button",
      {
        type: "button",
        "aria-pressed": String(shown(label)),
        "data-algorithm": label,
        title: "show or hide in all panels",
        onclick: () => {
          if (shown(label)) state.hidden.add(label);
          else state.hidden.delete(label);
          switched();
        },
      },
      line,
      label,
    );
  });
  if (labels.length > 4) {
    chips.unshift(
      make(
        "button",
        {
          type: "button",
          "data-all": "yes",
          onclick: () => {
            state.hidden.clear();
            switched();
          },
        },
        "all",
      ),
      make(
        "button",
        {
          type: "button",
          "data-all": "no",
          onclick: () => {
            for (const label of labels) state.hidden.add(label);
            switched();
          },
        },
        "none",
      ),
    );
  }
  $("legend").replaceChildren(...chips);
}

// Every metric is linear in the average reward so far: a · average + b at each step.
function metricOf(row, steps) {
  const best = row.optimal_gain;
  if (state.metric === "average")
    return { a: steps.map(() => -1), b: steps.map(() => 0), reference: known(best) ? steps.map(() => -best) : null };
  if (!known(best) || (state.metric === "fraction" && best <= 0)) return null;
  if (state.metric === "regret")
    return { a: steps.map((t) => -t), b: steps.map((t) => t * best), reference: steps.map(() => 0) };
  return { a: steps.map(() => 1 / best), b: steps.map(() => 0), reference: steps.map(() => 1) };
}

function drawCurves(group) {
  const visible = group.filter((row) => !state.hidden.has(row.algorithm));
  const many = visible.length > MANY;
  const traces = [];
  const seen = []; // what the vertical axis has to show
  let reference = null;
  for (const row of visible) {
    const { steps, mean, std, quantiles } = row.curve;
    const metric = metricOf(row, steps);
    if (!metric) continue;
    reference ??= metric.reference && [steps, metric.reference];
    const at = (values) => values.map((value, i) => (known(value) ? metric.a[i] * value + metric.b[i] : null));
    const middle = state.band === "quantiles" ? at(quantiles[2]) : at(mean);
    const bands = {
      std: [[mean.map((m, i) => m - std[i]), mean.map((m, i) => m + std[i]), 0.16]],
      quantiles: [
        [quantiles[0], quantiles[4], 0.1],
        [quantiles[1], quantiles[3], 0.16],
      ],
      none: [],
    }[state.band];
    const late = (values) =>
      values.filter((value, i) => known(value) && steps[i] >= steps.at(-1) * (state.log ? 0.001 : 0.02));
    seen.push(...late(middle));
    if (!many && row.runs > 1) {
      for (const [low, high, opacity] of bands) {
        const [lower, upper] = [at(low), at(high)];
        seen.push(...late(lower), ...late(upper));
        traces.push({
          x: [...steps, ...[...steps].reverse()],
          y: [...lower, ...[...upper].reverse()],
          fill: "toself",
          fillcolor: faded(colour(row.algorithm), opacity),
          line: { width: 0 },
          mode: "lines",
          hoverinfo: "skip",
        });
      }
    }
    const sd = std.map((value, i) => Math.abs(metric.a[i]) * value);
    traces.push({
      x: steps,
      y: middle,
      mode: steps.length > 1 ? "lines" : "markers",
      name: plain(row.algorithm),
      line: { color: colour(row.algorithm), dash: dash(row.algorithm), width: many ? 1.3 : 2 },
      customdata: sd,
      hovertemplate: state.band === "quantiles" || row.runs < 2 ? "%{y:.5~g}" : "%{y:.5~g} ± %{customdata:.2~g}",
    });
  }
  if (reference) {
    seen.push(...reference[1]);
    traces.push({
      x: reference[0],
      y: reference[1],
      mode: "lines",
      name: "optimum",
      line: { color: isDark() ? "#c7ccd1" : "#44484d", dash: "dot", width: 1.3 },
      hovertemplate: "%{y:.5~g}",
    });
  }
  const unknown = visible.length && !traces.length;
  const why = known(group[0].optimal_gain)
    ? "λ* is not positive, so there is no fraction of it"
    : "the optimum of this problem is not known";
  const low = seen.reduce((a, b) => Math.min(a, b), Infinity),
    high = seen.reduce((a, b) => Math.max(a, b), -Infinity);
  const room = 0.05 * (high - low || Math.abs(high) || 1);
  const last = Math.max(...group.map((row) => row.curve.steps.at(-1)));
  return {
    traces,
    layout: layout({
      hovermode: many ? "closest" : "x unified",
      uirevision: `${state.metric} ${state.log} ${state.band}`,
      xaxis: {
        title: "step t",
        type: state.log ? "log" : "linear",
        range: state.log ? [Math.log10(Math.max(1, last / 1000)), Math.log10(last)] : [0, last],
        hoverformat: ",d",
        exponentformat: "none",
        nticks: 6,
        ...(state.log ? { dtick: 1 } : { tickformat: "~s" }),
      },
      yaxis: {
        title: METRICS[state.metric].axis,
        ...(seen.length ? { range: [low - room, high + room] } : {}),
        tickformat: state.metric === "regret" ? "~s" : "~g",
      },
      annotations: unknown ? [{ text: why, xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false }] : [],
    }),
  };
}
