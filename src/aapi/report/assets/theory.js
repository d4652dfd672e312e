// Regret and its parts, errors of evaluation, the bound on online learning, and what the lemmas say.
import { $, make, makeItems, makeTable, onValue, showChoices, showOptions } from "./dom.js";
import { distinct, formatNumber, known, plural } from "./format.js";
import { isDark, LEGEND, makeBand, makeLayout, showPanels } from "./plots.js";
import { data, MANY, state } from "./state.js";

// Colours on light and on dark pages.
const PARTS = {
  regret: { label: "regret", colours: ["#1c1e21", "#e6e8ea"], dash: "solid" },
  noise: { label: "noise", colours: ["#56b4e9", "#8fd0f5"], dash: "dash" },
  pseudo_regret: { label: "pseudo-regret", colours: ["#0072b2", "#4ea8de"], dash: "dashdot" },
  estimation: { label: "estimation R1", colours: ["#e69f00", "#f2b632"], dash: "dash" },
  online_learning: { label: "online learning R2", colours: ["#009e73", "#2bc79a"], dash: "solid" },
  confinement: { label: "confinement", colours: ["#d55e00", "#f4803b"], dash: "dashdot" },
  unevaluated: { label: "not evaluated", colours: ["#777777", "#9a9a9a"], dash: "dot" },
  sup: { label: "sup", colours: ["#d55e00", "#f4803b"], dash: "solid" },
  optimal: { label: "μ*⊗π*", colours: ["#0072b2", "#4ea8de"], dash: "dash" },
  current: { label: "μ*⊗π_k", colours: ["#009e73", "#2bc79a"], dash: "dashdot" },
  stability: { label: "stability", colours: ["#56b4e9", "#8fd0f5"], dash: "solid" },
  regularisation: { label: "regularisation", colours: ["#cc79a7", "#e29cc4"], dash: "solid" },
  movement: { label: "− movement", colours: ["#e69f00", "#f2b632"], dash: "solid" },
};
/** @typedef {keyof typeof PARTS} Part */
/** Lines with their bands over steps. @typedef {{steps: number[]} & Partial<Record<Part, BandData>>} Bands */
/** What can be shown of a decomposition; `all`: of all algorithms that are shown.
 * @typedef {{label: string, caption: string, has: (found: RegretDecomposition) => boolean,
 *   draw: (found: RegretDecomposition, all: RegretDecomposition[]) => Drawing}} View */

/** @type {Part[]} */
const REGRET = ["regret", "noise", "pseudo_regret"];
/** @type {Part[]} */
const PSEUDO_REGRET = ["pseudo_regret", "estimation", "online_learning", "confinement", "unevaluated"];
/** @type {("sup" | "optimal" | "current")[]} */
const NORMS = ["sup", "optimal", "current"];
/** @param {RegretDecomposition} found */
const isEvaluated = ({ errors }) => errors.steps.length > 0;

/** @type {Record<string, View>} */
const VIEWS = {
  regret: {
    label: "noise + pseudo-regret",
    caption:
      "Regret Σ (λ* − r) is noise, Σ (λ_π − r), what luck adds, and pseudo-regret, Σ τ (λ* − λ_π), what playing other policies than the best one costs.",
    has: () => true,
    draw: ({ curves }, all) => drawBands(curves, REGRET, "sum so far", sharedRange(all, REGRET)),
  },
  pseudo: {
    label: "R1 + R2",
    caption:
      "Pseudo-regret is R1, what errors of Q̂ cost, R2, the regret of learning online from Q̂, that of phases without an estimate, and, where the gain of a policy depends on the state, confinement: being where it earns less. Where policies follow errors, R1 is large and R2 below zero: both are the same errors, seen twice.",
    has: isEvaluated,
    draw: ({ curves }) => drawBands(curves, PSEUDO_REGRET, "sum so far"),
  },
  errors: {
    label: "errors of evaluation",
    caption:
      "‖Q̂ − Q‖ of each phase in the norms of the paper's condition: the largest error, and mean squares under the optimal policy's states with its actions, or with those of the phase's policy.",
    has: isEvaluated,
    draw: ({ errors }) => drawErrors(errors),
  },
  online: {
    label: "bound on R2",
    caption:
      "Regret of online learning in each state (dots), and its bound (lines): the price of surprises and of staying near uniform, less what moving policies earn. Means over runs, times τ μ*(x).",
    has: ({ online_learning }) => known(online_learning),
    draw: ({ online_learning }) => drawOnline(/** @type {OnlineTerms} */ (online_learning)),
  },
};
const chosen = { problem: "", view: "regret" };

