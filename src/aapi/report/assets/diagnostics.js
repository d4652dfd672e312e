// Inside the learner: maps of what one run saw, estimated and did, phase by phase, for two algorithms side by side.
import { $, onValue, showChoices, showOptions } from "./dom.js";
import { distinct } from "./format.js";
import { drawFollowed, drawMap } from "./maps.js";
import { showPlot } from "./plots.js";
import { data } from "./state.js";
import { clampPlace, colourRange, KINDS, nearestFrame, quantitiesOf } from "./traces.js";

/** @type {Record<string, string>} */
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
const selected = {
  problem: "",
  left: "",
  right: "",
  quantity: "temperature",
  /** the index of the phase of the left run @type {number | null} */
  frame: null,
  /** the state that is followed @type {import("./traces.js").Place | null} */
  place: null,
  phases: "this",
  maps: "each",
};

/** @param {string} problem */
const runsOf = (problem) => data.traces.filter((run) => run.problem === problem);
/** @param {"left" | "right"} side */
const runOf = (side) =>
  /** @type {TraceData} */ (runsOf(selected.problem).find(({ algorithm }) => algorithm === selected[side]));

export function showDiagnostics() {
  const pairs = data.rows.filter((row) => row.reward_scale === 1).map((row) => `${row.problem}\n${row.algorithm}`);
  const [count, all] = [data.traces.length, distinct(pairs).length];
  $("inside-count").textContent =
    count < all ? ` ${count} of ${all} pairs of a problem and an algorithm have these diagnostics.` : "";
  const problems = distinct(data.traces.map(({ problem }) => problem));
  $("inside").hidden = !problems.length;
  if (!problems.length) return;
  if (!problems.includes(selected.problem))
    selected.problem = problems.find((problem) => runsOf(problem)[0].space.kind === "grid") ?? problems[0];
  const algorithms = runsOf(selected.problem).map(({ algorithm }) => algorithm);
  if (!algorithms.includes(selected.left)) selected.left = algorithms[0];
  if (!algorithms.includes(selected.right)) selected.right = algorithms[1] ?? algorithms[0];
  showOptions("inside-problem", problems, selected.problem);
  showOptions("inside-left", algorithms, selected.left);
  showOptions("inside-right", algorithms, selected.right);
  showControls();
  const frames = runOf("left").phases.length;
  $("phase").setAttribute("max", String(frames - 1));
  if (selected.frame === null || selected.frame >= frames) selected.frame = Math.floor(frames / 3);
  drawDiagnostics();
}

function showControls() {
  const quantities = quantitiesOf(runOf("left").space).filter(({ table }) =>
    runsOf(selected.problem).some(({ tables }) => tables[table]),
  );
  if (!quantities.some(({ key }) => key === selected.quantity))
    selected.quantity = (quantities.find(({ table }) => table === "policy") ?? quantities[0]).key;
  /** @param {string} id @param {[string, string][]} options @param {"quantity" | "phases" | "maps"} name */
  const choose = (id, options, name) =>
    showChoices($(id), options, selected[name], (value) => {
      selected[name] = value;
      drawDiagnostics();
    });
  choose(
    "quantity",
    quantities.map(({ key, label }) => [key, label]),
    "quantity",
  );
  choose("range", Object.entries({ this: "colours of this phase", all: "of all phases" }), "phases");
  choose("maps", Object.entries({ each: "of each map", both: "of both maps" }), "maps");
}

function drawDiagnostics() {
  const [left, right] = [runOf("left"), runOf("right")];
  const { place, frame } = selected;
  const quantity = quantitiesOf(left.space).find(({ key }) => key === selected.quantity);
  if (!quantity || frame === null) return;
  const step = left.steps[frame];
  const slider = /** @type {HTMLInputElement} */ ($("phase"));
  slider.value = String(frame);
  slider.setAttribute("aria-valuetext", `phase ${left.phases[frame]}`);
  $("phase-number").textContent = `${left.phases[frame]} of ${left.phases.at(-1)}`;
  const kind = KINDS[left.space.kind];
  $("quantity-caption").textContent = CAPTIONS[quantity.caption ?? quantity.table] + kind.note(quantity);
  const maps = [
    { id: "left-map", run: left, frame },
    { id: "right-map", run: right, frame: nearestFrame(right, step) },
  ];
  for (const map of maps) {
    const shared = selected.maps === "both" ? maps : [map];
    const range = () => colourRange(shared, quantity, selected.phases === "all");
    showPlot(
      $(map.id),
      () => drawMap(map.run, map.frame, quantity, range(), place),
      (point) => follow(kind.fromClick(point, quantity)),
    );
  }
  showPlot($("trace"), () => drawFollowed(distinct([left, right]), quantity, step, place));
}

/** @param {import("./traces.js").Place} place */
function follow(place) {
  selected.place = place;
  drawDiagnostics();
}

/** @param {KeyboardEvent} event */
function moveFollowed(event) {
  const { space } = runOf("left");
  const kind = KINDS[space.kind];
  const arrow = kind.keys[event.key];
  if (!arrow) return;
  event.preventDefault();
  const [a, b] = clampPlace(space, selected.place ?? kind.start(space));
  follow(clampPlace(space, [a + arrow[0], b + arrow[1]]));
}

export function listenDiagnostics() {
  for (const id of ["left-map", "right-map"]) $(id).addEventListener("keydown", moveFollowed);
  onValue("inside-problem", "change", (problem) => {
    Object.assign(selected, { problem, left: "", right: "", frame: null, place: null });
    showDiagnostics();
  });
  for (const side of /** @type {const} */ (["left", "right"]))
    onValue(`inside-${side}`, "change", (algorithm) => {
      selected[side] = algorithm;
      showDiagnostics();
    });
  onValue("phase", "input", (value) => {
    selected.frame = Number(value);
    drawDiagnostics();
  });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  $("play").addEventListener("click", () => {
    clearInterval(timer);
    const next = () => {
      selected.frame = ((selected.frame ?? 0) + 1) % runOf("left").phases.length;
      drawDiagnostics();
    };
    timer = timer === undefined ? setInterval(next, 450) : undefined;
    $("play").textContent = timer === undefined ? "▶" : "❚❚";
    $("play").setAttribute("aria-label", timer === undefined ? "Play" : "Pause");
  });
}
