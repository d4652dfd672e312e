// Inside the learner: maps of what one run saw, believed and did, phase by phase, for two algorithms side by side.
const CAPTIONS = {
  visits: "Steps that the phase spent in each place.",
  policy: "The policy π_k by which the phase acted.",
  q_hat: "Q̂_k, estimated from the data of the phase.",
  advantage:
    "The estimate for one action minus that for the other: above zero, the index of the policy moves to the first.",
  temperature:
    "η_k(x), the temperature of the next policy. AAPI sets it in each state from how surprising the estimates were there; POLITEX has one for all states.",
  surprise:
    "‖Q̂_k(x,·) − M_k(x,·)‖: how far the estimate is from what was predicted; AAPI predicts the estimate before it, POLITEX nothing (M = 0).",
};
const MOST_ACTIONS = 6; // with a button each
const looked = {
  problem: null,
  left: null,
  right: null,
  quantity: "temperature",
  frame: null,
  place: null,
  phases: "this",
  maps: "each",
  playing: null,
};

// A place is two numbers. What they mean, where they are in a table, and how keys and clicks lead to them:
const KINDS = {
  grid: {
    // row and column
    size: (about) => about.shape,
    start: () => [0, 0],
    index: (about, [row, column]) => row * about.shape[1] + column,
    words: (about, [row, column]) => `row ${row}, column ${column}`,
    clicked: (point) => [...point.pointNumber],
    keys: { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
    note: () => "",
  },
  slice: {
    // angle, along the horizontal axis, and angular velocity
    size: (about) => about.shape,
    start: (about) => about.shape.map((size) => Math.floor(size / 2)),
    index: (about, [angle, turn]) => angle * about.shape[1] + turn,
    words: (about, [angle, turn]) => `angle ${decimal(about.axes[0][angle])}, velocity ${decimal(about.axes[1][turn])}`,
    clicked: (point) => [point.pointNumber[1], point.pointNumber[0]],
    keys: { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] },
    note: (quantity) =>
      quantity.table === "visits"
        ? " By the last two observations, whatever the others."
        : " By the last two observations, the others in their middle: for CartPole angle and angular velocity, the cart at rest in the centre.",
  },
  states: {
    // state and action
    size: (about) => [about.optimal.length, about.actions.length],
    start: () => [0, 0],
    index: (about, [state, action], quantity) => (quantity.wide ? state * about.actions.length + action : state),
    words: (about, [state, action], quantity) => `state ${state}${quantity.wide ? `, ${about.actions[action]}` : ""}`,
    clicked: (point, quantity) => [point.x, quantity.wide ? point.pointNumber[0] : 0],
    keys: { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] },
    note: (quantity) => (quantity.wide ? " Rings: the optimal policy." : ""),
  },
};

const insidesOf = (problem) => data.insides.filter((inside) => inside.problem === problem);
const insideOf = (side) =>
  data.insides.find((inside) => inside.problem === looked.problem && inside.algorithm === looked[side]);

function quantities(about) {
  const actions = about.actions;
  const few = actions.map((name, action) => ({ name, action })).slice(0, MOST_ACTIONS);
  const list = [{ key: "visits", label: "visits", table: "visits" }];
  if (about.kind === "states") {
    list.push(
      { key: "policy", label: "policy", table: "policy", wide: true, range: [0, 1] },
      { key: "q_hat", label: "Q̂", table: "q_hat", wide: true },
    );
  } else {
    for (const { name, action } of actions.length === 2 ? few.slice(1) : few)
      list.push({
        key: `policy ${name}`,
        label: `P(${name})`,
        table: "policy",
        action,
        range: [0, 1],
        diverging: true,
      });
    for (const { name, action } of few)
      list.push({ key: `q_hat ${name}`, label: `Q̂(${name})`, table: "q_hat", action });
    if (actions.length === 2)
      list.push({
        key: "advantage",
        label: `Q̂(${actions[1]}) − Q̂(${actions[0]})`,
        table: "q_hat",
        caption: "advantage",
        action: 1,
        minus: 0,
        diverging: true,
      });
  }
  list.push(
    { key: "temperature", label: "temperature η", table: "temperature" },
    { key: "surprise", label: "surprise", table: "surprise" },
  );
  return list;
}

// The numbers of a table, which come as 12 bits between its lowest and its highest one: all high bytes first, then the
// low halves, two in a byte.
function numbersOf(table) {
  if (!table.numbers) {
    const bytes = Uint8Array.from(atob(table.packed), (letter) => letter.charCodeAt(0));
    const halves = (2 * bytes.length) / 3;
    const step = (table.high - table.low) / 4095;
    const level = (i) => (bytes[i] << 4) | ((bytes[halves + (i >> 1)] >> (4 * (i % 2))) & 15);
    table.numbers = Float64Array.from({ length: table.count }, (_, i) => table.low + step * level(i));
  }
  return table.numbers;
}

function valuesOf(inside, quantity, frame) {
  const numbers = numbersOf(inside.tables[quantity.table]);
  const size = numbers.length / inside.phases.length;
  const all = Array.from(numbers.subarray(frame * size, (frame + 1) * size));
  if (!known(quantity.action)) return all;
  const of = (action) => all.filter((_, i) => i % inside.about.actions.length === action);
  if (!known(quantity.minus)) return of(quantity.action);
  const other = of(quantity.minus);
  return of(quantity.action).map((value, i) => value - other[i]);
}

// The frame of another run that is nearest in steps.
function nearest(inside, step) {
  return inside.phases.reduce(
    (best, _, i) => (Math.abs(inside.steps[i] - step) < Math.abs(inside.steps[best] - step) ? i : best),
    0,
  );
}

