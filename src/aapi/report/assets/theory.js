// Regret and its parts, errors of evaluation, the bound on online learning, and what the lemmas say.
const studied = { problem: null, view: "regret" };
// One colour for each part, on light and on dark pages.
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
  stability: { label: "stability", colours: ["#56b4e9", "#8fd0f5"] },
  regularisation: { label: "regularisation", colours: ["#cc79a7", "#e29cc4"] },
  movement: { label: "− movement", colours: ["#e69f00", "#f2b632"] },
};
const VIEWS = {
  regret: {
    label: "noise + pseudo-regret",
    caption:
      "Regret Σ (λ* − r) is noise, Σ (λ_π − r), what luck adds, and pseudo-regret, Σ τ (λ* − λ_π), what playing other policies than the best one costs.",
    draw: (theory, all) => drawParts(theory.curves, ["regret", "noise", "pseudo_regret"], "sum so far", all),
    has: () => true,
  },
  pseudo: {
    label: "R1 + R2",
    caption:
      "Pseudo-regret is R1, what errors of Q̂ cost, R2, the regret of learning online from Q̂, that of phases without an estimate, and, where the gain of a policy depends on the state, confinement: being where it earns less. Where policies follow errors, R1 is large and R2 below zero: both are the same errors, seen twice.",
    draw: (theory) =>
      drawParts(theory.curves, ["pseudo_regret", "estimation", "online_learning", "confinement", "unevaluated"], "sum so far"),
    has: (theory) => theory.errors.steps.length > 0,
  },
  errors: {
    label: "errors of evaluation",
    caption:
      "‖Q̂ − Q‖ of each phase in the norms of the paper's condition: the largest error, and mean squares under the optimal policy's states with its actions, or with those of the phase's policy.",
    draw: (theory) => drawErrors(theory.errors),
    has: (theory) => theory.errors.steps.length > 0,
  },
  online: {
    label: "bound on R2",
    caption:
      "Regret of online learning in each state (dots), and its bound (lines): the price of surprises and of staying near uniform, less what moving policies earn. Means over runs, times τ μ*(x).",
    draw: (theory) => drawOnline(theory.online_learning),
    has: (theory) => known(theory.online_learning),
  },
};
const partColour = (name) => PARTS[name].colours[isDark() ? 1 : 0];

function showTheory() {
  const problems = distinct(data.theories.map((theory) => theory.problem));
  $("theory").hidden = !problems.length;
  if (!problems.length) return;
  if (!problems.includes(studied.problem)) studied.problem = problems[0];
  options($("theory-problem"), problems, studied.problem);
  const all = data.theories.filter((theory) => theory.problem === studied.problem);
  const mine = all.length > MANY ? all.filter((theory) => !state.hidden.has(theory.algorithm)) : all;
  $("theory-some").textContent =
    mine.length < all.length
      ? `${mine.length} of ${all.length} algorithms are shown: those that are switched on above the learning curves.`
      : "";
  const views = Object.entries(VIEWS).filter(([, view]) => all.some(view.has));
  if (!views.some(([key]) => key === studied.view)) studied.view = views[0][0];
  choices(
    $("theory-view"),
    views.map(([key, view]) => [key, view.label]),
    studied.view,
    (view) => {
      studied.view = view;
      showTheory();
    },
  );
  const view = VIEWS[studied.view];
  $("theory-caption").textContent = view.caption;
  const shown = mine.filter(view.has);
  const keys = shown.map((theory) => `${studied.problem}\n${theory.algorithm}`);
  keepOnly($("theory-panels"), keys);
  shown.forEach((theory, i) => {
    const runs = `${theory.runs} run${theory.runs === 1 ? "" : "s"}`;
    plot(panelFor($("theory-panels"), keys[i], `${theory.algorithm}, ${runs}`), () => view.draw(theory, shown));
  });
  showPairs(mine);
}

