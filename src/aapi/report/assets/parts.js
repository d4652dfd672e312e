// What each part does: in studies that exchange parts, a map of scores by evaluator and learning rate, for each problem.
const CIVIDIS = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56],
];

// Colour and ink of a score; they are the same on light and on dark pages.
function shade(score) {
  const place = Math.min(1, Math.max(0, score)) * (CIVIDIS.length - 1),
    low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const mixed = CIVIDIS[low].map((part, i) => Math.round(part + (place - low) * (CIVIDIS[low + 1][i] - part)));
  return `background-color: rgb(${mixed.join(", ")}); color: ${score < 0.47 ? "#ffffff" : "#000000"}`;
}

// What a cell is about, in lines.
function aboutCell(found, where, column) {
  const named = `${where}, ${column.name}`;
  if (typeof found === "string") return [named, `no score: ${found}`];
  const row = data.rows[found];
  return [
    named,
    `score ${decimal(row.score)}`,
    `reward ${significant(row.mean, 4)}${known(row.std) ? ` ± ${significant(row.std, 2)}` : ""}`,
    known(row.fraction) ? `${percent(row.fraction)} of the optimum` : "",
    `worst run ${significant(row.worst, 4)}`,
    row.runs === row.planned ? `${row.runs} run${row.runs === 1 ? "" : "s"}` : `${row.runs} of ${row.planned} runs`,
  ].filter(Boolean);
}

// Rows of cells under titles: score, or nothing, and what it is about.
function groupsOf(exchange) {
  const groups = exchange.places.map(({ title, cells }) => ({
    title,
    lines: cells.map((line, i) =>
      line.map((found, j) => ({
        score: typeof found === "string" ? null : data.rows[found].score,
        about: aboutCell(found, `${title}: ${exchange.evaluators[i]}`, exchange.columns[j]),
      })),
    ),
  }));
  if (groups.length < 2) return groups;
  const lines = exchange.means.map((line, i) =>
    line.map((score, j) => ({
      score,
      about: [
        `mean over ${groups.length} problems: ${exchange.evaluators[i]}, ${exchange.columns[j].name}`,
        known(score) ? `score ${decimal(score)}` : "no score: not on all of them",
      ],
    })),
  );
  return [...groups, { title: `mean over ${groups.length} problems`, lines }];
}

function showParts() {
  $("parts").hidden = !data.exchanges.length;
  const shown = data.exchanges.map((exchange) => ({ ...exchange, groups: groupsOf(exchange) }));
  if (!isNew($("parts-maps"), shown.map(({ groups, effects, reasons }) => [groups, effects, reasons]))) return;
  hideTip();
  $("parts-maps").replaceChildren(
    ...shown.flatMap((exchange) => [
      shown.length > 1 ? make("h3", {}, exchange.study) : "",
      make(
        "div",
        { class: "scroller", tabindex: "0", role: "region", "aria-label": `scores of ${exchange.study}` },
        mapOf(exchange),
      ),
      make("ul", { class: "effects" }, ...exchange.effects.map((line) => make("li", {}, line))),
      make("ul", { class: "notes" }, ...exchange.reasons.map((line) => make("li", {}, `No score of ${line}.`))),
    ]),
  );
}

function mapOf({ columns, evaluators, groups }) {
  const first = (j) => j === 0 || columns[j].group !== columns[j - 1].group;
  const width = (j) => columns.slice(j).findIndex((column) => column.group !== columns[j].group);
  const edge = (j) => (first(j) ? "edge" : null);
  const heads = columns.flatMap((column, j) => {
    const count = width(j) < 0 ? columns.length - j : width(j);
    return first(j) ? [make("th", { scope: "colgroup", colspan: count, class: "edge" }, column.group.replace("η ", "η\u00a0"))] : [];
  });
  const cell = ({ score, about }, j, tabindex) =>
    make(
      "td",
      {
        tabindex,
        class: [edge(j), known(score) ? null : "empty"].filter(Boolean).join(" ") || null,
        style: known(score) ? shade(score) : null,
        "data-about": about.join("\n"),
        "aria-label": about.join(", "),
      },
      known(score) ? decimal(score) : "–",
    );
  const bodies = groups.map(({ title, lines }, g) =>
    make(
      "tbody",
      {},
      make("tr", {}, make("th", { scope: "rowgroup", colspan: columns.length + 1 }, make("span", {}, title))),
      ...lines.map((line, i) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, evaluators[i]),
          ...line.map((each, j) => cell(each, j, g + i + j ? "-1" : "0")),
        ),
      ),
    ),
  );
  const table = make(
    "table",
    { class: "heat", style: `min-width: ${9 + 4.6 * columns.length}rem` },
    make(
      "thead",
      {},
      make("tr", {}, make("td", {}), ...heads),
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "evaluator"),
        ...columns.map((column, j) => make("th", { scope: "col", class: edge(j) }, column.label)),
      ),
    ),
    ...bodies,
  );
  table.addEventListener("keydown", walk);
  for (const name of ["mouseover", "focusin"]) table.addEventListener(name, (event) => showTip(event.target));
  for (const name of ["mouseleave", "focusout"]) table.addEventListener(name, hideTip);
  return table;
}

// Arrow keys lead from cell to cell; one of them is reached by the tabulator.
function walk(event) {
  const [down, across] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
  if (event.key === "Escape") hideTip();
  if (down === undefined || !event.target.dataset.about) return;
  const lines = [...event.currentTarget.querySelectorAll("tbody tr")]
    .map((line) => [...line.querySelectorAll("td")])
    .filter((line) => line.length);
  const i = lines.findIndex((line) => line.includes(event.target));
  const next = lines[i + down]?.[lines[i].indexOf(event.target) + across];
  event.preventDefault();
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

let pointed = null; // the cell that the tip is about

function showTip(cell) {
  pointed = cell.dataset.about ? cell : null;
  $("tip").textContent = pointed?.dataset.about ?? "";
  placeTip();
}

function placeTip() {
  const tip = $("tip"),
    cell = pointed;
  tip.hidden = !cell;
  if (!cell) return;
  const { left, width, top, bottom } = cell.getBoundingClientRect();
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(room, left + (width - tip.offsetWidth) / 2))}px`;
  tip.style.top = `${bottom + 6 + tip.offsetHeight < innerHeight ? bottom + 6 : top - 6 - tip.offsetHeight}px`;
}

function hideTip() {
  pointed = null;
  placeTip();
}
