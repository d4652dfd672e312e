// Inside the learner: maps of what one run saw, believed and did, phase by phase, for two algorithms side by side.
const CAPTIONS = {
  visits: "Steps that the phase spent in each place.",
  policy: "The policy π_k by which the phase acted.",
  q_hat: "Q̂_k, estimated from the data of the phase.",
  advantage: "The estimate for one action minus that for the other: above zero, the index of the policy moves to the first.",
  temperature: "η_k(x), the temperature of the next policy. AAPI sets it in each state from how surprising the estimates were there; POLITEX has one for all states.",
  surprise: "‖Q̂_k(x,·) − M_k(x,·)‖: how far the estimate is from what was predicted, the estimate before it.",
};
const MOST_ACTIONS = 6; // with a button each
const looked = { problem: null, left: null, right: null, quantity: "temperature", frame: null, place: null, range: "phase", playing: null };

const insidesOf = (problem) => data.insides.filter((inside) => inside.problem === problem);
const insideOf = (side) => data.insides.find((inside) => inside.problem === looked.problem && inside.algorithm === looked[side]);

function quantities(about) {
  const actions = about.actions;
  const few = actions.map((name, action) => ({ name, action })).slice(0, MOST_ACTIONS);
  const list = [{ key: "visits", label: "visits", table: "visits" }];
  if (about.kind === "states") {
    list.push({ key: "policy", label: "policy", table: "policy", wide: true, range: [0, 1] }, { key: "q_hat", label: "Q̂", table: "q_hat", wide: true });
  } else {
    for (const { name, action } of actions.length === 2 ? few.slice(1) : few) list.push({ key: `policy ${name}`, label: `P(${name})`, table: "policy", action, range: [0, 1], diverging: true });
    for (const { name, action } of few) list.push({ key: `q_hat ${name}`, label: `Q̂(${name})`, table: "q_hat", action });
    if (actions.length === 2) list.push({ key: "advantage", label: `Q̂(${actions[1]}) − Q̂(${actions[0]})`, table: "q_hat", caption: "advantage", action: 1, minus: 0, diverging: true });
  }
  list.push({ key: "temperature", label: "temperature η", table: "temperature" }, { key: "surprise", label: "surprise", table: "surprise" });
  return list;
}

// The bytes of a table stand for numbers between a lowest and a highest one, frame by frame.
function valuesOf(inside, quantity, frame) {
  const table = inside.tables[quantity.table];
  if (!table) return null;
  table.bytes ??= Uint8Array.from(atob(table.packed), (letter) => letter.charCodeAt(0));
  const size = table.bytes.length / inside.phases.length;
  const step = (table.high[frame] - table.low[frame]) / 255;
  const all = Array.from(table.bytes.subarray(frame * size, (frame + 1) * size), (byte) => table.low[frame] + step * byte);
  if (!known(quantity.action)) return all;
  const actions = inside.about.actions.length;
  const of = (action) => all.filter((_, i) => i % actions === action);
  if (!known(quantity.minus)) return of(quantity.action);
  const other = of(quantity.minus);
  return of(quantity.action).map((value, i) => value - other[i]);
}

// The frame of another run that is nearest in steps.
function nearest(inside, step) {
  const steps = inside.phases.map((phase) => phase * inside.about.phase_length);
  return steps.reduce((best, value, i) => (Math.abs(value - step) < Math.abs(steps[best] - step) ? i : best), 0);
}

