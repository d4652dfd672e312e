import assert from "node:assert/strict";
import test from "node:test";
import { formatInterval, formatReward, formatVerdict } from "../../../src/aapi/report/assets/results.js";
import { asCsv, asLatex, asMarkdown, column, escapeLatex, sortRows } from "../../../src/aapi/report/assets/tables.js";

const NAME = column("name", (row) => row.name);
const MEAN = column("mean", (row) => row.mean, {
  title: "reward ± std",
  text: (row) => (row.mean === null ? "no run" : row.mean.toFixed(1)),
  csv: (row) => ({ mean: row.mean, std: 0.5 }),
});
const ROWS = [
  { name: "b 10", mean: 1.25 },
  { name: "b 9", mean: null },
  { name: "a|_", mean: -3 },
];

test("rows are sorted by numbers or words, and those without a value come last", () => {
  const names = (rows) => rows.map(({ name }) => name);
  assert.deepEqual(names(sortRows(ROWS, MEAN, false)), ["a|_", "b 10", "b 9"]);
  assert.deepEqual(names(sortRows(ROWS, MEAN, true)), ["b 10", "a|_", "b 9"]);
  assert.deepEqual(names(sortRows(ROWS, NAME, false)), ["a|_", "b 9", "b 10"]);
  assert.equal(sortRows(ROWS, undefined, true), ROWS);
});

test("Markdown", () => {
  assert.equal(
    asMarkdown([NAME, MEAN], ROWS),
    "| name | reward ± std |\n|---|---|\n| b 10 | 1.3 |\n| b 9 | no run |\n| a\\|_ | -3.0 |\n",
  );
});

test("LaTeX has the rules of booktabs, and escapes what has a meaning", () => {
  const lines = asLatex([NAME, MEAN], ROWS).split("\n");
  assert.equal(lines[0], "\\begin{tabular}{lr}");
  assert.equal(lines[2], "name & reward $\\pm$ std \\\\");
  assert.equal(lines[6], "a|\\_ & -3.0 \\\\");
  assert.equal(escapeLatex("50 % of λ^2 \\ {x}"), "50 \\% of $\\lambda$\\textasciicircum{}2 \\textbackslash{} \\{x\\}");
  assert.equal(asLatex([NAME, MEAN], []).split("\n")[0], "\\begin{tabular}{ll}");
});

test("CSV has every digit, quotes, and no formulas", () => {
  const rows = [
    { name: 'x, "y"', mean: 0.1 + 0.2 },
    { name: "=1+1", mean: null },
  ];
  assert.equal(asCsv([NAME, MEAN], rows), 'name,mean,std\r\n"x, ""y""",0.30000000000000004,0.5\r\n\'=1+1,,0.5\r\n');
  assert.equal(asCsv([NAME], []), "\r\n");
});

test("rewards, intervals and verdicts", () => {
  assert.equal(formatReward({ mean: 0.123456, std: 0.0456 }), "0.1235 ± 0.046");
  assert.equal(formatReward({ mean: 2, std: null }), "2");
  assert.equal(formatInterval({ estimate: 0.5, lower: -0.25, upper: 1 }, 2), "0.5 [−0.25, 1]");
  const verdicts = [1, -1, 0, null].map((verdict) => formatVerdict({ ours: "aapi", theirs: "rlsvi", verdict }));
  assert.deepEqual(verdicts, ["aapi earns more", "rlsvi earns more", "no difference seen", "too few runs"]);
});
