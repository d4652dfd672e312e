// Tables that can be sorted, and copied as LaTeX, Markdown and CSV.
// columns: {name, title, value: row → number or text, text: row → what is shown, csv: row → {name: value}}.
function sortableTable(where, columns, rows, state) {
  const table = where.table ?? (where.table = { state });
  const numeric = (column) => rows.every((row) => !known(column.value(row)) || typeof column.value(row) === "number");
  Object.assign(table, { columns, rows, numeric: columns.map(numeric) });
  if (
    isNew(
      where,
      columns.map((column) => [column.name, numeric(column)]),
    )
  )
    frameTable(where, table);
  table.box.className = rows.length > 40 ? "scroller long" : "scroller";
  fillTable(table);
}

function sortedRows({ columns, rows, state }) {
  const column = columns.find((each) => each.name === state.by);
  if (!column) return rows;
  const sign = state.down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (!known(x) || !known(y)) return known(x) ? -1 : known(y) ? 1 : 0; // unknown ones last
    return (
      sign *
      (typeof x === "number" && typeof y === "number"
        ? x - y
        : String(x).localeCompare(String(y), "en", { numeric: true }))
    );
  });
}

// Heads, buttons and an empty body.
function frameTable(where, table) {
  const { columns, numeric, state } = table;
  table.heads = columns.map((column, i) =>
    make(
      "th",
      { scope: "col", "data-column": column.name, class: numeric[i] ? "number" : null },
      make(
        "button",
        {
          type: "button",
          title: column.hint,
          onclick: () => {
            state.down = state.by === column.name ? !state.down : numeric[i];
            state.by = column.name;
            fillTable(table);
          },
        },
        column.title,
      ),
    ),
  );
  table.body = make("tbody");
  table.box = make(
    "div",
    { tabindex: "0", role: "region", "aria-label": "table" },
    make("table", {}, make("thead", {}, make("tr", {}, ...table.heads)), table.body),
  );
  const said = make("span", { role: "status" });
  const copy = (name, write) =>
    make(
      "button",
      {
        type: "button",
        "data-copy": name,
        onclick: async () => {
          said.textContent = (await copied(write(table.columns, sortedRows(table))))
            ? `${name} is in the clipboard`
            : "the browser did not let it be copied";
        },
      },
      name,
    );
  where.replaceChildren(
    table.box,
    make(
      "div",
      { class: "copy" },
      "Copy as",
      copy("LaTeX", asLatex),
      copy("Markdown", asMarkdown),
      copy("CSV", asCsv),
      said,
    ),
  );
}