/** @param {Part} name */
const partColour = (name) => PARTS[name].colours[isDark() ? 1 : 0];

export function listenTheory() {
  onValue("theory-problem", "change", (problem) => {
    chosen.problem = problem;
    showTheory();
  });
}

export function showTheory() {
  const problems = distinct(data.decompositions.map(({ problem }) => problem));
  $("theory").hidden = !problems.length;
  if (!problems.length) return;
  if (!problems.includes(chosen.problem)) chosen.problem = problems[0];
  showOptions("theory-problem", problems, chosen.problem);
  const all = data.decompositions.filter(({ problem }) => problem === chosen.problem);
  const mine = all.length > MANY ? all.filter(({ algorithm }) => !state.hidden.has(algorithm)) : all;
  $("theory-some").textContent =
    mine.length < all.length
      ? `${mine.length} of ${all.length} algorithms are shown: those that are switched on above the learning curves.`
      : "";
  const views = Object.entries(VIEWS).filter(([, { has }]) => all.some(has));
  if (!views.some(([key]) => key === chosen.view)) chosen.view = views[0][0];
  showChoices(
    $("theory-view"),
    views.map(([key, { label }]) => [key, label]),
    chosen.view,
    (view) => {
      chosen.view = view;
      showTheory();
    },
  );
  const view = VIEWS[chosen.view];
  $("theory-caption").textContent = view.caption;
  const shown = mine.filter(view.has);
  showPanels(
    $("theory-panels"),
    shown.map((found) => {
      const { algorithm, runs } = found;
      return [`${chosen.problem}\n${algorithm}`, `${algorithm}, ${plural(runs, "run")}`, () => view.draw(found, shown)];
    }),
  );
  showLemmas(mine);
}

/** One range for all algorithms. @param {RegretDecomposition[]} all @param {Part[]} names */
function sharedRange(all, names) {
  const bands = all.flatMap(({ curves }) => names.map((name) => /** @type {Bands} */ (curves)[name])).filter(known);
  const levels = bands.flatMap(({ mean, lower, upper }) => [...mean, ...lower, ...upper]).filter(known);
  const [low, high] = [Math.min(...levels), Math.max(...levels)];
  const room = 0.05 * (high - low);
  return levels.length ? [low - room, high + room] : undefined;
}

/** @param {Bands} bands @param {Part[]} names @param {string} title @param {number[]} [range] @returns {Drawing} */
function drawBands(bands, names, title, range) {
  /** @type {object[]} */
  const traces = [];
  for (const name of names) {
    const band = bands[name];
    if (!band) continue;
    const { label, dash } = PARTS[name];
    const color = partColour(name);
    traces.push(...makeBand(bands.steps, band, color), {
      x: bands.steps,
      y: band.mean,
      mode: "lines",
      name: label,
      line: { color, dash, width: 2 },
      hovertemplate: `${label}: %{y:.4g}<extra></extra>`,
    });
  }
  const axes = { xaxis: { title: "step" }, yaxis: { title, ...(range ? { range } : {}) } };
  return { traces, layout: makeLayout({ hovermode: "x unified", showlegend: true, legend: LEGEND, ...axes }) };
}

/** Errors with no band below zero; `wide`: they differ by orders of magnitude. @param {ErrorCurves} errors */
export function clipErrors(errors) {
  const means = NORMS.flatMap((norm) => errors[norm].mean).filter((value) => known(value) && value > 0);
  const positive = means.filter(known);
  const wide = Math.max(...positive) > 100 * Math.min(...positive);
  const floor = wide ? Math.min(...positive) / 2 : 0;
  /** @type {Bands} */
  const bands = { steps: errors.steps };
  for (const norm of NORMS) {
    const lower = errors[norm].lower.map((value) => (known(value) ? Math.max(value, floor) : value));
    bands[norm] = { ...errors[norm], lower };
  }
  return { bands, wide };
}

/** @param {ErrorCurves} errors @returns {Drawing} */
function drawErrors(errors) {
  const { bands, wide } = clipErrors(errors);
  const drawn = drawBands(bands, NORMS, "‖Q̂ − Q‖");
  if (wide) Object.assign(drawn.layout.yaxis, { type: "log", exponentformat: "power" });
  return drawn;
}

