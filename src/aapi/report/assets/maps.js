// Drawing what is inside: maps of a grid, of a slice, of states; and one state over the whole run.
function drawMap({ inside, frame }, quantity, [zmin, zmax]) {
  const title = {
    text: `${plain(inside.algorithm)}, run ${inside.about.run}, phase ${inside.phases[frame]} (to step ${inside.steps[frame].toLocaleString("en")})`,
    font: { size: 13 },
    x: 0.02,
    xanchor: "left",
  };
  const frameOf = { title, margin: { l: 8, r: 8, t: 36, b: 8 } };
  if (!inside.tables[quantity.table]) {
    const why = `${plain(inside.algorithm)} has no ${quantity.table === "temperature" ? "temperature" : plain(quantity.label)}`;
    return {
      traces: [],
      layout: layout({
        ...frameOf,
        xaxis: { visible: false },
        yaxis: { visible: false },
        annotations: [{ text: why, showarrow: false, x: 0.5, y: 0.5, xref: "paper", yref: "paper" }],
      }),
    };
  }
  const values = valuesOf(inside, quantity, frame);
  const paint = {
    type: "heatmap",
    zmin,
    zmax,
    colorscale: quantity.diverging ? "RdBu" : "Cividis",
    reversescale: Boolean(quantity.diverging),
    colorbar: { thickness: 10, len: 0.9, outlinewidth: 0, tickfont: { size: 11 } },
  };
  return { grid: drawGrid, slice: drawSlice, states: drawStates }[inside.about.kind](
    inside,
    quantity,
    values,
    paint,
    frameOf,
  );
}

const rows = (values, [down, across]) =>
  Array.from({ length: down }, (_, i) => values.slice(i * across, (i + 1) * across));
const mark = (x, y) =>
  [
    [14, "#000000"],
    [11, "#ffffff"],
  ].map(([size, color]) => ({
    x: [x],
    y: [y],
    mode: "markers",
    marker: { symbol: "square-open", size, color, line: { width: 2 } },
    hoverinfo: "skip",
  }));

function drawGrid(inside, quantity, values, paint, frameOf) {
  const { about } = inside,
    [row, column] = placeOf(about),
    gap = about.shape[1] > 25 ? 0 : 1;
  const heat = {
    ...paint,
    z: rows(values, about.shape),
    xgap: gap,
    ygap: gap,
    hovertemplate: "row %{y}, column %{x}: %{z:.4~g}<extra></extra>",
  };
  const square = { constrain: "domain", showgrid: false };
  return {
    traces: [heat, ...mark(column, row)],
    layout: layout({
      ...frameOf,
      xaxis: { title: "column", ...square },
      yaxis: { title: "row", autorange: "reversed", scaleanchor: "x", ...square },
      uirevision: inside.problem,
    }),
  };
}

function drawSlice(inside, quantity, values, paint, frameOf) {
  const { about } = inside,
    [angle, turn] = placeOf(about),
    z = rows(values, about.shape);
  const heat = {
    ...paint,
    z: about.axes[1].map((_, j) => z.map((line) => line[j])),
    x: about.axes[0],
    y: about.axes[1],
    hovertemplate: "angle %{x:.2f}, velocity %{y:.2f}: %{z:.4~g}<extra></extra>",
  };
  return {
    traces: [heat, ...mark(about.axes[0][angle], about.axes[1][turn])],
    layout: layout({
      ...frameOf,
      xaxis: { title: "angle" },
      yaxis: { title: "angular velocity" },
      uirevision: inside.problem,
    }),
  };
}

function drawStates(inside, quantity, values, paint, frameOf) {
  const { actions, optimal } = inside.about;
  const xaxis = { title: "state", range: [-0.5, optimal.length - 0.5] };
  if (!quantity.wide) {
    const bars = {
      type: "bar",
      x: values.map((_, state) => state),
      y: values,
      marker: { color: colour(inside.algorithm) },
      hovertemplate: "state %{x}: %{y:.4~g}<extra></extra>",
    };
    return {
      traces: [bars],
      layout: layout({
        ...frameOf,
        xaxis,
        yaxis: { title: plain(quantity.label), range: [Math.min(0, paint.zmin), paint.zmax * 1.05] },
      }),
    };
  }
  const heat = {
    ...paint,
    z: actions.map((_, action) => optimal.map((__, state) => values[state * actions.length + action])),
    y: actions.map(plain),
    xgap: 1,
    ygap: 1,
    hovertemplate: "state %{x}, %{y}: %{z:.4~g}<extra></extra>",
  };
  const size = optimal.length > 30 ? 7 : 11;
  const rings = [
    [size + 3, "#000000"],
    [size, "#ffffff"],
  ].map(([width, color]) => ({
    x: optimal.map((_, state) => state),
    y: optimal.map((action) => plain(actions[action])),
    mode: "markers",
    hoverinfo: "skip",
    marker: { symbol: "circle-open", size: width, color, line: { width: 2 } },
  }));
  return { traces: [heat, ...rings], layout: layout({ ...frameOf, xaxis, yaxis: { type: "category" } }) };
}

function drawTrace(quantity, step) {
  const shown = distinct([insideOf("left"), insideOf("right")]).filter((inside) => inside.tables[quantity.table]);
  const traces = shown.map((inside) => {
    const index = KINDS[inside.about.kind].index(inside.about, placeOf(inside.about), quantity);
    const values = inside.phases.map((_, frame) => valuesOf(inside, quantity, frame)[index]);
    return {
      x: inside.steps,
      y: values,
      mode: "lines+markers",
      name: plain(inside.algorithm),
      line: { color: colour(inside.algorithm), dash: dash(inside.algorithm), width: 2 },
      marker: { size: 4 },
      hovertemplate: "%{y:.4~g}",
    };
  });
  const levels = traces.flatMap((trace) => trace.y);
  const far = !quantity.range && Math.min(...levels) > 0 && Math.max(...levels) > 20 * Math.min(...levels);
  const { about } = insideOf("left");
  return {
    traces,
    layout: layout({
      hovermode: "x unified",
      showlegend: true,
      legend: { orientation: "h", y: 1.01, yanchor: "bottom", font: { size: 11 } },
      margin: { l: 8, r: 12, t: 58, b: 8 },
      title: {
        text: plain(`${quantity.label} in ${KINDS[about.kind].words(about, placeOf(about), quantity)}, over the run`),
        font: { size: 13 },
        x: 0.02,
        xanchor: "left",
      },
      xaxis: { title: "step", tickformat: "~s", hoverformat: ",d" },
      yaxis: { title: plain(quantity.label), type: far ? "log" : "linear", tickformat: "~g" },
      shapes: [
        {
          type: "line",
          x0: step,
          x1: step,
          yref: "paper",
          y0: 0,
          y1: 1,
          line: { color: isDark() ? "#a2a9b1" : "#5b6168", width: 1, dash: "dot" },
        },
      ],
    }),
  };
}