function fillTable(table) {
  const { columns, numeric, state } = table;
  table.heads.forEach((head, i) =>
    head.setAttribute("aria-sort", columns[i].name !== state.by ? "none" : state.down ? "descending" : "ascending"),
  );
  table.body.replaceChildren(
    ...sortedRows(table).map((row) =>
      make(
        "tr",
        {},
        ...columns.map((column, i) => {
          const value = column.value(row);
          const cell = make("td", {
            class: numeric[i] ? "number" : "name",
            "data-column": column.name,
            "data-value": known(value) ? value : "",
          });
          if (column.swatch)
            cell.append(make("span", { class: "swatch", style: `background: ${colour(column.swatch(row))}` }));
          cell.append(column.text(row));
          return cell;
        }),
      ),
    ),
  );
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // where the page may not ask for the clipboard
    const area = make("textarea", { style: "position: fixed; opacity: 0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

const LATEX = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "±": "$\\pm$",
  λ: "$\\lambda$",
  "×": "$\\times$",
  "−": "$-$",
  η: "$\\eta$",
  "–": "--",
};
const latex = (text) => text.replace(/[\\~^±λ×−η–]|[&%$#_{}]/g, (mark) => LATEX[mark] ?? `\\${mark}`);

function asLatex(columns, rows) {
  const line = (cells) => `${cells.map(latex).join(" & ")} \\\\`;
  const kinds = columns.map((column) => (typeof column.value(rows[0] ?? {}) === "number" ? "r" : "l")).join("");
  return [
    `\\begin{tabular}{${kinds}}`,
    "\\toprule",
    line(columns.map((column) => column.title)),
    "\\midrule",
    ...rows.map((row) => line(columns.map((column) => column.text(row)))),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

function asMarkdown(columns, rows) {
  const line = (cells) =>
    `| ${cells.map((cell) => cell.replace(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    line(columns.map((column) => column.title)),
    `|${"---|".repeat(columns.length)}`,
    ...rows.map((row) => line(columns.map((column) => column.text(row)))),
    "",
  ].join("\n");
}

// With every digit: a column of the table may be several here.
function asCsv(columns, rows) {
  const quoted = (value) => {
    let text = known(value) ? String(value) : "";
    if (typeof value === "string" && /^[=+@\t\r-]/.test(text)) text = `'${text}`; // no formula for a spreadsheet
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const cells = rows.map((row) =>
    Object.assign({}, ...columns.map((column) => column.csv?.(row) ?? { [column.name]: column.value(row) })),
  );
  const names = Object.keys(cells[0] ?? {});
  return [names.join(","), ...cells.map((row) => names.map((name) => quoted(row[name])).join(",")), ""].join("\r\n");
}

function showTable() {
  const chosen = (row) => state.study === ALL || row.study === state.study;
  const rows = data.rows.filter(chosen);
  const anyone = (name) => rows.some((row) => known(row[name]));
  const columns = [
    state.study === ALL && { name: "study", title: "study", value: (r) => r.study, text: (r) => r.study },
    {
      name: "problem",
      title: "problem",
      value: (r) => titled(r.problem, r.scale),
      text: (r) => titled(r.problem, r.scale),
      csv: (r) => ({ problem: r.problem, reward_scale: r.scale }),
    },
    {
      name: "algorithm",
      title: "algorithm",
      value: (r) => r.algorithm,
      text: (r) => r.algorithm,
      swatch: (r) => r.algorithm,
    },
    rows.some((r) => r.chosen) && {
      name: "chosen",
      title: "chosen",
      value: (r) => r.chosen,
      text: (r) => r.chosen || "–",
    },
    {
      name: "runs",
      title: "runs",
      value: (r) => r.runs,
      text: (r) => (r.runs === r.planned ? String(r.runs) : `${r.runs} of ${r.planned}`),
      csv: (r) => ({ runs: r.runs, steps: r.steps }),
    },
    {
      name: "mean",
      title: "reward ± std",
      value: (r) => r.mean,
      text: (r) =>
        known(r.mean) ? significant(r.mean, 4) + (known(r.std) ? ` ± ${significant(r.std, 2)}` : "") : "no run",
      csv: (r) => ({ mean: r.mean, std: r.std }),
    },
    {
      name: "interval",
      title: "95 % interval",
      value: (r) => r.lower,
      text: (r) => (known(r.lower) ? `${significant(r.lower, 4)} to ${significant(r.upper, 4)}` : ""),
      csv: (r) => ({ lower: r.lower, upper: r.upper }),
    },
    {
      name: "iqm",
      title: "IQM",
      hint: "interquartile mean: of the middle half of the runs",
      value: (r) => r.iqm,
      text: (r) => significant(r.iqm, 4),
    },
    { name: "worst", title: "worst", value: (r) => r.worst, text: (r) => significant(r.worst, 4) },
    anyone("fraction") && {
      name: "fraction",
      title: "of λ*",
      value: (r) => r.fraction,
      text: (r) => percent(r.fraction),
    },
    anyone("score") && {
      name: "score",
      title: "score",
      hint: "0: acting at random, 1: the optimum",
      value: (r) => r.score,
      text: (r) => (known(r.score) ? r.score.toFixed(3).replace("-", "−") : ""),
    },
    anyone("regret") && { name: "regret", title: "regret", value: (r) => r.regret, text: (r) => whole(r.regret) },
    {
      name: "seconds",
      title: "time",
      hint: "processor seconds, tuning included",
      value: (r) => r.seconds,
      text: (r) => `${r.seconds.toFixed(1)} s`,
    },
  ].filter(Boolean);
  sortableTable($("results"), columns, rows, state.sorting.results);

  const between = data.comparisons.filter(chosen);
  $("comparing").hidden = !between.length;
  const interval = ([estimate, lower, upper], digits) =>
    `${significant(estimate, digits)} [${significant(lower, digits)}, ${significant(upper, digits)}]`;
  const verdict = (c) =>
    ({ 1: `${c.ours} earns more`, "-1": `${c.theirs} earns more`, 0: "no difference seen" })[c.verdict] ??
    "too few runs";
  sortableTable(
    $("comparisons"),
    [
      state.study === ALL && { name: "study", title: "study", value: (c) => c.study, text: (c) => c.study },
      {
        name: "problem",
        title: "problem",
        value: (c) => titled(c.problem, c.scale),
        text: (c) => titled(c.problem, c.scale),
        csv: (c) => ({ problem: c.problem, reward_scale: c.scale }),
      },
      {
        name: "comparison",
        title: "comparison",
        value: (c) => `${c.ours} − ${c.theirs}`,
        text: (c) => `${c.ours} − ${c.theirs}`,
        csv: (c) => ({ ours: c.ours, theirs: c.theirs }),
      },
      {
        name: "difference",
        title: "difference of means",
        value: (c) => c.difference[0],
        text: (c) => interval(c.difference, 3),
        csv: (c) => ({
          difference: c.difference[0],
          difference_lower: c.difference[1],
          difference_upper: c.difference[2],
        }),
      },
      {
        name: "improvement",
        title: "P(better)",
        value: (c) => c.improvement[0],
        text: (c) => interval(c.improvement, 2),
        csv: (c) => ({
          improvement: c.improvement[0],
          improvement_lower: c.improvement[1],
          improvement_upper: c.improvement[2],
        }),
      },
      { name: "verdict", title: "verdict", value: verdict, text: verdict },
    ].filter(Boolean),
    between,
    state.sorting.comparisons,
  );
}