function showInside() {
  const problems = distinct(data.insides.map((inside) => inside.problem));
  $("inside").hidden = !problems.length;
  if (!problems.length) return;
  if (!problems.includes(looked.problem)) looked.problem = problems.find((problem) => insidesOf(problem)[0].about.kind === "grid") ?? problems[0];
  options($("inside-problem"), problems, looked.problem);
  const algorithms = insidesOf(looked.problem).map((inside) => inside.algorithm);
  if (!algorithms.includes(looked.left)) looked.left = algorithms[0];
  if (!algorithms.includes(looked.right)) looked.right = algorithms[1] ?? algorithms[0];
  options($("inside-left"), algorithms, looked.left);
  options($("inside-right"), algorithms, looked.right);
  const list = quantities(insideOf("left").about).filter((each) => insidesOf(looked.problem).some((inside) => inside.tables[each.table]));
  if (!list.some((each) => each.key === looked.quantity)) looked.quantity = (list.find((each) => each.table === "policy") ?? list[0]).key;
  choices($("quantity"), list.map((each) => [each.key, each.label]), looked.quantity, (key) => { looked.quantity = key; drawInside(); });
  choices($("range"), [["phase", "colours of this phase"], ["all", "of all phases"]], looked.range, (value) => { looked.range = value; drawInside(); });
  const frames = insideOf("left").phases.length;
  $("phase").max = frames - 1;
  if (looked.frame === null || looked.frame >= frames) looked.frame = Math.floor(frames / 3);
  drawInside();
}

// The state that is followed: the first one, or the middle of a slice, until another is clicked on.
function placeOf() {
  const { kind, shape } = insideOf("left").about;
  return looked.place ?? (kind === "slice" ? shape.map((size) => Math.floor(size / 2)) : [0, 0]);
}

function drawInside() {
  const left = insideOf("left"), right = insideOf("right");
  const quantity = quantities(left.about).find((each) => each.key === looked.quantity);
  const step = left.phases[looked.frame] * left.about.phase_length;
  $("phase").value = looked.frame;
  $("phase").setAttribute("aria-valuetext", `phase ${left.phases[looked.frame]}`);
  $("phase-number").textContent = `${left.phases[looked.frame]} of ${left.phases.at(-1)}`;
  const kind = left.about.kind;
  const where = kind === "slice" ? " The last two observations, the others in their middle; for CartPole angle and angular velocity with the cart at rest in the centre." : kind === "states" ? " Rings: the optimal policy." : "";
  $("quantity-caption").textContent = CAPTIONS[quantity.caption ?? quantity.table] + (quantity.table === "visits" && kind === "slice" ? " The last two observations, whatever the others." : where);
  const place = placeOf();
  const click = (point) => {
    looked.place = kind === "states" ? [point.x, quantity.wide ? point.pointNumber[0] : 0] : [point.pointNumber[0], point.pointNumber[1]];
    drawInside();
  };
  plot($("left-map"), () => drawMap(left, quantity, looked.frame, place), click);
  plot($("right-map"), () => drawMap(right, quantity, nearest(right, step), place), click);
  plot($("trace"), () => drawTrace(quantity, place, step), null);
}

const mapTitle = (inside, frame) => ({ text: `${plain(inside.algorithm)}, run ${inside.about.run}, phase ${inside.phases[frame]} (to step ${(inside.phases[frame] * inside.about.phase_length).toLocaleString("en")})`, font: { size: 13 }, x: 0.02, xanchor: "left" });

