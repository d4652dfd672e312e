// Scores of tuning runs, by the value that was tried; and with rewards on other scales.
const LEGEND = { orientation: "h", y: 1.02, yanchor: "bottom", traceorder: "normal", font: { size: 11 } };

function valueAxis(entries) {
  const names = distinct(entries.flatMap((entry) => entry.names))
    .map(plain)
    .join(", ");
  const even = entries.every((entry) => typeof entry.x === "number" && entry.x > 0);
  return even ? { title: names, type: "log", exponentformat: "none" } : { title: names, type: "category" };
}

function showSensitivity() {
  const entries = data.sensitivity.filter((entry) => known(entry.y));
  const plainly = new Set(entries.filter((entry) => entry.scale === 1).map((entry) => entry.problem));
  const usual = entries.filter((entry) => entry.scale === 1 || !plainly.has(entry.problem)); // other scales are below
  const titles = distinct(usual.map((entry) => titled(entry.problem, entry.scale)));
  $("sensitivity").hidden = !entries.length;
  keepOnly($("tuned"), titles);
  for (const title of titles) {
    const mine = usual.filter((entry) => titled(entry.problem, entry.scale) === title);
    plot(panelFor($("tuned"), title, title), () => drawTuned(mine));
  }
  const scored = data.scaled.filter((entry) => entry.comparable);
  const algorithms = distinct(scored.map((entry) => entry.algorithm));
  $("scaled").hidden = !algorithms.length;
  keepOnly($("scales"), algorithms);
  for (const algorithm of algorithms) {
    plot(panelFor($("scales"), algorithm, algorithm), () =>
      drawScales(scored.filter((entry) => entry.algorithm === algorithm)),
    );
  }
}

function drawTuned(entries) {
  const traces = [];
  for (const algorithm of distinct(entries.map((entry) => entry.algorithm))) {
    const mine = ordered(entries.filter((entry) => entry.algorithm === algorithm));
    traces.push({
      x: mine.map((e) => e.x),
      y: mine.map((e) => e.y),
      mode: "lines+markers",
      name: plain(algorithm),
      line: { color: colour(algorithm), dash: dash(algorithm), width: 2 },
      error_y: { array: mine.map((e) => e.deviation), color: faded(colour(algorithm), 0.45), thickness: 1, width: 0 },
      marker: {
        size: mine.map((e) => (e.chosen ? 13 : 5)),
        color: mine.map((e) => (e.chosen ? "rgba(0,0,0,0)" : colour(algorithm))),
        line: { color: colour(algorithm), width: mine.map((e) => (e.chosen ? 2.5 : 0)) },
      },
      customdata: mine.map((e) => `${e.runs} run${e.runs === 1 ? "" : "s"}${e.failed ? `, ${e.failed} failed` : ""}`),
      hovertemplate: `${plain(algorithm)}: %{y:.3f} (%{customdata})<extra></extra>`,
    });
  }
  const scored = entries.some((entry) => entry.scored);
  return {
    traces,
    layout: layout({
      hovermode: "closest",
      showlegend: traces.length > 1,
      legend: LEGEND,
      xaxis: valueAxis(entries),
      yaxis: {
        title: scored ? "score" : "average reward",
        ...(scored ? { range: range(entries.map((entry) => entry.y)) } : {}),
      },
    }),
  };
}

// From acting at random, or below, to the optimum.
const range = (levels) => [Math.min(0, ...levels.filter(known)) - 0.05, 1.07];
// In the order of the axis.
const ordered = (entries) =>
  [...entries].sort((a, b) => (typeof a.x === "number" && typeof b.x === "number" ? a.x - b.x : 0));

function drawScales(entries) {
  const marks = { 0: "dot", 1: "solid", 2: "dash", 3: "dashdot" };
  const symbols = ["triangle-down", "circle", "triangle-up", "square"];
  const algorithm = entries[0].algorithm,
    problems = distinct(entries.map((entry) => entry.problem)).length;
  const traces = distinct(entries.map((entry) => entry.scale))
    .sort((a, b) => a - b)
    .map((scale, i) => {
      const mine = ordered(entries.filter((entry) => entry.scale === scale));
      const values = distinct(mine.map((entry) => entry.x));
      const mean = (x) => {
        // over all problems, or none: a candidate that failed on one has no mean
        const found = mine.filter((entry) => entry.x === x && known(entry.y) && !entry.failed);
        return found.length === problems ? found.reduce((sum, entry) => sum + entry.y, 0) / problems : null;
      };
      return {
        x: values,
        y: values.map(mean),
        mode: "lines+markers",
        name: `rewards × ${scale}`,
        line: { color: colour(algorithm), dash: marks[i % 4], width: 2 },
        marker: {
          symbol: symbols[i % 4],
          size: 8,
          color: isDark() ? "#14171a" : "#fdfdfc",
          line: { color: colour(algorithm), width: 1.6 },
        },
        hovertemplate: `× ${scale}: %{y:.3f}<extra></extra>`,
      };
    });
  return {
    traces,
    layout: layout({
      hovermode: "x unified",
      showlegend: true,
      legend: LEGEND,
      xaxis: valueAxis(entries),
      yaxis: { title: "mean score", range: range(traces.flatMap((trace) => trace.y)) },
    }),
  };
}