/** @param {OnlineTerms} terms @returns {Drawing} */
function drawOnline(terms) {
  const states = terms.regret.map((_, i) => i);
  const names = /** @type {("stability" | "regularisation" | "movement")[]} */ ([
    "stability",
    "regularisation",
    "movement",
  ]);
  const bars = names.map((name) => ({
    x: states,
    y: name === "movement" ? terms.movement.map((value) => -(value ?? 0)) : terms[name],
    type: "bar",
    name: PARTS[name].label,
    marker: { color: partColour(name) },
    hovertemplate: `${PARTS[name].label}: %{y:.4g}<extra></extra>`,
  }));
  /** @param {"bound" | "regret"} name @param {string} symbol @param {number} size @param {Part} part its colour */
  const marks = (name, symbol, size, part) => ({
    x: states,
    y: terms[name],
    mode: "markers",
    name,
    marker: { symbol, size, color: partColour(part), line: { width: 2 } },
    hovertemplate: `${name}: %{y:.4g}<extra></extra>`,
  });
  return {
    traces: [...bars, marks("bound", "line-ew-open", 12, "regret"), marks("regret", "circle", 6, "sup")],
    layout: makeLayout({
      barmode: "relative",
      hovermode: "x unified",
      showlegend: true,
      legend: LEGEND,
      xaxis: { title: "state" },
      yaxis: { title: "times τ μ*(x)" },
    }),
  };
}

/** A table of lemmas by algorithms, and notes on it. @param {RegretDecomposition[]} found */
function showLemmas(found) {
  const statements = new Map(found.flatMap(({ pairs }) => pairs).map(({ name, statement }) => [name, statement]));
  const heads = ["lemma", ...found.map(({ algorithm }) => algorithm)];
  const rows = [...statements].map(([name, statement]) => {
    const cells = found.map(({ pairs }) => makeLemmaCell(pairs.find((pair) => pair.name === name)));
    return make("tr", {}, make("th", { scope: "row" }, name, make("small", {}, statement)), ...cells);
  });
  const table = makeTable(
    heads.map((name) => make("th", { scope: "col" }, name)),
    rows,
    { class: "plain" },
  );
  $("theory-pairs").replaceChildren(table);
  $("theory-notes").replaceChildren(...makeItems([...missingBounds(found), ...numericalNotes(found)]));
}

/** @param {BoundCheckData | undefined} pair */
function makeLemmaCell(pair) {
  if (!pair) return make("td");
  const { measured, bound, holds, reason } = pair;
  const limit = known(bound) ? `${holds ? "≤" : ">"} ${formatNumber(bound)}` : "no bound";
  const attributes = { title: reason || null, class: known(bound) && !holds ? "exceeded" : null };
  return make("td", attributes, formatNumber(measured), " ", make("small", {}, limit));
}

/** Why lemmas have no bound, once for each reason. @param {RegretDecomposition[]} found */
export function missingBounds(found) {
  /** @type {Map<string, {lemmas: Set<string>, algorithms: Set<string>}>} */
  const reasons = new Map();
  for (const { algorithm, pairs } of found) {
    for (const { name, bound, reason } of pairs) {
      if (known(bound) || !reason) continue;
      const { lemmas, algorithms } = reasons.get(reason) ?? { lemmas: new Set(), algorithms: new Set() };
      reasons.set(reason, { lemmas: lemmas.add(name), algorithms: algorithms.add(algorithm) });
    }
  }
  return [...reasons].map(([reason, { lemmas, algorithms }]) => {
    const who = algorithms.size < found.length ? ` for ${[...algorithms].join(", ")}` : "";
    return `No bound on ${[...lemmas].join(", ")}${who}: ${reason}.`;
  });
}

/** @param {RegretDecomposition[]} found */
const numericalNotes = (found) =>
  found.flatMap(({ algorithm, multichain, stiff }) => [
    ...(multichain
      ? [
          `${algorithm}: in ${multichain} phases of all runs the gain depends on the state: it is that of the first one.`,
        ]
      : []),
    ...(stiff
      ? [
          `${algorithm}: in ${stiff} phases of all runs Q is too large to check that parts add up; R1 is what is left there.`,
        ]
      : []),
  ]);