function drawParts(curves, names, title, all) {
  const traces = [];
  for (const name of names.filter((each) => curves[each])) {
    const { label, dash: line } = PARTS[name],
      ink = partColour(name),
      { mean, lower, upper } = curves[name];
    const edge = { x: curves.steps, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
    if (lower.every(known))
      traces.push({ ...edge, y: lower }, { ...edge, y: upper, fill: "tonexty", fillcolor: faded(ink, 0.15) });
    traces.push({
      x: curves.steps,
      y: mean,
      mode: "lines",
      name: label,
      line: { color: ink, dash: line, width: 2 },
      hovertemplate: `${label}: %{y:.4g}<extra></extra>`,
    });
  }
  const levels = (all ?? []).flatMap((theory) =>
    names.flatMap((name) => [...theory.curves[name].mean, ...theory.curves[name].upper, ...theory.curves[name].lower]),
  );
  const finite = levels.filter(known),
    room = 0.05 * (Math.max(...finite) - Math.min(...finite));
  return {
    traces,
    layout: layout({
      hovermode: "x unified",
      showlegend: true,
      legend: LEGEND,
      xaxis: { title: "step" },
      yaxis: { title, ...(finite.length ? { range: [Math.min(...finite) - room, Math.max(...finite) + room] } : {}) },
    }),
  };
}

// Errors may differ by many orders of magnitude; a norm has no band below zero.
function drawErrors(errors) {
  const means = ["sup", "optimal", "current"].flatMap((name) => errors[name].mean).filter((value) => value > 0);
  const wide = Math.max(...means) > 100 * Math.min(...means),
    floor = wide ? Math.min(...means) / 2 : 0;
  const clipped = Object.fromEntries(
    Object.entries(errors).map(([name, band]) =>
      name === "steps" ? [name, band] : [name, { ...band, lower: band.lower.map((v) => (known(v) ? Math.max(v, floor) : v)) }],
    ),
  );
  const drawn = drawParts(clipped, ["sup", "optimal", "current"], "‖Q̂ − Q‖");
  if (wide) Object.assign(drawn.layout.yaxis, { type: "log", exponentformat: "power" });
  return drawn;
}

function drawOnline(terms) {
  const states = terms.regret.map((_, i) => i);
  const bars = ["stability", "regularisation", "movement"].map((name) => ({
    x: states,
    y: terms[name].map((value) => (name === "movement" ? -value : value)),
    type: "bar",
    name: PARTS[name].label,
    marker: { color: partColour(name) },
    hovertemplate: `${PARTS[name].label}: %{y:.4g}<extra></extra>`,
  }));
  const mark = (name, y, symbol, size) => ({
    x: states,
    y,
    mode: "markers",
    name,
    marker: { symbol, size, color: partColour(name === "regret" ? "sup" : "regret"), line: { width: 2 } },
    hovertemplate: `${name}: %{y:.4g}<extra></extra>`,
  });
  return {
    traces: [...bars, mark("bound", terms.bound, "line-ew-open", 12), mark("regret", terms.regret, "circle", 6)],
    layout: layout({
      barmode: "relative",
      hovermode: "x unified",
      showlegend: true,
      legend: LEGEND,
      xaxis: { title: "state" },
      yaxis: { title: "times τ μ*(x)" },
    }),
  };
}

// Numbers of any size, as people write them.
const sized = (value) => {
  if (!known(value)) return "?";
  const size = Math.abs(value);
  if (size >= 1e9) return value.toExponential(2).replace("e+", "e").replace("-", "−");
  return size >= 1000 ? whole(value) : significant(value, 3);
};

function showPairs(theories) {
  const names = distinct(theories.flatMap((theory) => theory.pairs.map((pair) => pair.name)));
  const find = (theory, name) => theory.pairs.find((pair) => pair.name === name);
  const cell = (pair) => {
    if (!pair) return make("td", {}, "");
    const limit = known(pair.bound) ? `${pair.holds ? "≤" : ">"} ${sized(pair.bound)}` : "no bound";
    const state = known(pair.bound) && !pair.holds ? "exceeded" : null;
    return make("td", { title: pair.reason || null, class: state }, sized(pair.measured), " ", make("small", {}, limit));
  };
  const heads = ["lemma", ...theories.map((theory) => theory.algorithm)];
  $("theory-pairs").replaceChildren(
    make(
      "table",
      { class: "plain" },
      make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)))),
      make(
        "tbody",
        {},
        ...names.map((name) => {
          const { statement } = theories.map((theory) => find(theory, name)).find(Boolean);
          return make(
            "tr",
            {},
            make("th", { scope: "row" }, name, make("small", {}, statement)),
            ...theories.map((theory) => cell(find(theory, name))),
          );
        }),
      ),
    ),
  );
  const notes = new Map(); // reason → lemma → algorithms
  for (const theory of theories) {
    for (const { name, bound, reason } of theory.pairs) {
      if (known(bound) || !reason) continue;
      if (!notes.has(reason)) notes.set(reason, new Map());
      const about = notes.get(reason);
      about.set(name, [...(about.get(name) ?? []), theory.algorithm]);
    }
  }
  const lines = [...notes].map(([reason, about]) => {
    const algorithms = distinct([...about.values()].flat());
    const who = algorithms.length < theories.length ? ` for ${algorithms.join(", ")}` : "";
    return `No bound on ${[...about.keys()].join(", ")}${who}: ${reason}.`;
  });
  for (const { algorithm, multichain, stiff } of theories) {
    if (multichain)
      lines.push(`${algorithm}: in ${multichain} phases of all runs the gain depends on the state: it is that of the first one.`);
    if (stiff)
      lines.push(`${algorithm}: in ${stiff} phases of all runs Q is too large to check that parts add up; R1 is what is left there.`);
  }
  $("theory-notes").replaceChildren(...lines.map((line) => make("li", {}, line)));
}

function listenTheory() {
  $("theory-problem").addEventListener("change", (event) => {
    studied.problem = event.target.value;
    showTheory();
  });
}