function rangeOf(inside, quantity, frame) {
  if (quantity.range) return quantity.range;
  const frames = looked.range === "phase" ? [frame] : inside.phases.map((_, i) => i);
  let [low, high] = [Infinity, -Infinity];
  for (const each of frames) for (const value of valuesOf(inside, quantity, each)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (quantity.diverging) { high = Math.max(Math.abs(low), Math.abs(high)); low = -high; }
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

function drawMap(inside, quantity, frame, place) {
  const values = valuesOf(inside, quantity, frame);
  const title = mapTitle(inside, frame);
  const margin = { l: 8, r: 8, t: 36, b: 8 };
  if (!values) {
    const why = quantity.table === "temperature" ? "has no temperature" : `has no ${quantity.label} here`;
    return { traces: [], layout: layout({ title, margin, xaxis: { visible: false }, yaxis: { visible: false }, annotations: [{ text: `${plain(inside.algorithm)} ${why}`, showarrow: false, x: 0.5, y: 0.5, xref: "paper", yref: "paper" }] }) };
  }
  const [zmin, zmax] = rangeOf(inside, quantity, frame);
  const paint = { zmin, zmax, colorscale: quantity.diverging ? "RdBu" : "Cividis", reversescale: Boolean(quantity.diverging), colorbar: { thickness: 10, len: 0.9, outlinewidth: 0, tickfont: { size: 11 } } };
  if (inside.about.kind === "states") return drawStates(inside, quantity, values, paint, title, margin);
  const [rows, columns] = inside.about.shape;
  const z = Array.from({ length: rows }, (_, row) => values.slice(row * columns, (row + 1) * columns));
  const slice = inside.about.kind === "slice";
  const [down, across] = slice ? inside.about.axes : [[...z.keys()], [...z[0].keys()]];
  const heat = slice // angle along the horizontal axis
    ? { z: across.map((_, j) => down.map((__, i) => z[i][j])), x: down, y: across, hovertemplate: "angle %{x:.2f}, velocity %{y:.2f}: %{z:.4~g}<extra></extra>" }
    : { z, hovertemplate: "row %{y}, column %{x}: %{z:.4~g}<extra></extra>", xgap: columns > 25 ? 0 : 1, ygap: columns > 25 ? 0 : 1 };
  const [a, b] = place.map((value, i) => Math.min(value, inside.about.shape[i] - 1));
  const mark = (size, color) => ({ x: [slice ? down[b] : b], y: [slice ? across[a] : a], mode: "markers", marker: { symbol: "square-open", size, color, line: { width: 2 } }, hoverinfo: "skip" });
  const axes = slice ? { xaxis: { title: "angle" }, yaxis: { title: "angular velocity" } } : { xaxis: { title: "column", constrain: "domain", showgrid: false }, yaxis: { title: "row", autorange: "reversed", scaleanchor: "x", constrain: "domain", showgrid: false } };
  return { traces: [{ type: "heatmap", ...heat, ...paint }, mark(14, "#000000"), mark(11, "#ffffff")], layout: layout({ title, margin, ...axes, uirevision: inside.problem }) };
}

function drawStates(inside, quantity, values, paint, title, margin) {
  const actions = inside.about.actions, best = inside.about.optimal;
  const xaxis = { title: "state", range: [-0.5, best.length - 0.5] };
  if (!quantity.wide) {
    const bars = { type: "bar", x: values.map((_, state) => state), y: values, marker: { color: colour(inside.algorithm) }, hovertemplate: "state %{x}: %{y:.4~g}<extra></extra>" };
    return { traces: [bars], layout: layout({ title, margin, xaxis, yaxis: { title: plain(quantity.label), range: [Math.min(0, paint.zmin), paint.zmax * 1.05] } }) };
  }
  const z = actions.map((_, action) => best.map((__, state) => values[state * actions.length + action]));
  const heat = { type: "heatmap", z, y: actions.map(plain), hovertemplate: "state %{x}, %{y}: %{z:.4~g}<extra></extra>", xgap: 1, ygap: 1, ...paint };
  const size = best.length > 30 ? 7 : 11;
  const rings = (more, color) => ({ x: best.map((_, state) => state), y: best.map((action) => plain(actions[action])), mode: "markers", hoverinfo: "skip", marker: { symbol: "circle-open", size: size + more, color, line: { width: 2 } } });
  return { traces: [heat, rings(3, "#000000"), rings(0, "#ffffff")], layout: layout({ title, margin, xaxis, yaxis: { type: "category" } }) };
}

function drawTrace(quantity, place, step) {
  const traces = [];
  let where = "";
  for (const side of looked.left === looked.right ? ["left"] : ["left", "right"]) {
    const inside = insideOf(side), { kind, shape, actions, axes } = inside.about;
    if (!inside.tables[quantity.table]) continue;
    const [a, b] = place;
    const index = kind === "states" ? (quantity.wide ? a * actions.length + Math.min(b, actions.length - 1) : a) : kind === "slice" ? Math.min(b, shape[0] - 1) * shape[1] + Math.min(a, shape[1] - 1) : Math.min(a, shape[0] - 1) * shape[1] + Math.min(b, shape[1] - 1);
    where = kind === "states" ? `state ${a}${quantity.wide ? `, ${actions[Math.min(b, actions.length - 1)]}` : ""}` : kind === "slice" ? `angle ${decimal(axes[0][Math.min(b, shape[0] - 1)])}, velocity ${decimal(axes[1][Math.min(a, shape[1] - 1)])}` : `row ${Math.min(a, shape[0] - 1)}, column ${Math.min(b, shape[1] - 1)}`;
    const values = inside.phases.map((_, frame) => valuesOf(inside, quantity, frame)[index]);
    traces.push({ x: inside.phases.map((phase) => phase * inside.about.phase_length), y: values, mode: "lines+markers", name: plain(inside.algorithm), line: { color: colour(inside.algorithm), dash: dash(inside.algorithm), width: 2 }, marker: { size: 4 }, hovertemplate: "%{y:.4~g}" });
  }
  const levels = traces.flatMap((trace) => trace.y);
  const far = !quantity.range && Math.min(...levels) > 0 && Math.max(...levels) > 20 * Math.min(...levels);
  return {
    traces,
    layout: layout({
      hovermode: "x unified", showlegend: true, legend: { orientation: "h", y: 1.01, yanchor: "bottom", font: { size: 11 } }, margin: { l: 8, r: 12, t: 58, b: 8 }, title: { text: plain(where ? `${quantity.label} in ${where}, over the run` : ""), font: { size: 13 }, x: 0.02, xanchor: "left" },
      xaxis: { title: "step", tickformat: "~s", hoverformat: ",d" }, yaxis: { title: plain(quantity.label), type: far ? "log" : "linear", tickformat: "~g" },
      shapes: [{ type: "line", x0: step, x1: step, yref: "paper", y0: 0, y1: 1, line: { color: isDark() ? "#a2a9b1" : "#5b6168", width: 1, dash: "dot" } }],
    }),
  };
}

// The arrow keys move from state to state, as a click does.
function moved(event) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!step || !data.insides.length) return;
  event.preventDefault();
  const { kind, shape, actions, optimal } = insideOf("left").about;
  const [down, across] = kind === "grid" ? step : [-step[0], step[1]]; // elsewhere the vertical axis points up
  const [rows, columns] = kind === "states" ? [optimal.length, actions.length] : kind === "slice" ? [shape[1], shape[0]] : shape;
  const [a, b] = placeOf();
  const [da, db] = kind === "states" ? [across, down] : [down, across];
  looked.place = [Math.max(0, Math.min(rows - 1, a + da)), Math.max(0, Math.min(columns - 1, b + db))];
  drawInside();
}

function listenInside() {
  for (const id of ["left-map", "right-map"]) $(id).addEventListener("keydown", moved);
  for (const [id, key] of [["inside-problem", "problem"], ["inside-left", "left"], ["inside-right", "right"]]) {
    $(id).addEventListener("change", (event) => {
      looked[key] = event.target.value;
      if (key === "problem") Object.assign(looked, { left: null, right: null, frame: null, place: null });
      showInside();
    });
  }
  $("phase").addEventListener("input", (event) => { looked.frame = Number(event.target.value); drawInside(); });
  $("play").addEventListener("click", () => {
    const running = looked.playing !== null;
    if (running) clearInterval(looked.playing);
    looked.playing = running ? null : setInterval(() => {
      looked.frame = (looked.frame + 1) % insideOf("left").phases.length;
      drawInside();
    }, 450);
    $("play").textContent = running ? "▶" : "❚❚";
    $("play").setAttribute("aria-label", running ? "Play" : "Pause");
  });
}