// What the colours stand for: the numbers of this phase or of all, in both maps or in each.
function rangeOf(shown, quantity) {
  if (quantity.range) return quantity.range;
  let [low, high] = [Infinity, -Infinity];
  for (const { inside, frame } of shown) {
    if (!inside.tables[quantity.table]) continue;
    for (const each of looked.phases === "this" ? [frame] : inside.phases.keys()) {
      for (const value of valuesOf(inside, quantity, each)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  if (quantity.diverging) {
    high = Math.max(Math.abs(low), Math.abs(high));
    low = -high;
  }
  return high > low ? [low, high] : [Math.min(0, low), Math.max(1e-9, high)];
}

function showInside() {
  const whole = new Set(data.rows.filter((row) => row.scale === 1).map((row) => `${row.problem}\n${row.algorithm}`))
    .size;
  $("inside-count").textContent =
    data.insides.length < whole
      ? ` ${data.insides.length} of ${whole} pairs of a problem and an algorithm were looked into.`
      : "";
  const problems = distinct(data.insides.map((inside) => inside.problem));
  $("inside").hidden = !problems.length;
  if (!problems.length) return;
  if (!problems.includes(looked.problem))
    looked.problem = problems.find((problem) => insidesOf(problem)[0].about.kind === "grid") ?? problems[0];
  options($("inside-problem"), problems, looked.problem);
  const algorithms = insidesOf(looked.problem).map((inside) => inside.algorithm);
  if (!algorithms.includes(looked.left)) looked.left = algorithms[0];
  if (!algorithms.includes(looked.right)) looked.right = algorithms[1] ?? algorithms[0];
  options($("inside-left"), algorithms, looked.left);
  options($("inside-right"), algorithms, looked.right);
  const list = quantities(insideOf("left").about).filter((each) =>
    insidesOf(looked.problem).some((inside) => inside.tables[each.table]),
  );
  if (!list.some((each) => each.key === looked.quantity))
    looked.quantity = (list.find((each) => each.table === "policy") ?? list[0]).key;
  const choose = (key) => (value) => {
    looked[key] = value;
    drawInside();
  };
  choices(
    $("quantity"),
    list.map((each) => [each.key, each.label]),
    looked.quantity,
    choose("quantity"),
  );
  choices(
    $("range"),
    [
      ["this", "colours of this phase"],
      ["all", "of all phases"],
    ],
    looked.phases,
    choose("phases"),
  );
  choices(
    $("maps"),
    [
      ["each", "of each map"],
      ["both", "of both maps"],
    ],
    looked.maps,
    choose("maps"),
  );
  const frames = insideOf("left").phases.length;
  $("phase").max = frames - 1;
  if (looked.frame === null || looked.frame >= frames) looked.frame = Math.floor(frames / 3);
  drawInside();
}

function drawInside() {
  const left = insideOf("left"),
    right = insideOf("right");
  const quantity = quantities(left.about).find((each) => each.key === looked.quantity);
  const step = left.steps[looked.frame];
  $("phase").value = looked.frame;
  $("phase").setAttribute("aria-valuetext", `phase ${left.phases[looked.frame]}`);
  $("phase-number").textContent = `${left.phases[looked.frame]} of ${left.phases.at(-1)}`;
  $("quantity-caption").textContent =
    CAPTIONS[quantity.caption ?? quantity.table] + KINDS[left.about.kind].note(quantity);
  const shown = [
    { inside: left, frame: looked.frame },
    { inside: right, frame: nearest(right, step) },
  ];
  const click = (point) => {
    looked.place = KINDS[left.about.kind].clicked(point, quantity);
    drawInside();
  };
  for (const [i, id] of ["left-map", "right-map"].entries()) {
    plot(
      $(id),
      () => drawMap(shown[i], quantity, rangeOf(looked.maps === "both" ? shown : [shown[i]], quantity)),
      click,
    );
  }
  plot($("trace"), () => drawTrace(quantity, step));
}

// The state that is followed: where one clicked last, or the kind's own beginning.
function placeOf(about) {
  const size = KINDS[about.kind].size(about);
  return (looked.place ?? KINDS[about.kind].start(about)).map((value, i) => Math.max(0, Math.min(size[i] - 1, value)));
}

function moved(event) {
  const { about } = insideOf("left");
  const step = KINDS[about.kind].keys[event.key];
  if (!step) return;
  event.preventDefault();
  looked.place = placeOf(about).map((value, i) => value + step[i]);
  looked.place = placeOf(about);
  drawInside();
}

function listenInside() {
  for (const id of ["left-map", "right-map"]) $(id).addEventListener("keydown", moved);
  for (const [id, key] of [
    ["inside-problem", "problem"],
    ["inside-left", "left"],
    ["inside-right", "right"],
  ]) {
    $(id).addEventListener("change", (event) => {
      looked[key] = event.target.value;
      if (key === "problem") Object.assign(looked, { left: null, right: null, frame: null, place: null });
      showInside();
    });
  }
  $("phase").addEventListener("input", (event) => {
    looked.frame = Number(event.target.value);
    drawInside();
  });
  $("play").addEventListener("click", () => {
    const running = looked.playing !== null;
    if (running) clearInterval(looked.playing);
    looked.playing = running
      ? null
      : setInterval(() => {
          looked.frame = (looked.frame + 1) % insideOf("left").phases.length;
          drawInside();
        }, 450);
    $("play").textContent = running ? "▶" : "❚❚";
    $("play").setAttribute("aria-label", running ? "Play" : "Pause");
  });
}
