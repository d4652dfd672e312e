import assert from "node:assert/strict";
import test from "node:test";
import { describeCell, groupCells, scoreStyle } from "../../../src/aapi/report/assets/ablation.js";
import { curveBands, linearMetric, paddedRange } from "../../../src/aapi/report/assets/curves.js";
import { clipBand, exponentText } from "../../../src/aapi/report/assets/growth.js";
import { makeBand } from "../../../src/aapi/report/assets/plots.js";
import { meanOverProblems, sortPoints, valueAxis } from "../../../src/aapi/report/assets/sensitivity.js";
import { clipErrors, missingBounds } from "../../../src/aapi/report/assets/theory.js";

test("metrics are linear in the average reward so far", () => {
  const at = (metric, gain, average, t) => {
    const { slope, offset, optimum } = linearMetric(metric, gain);
    return [slope(t) * average + offset(t), optimum];
  };
  assert.deepEqual(at("average", 0.5, 0.2, 10), [-0.2, -0.5]);
  assert.deepEqual(at("average", null, 0.2, 10), [-0.2, null]);
  assert.deepEqual(at("regret", 0.5, 0.25, 8), [2, 0]);
  assert.deepEqual(at("fraction", 0.5, 0.25, 8), [0.5, 1]);
  assert.equal(linearMetric("regret", null), null);
  assert.equal(linearMetric("fraction", -1), null);
});

test("bands are standard deviations or quantiles", () => {
  const curve = { steps: [1, 2], mean: [1, null], std: [0.5, 0.5], quantiles: [[0], [1], [2], [3], [4]] };
  assert.deepEqual(curveBands(curve, "std"), { middle: [1, null], bands: [[[0.5, null], [1.5, null], 0.16]] });
  assert.deepEqual(curveBands(curve, "none"), { middle: [1, null], bands: [] });
  assert.deepEqual(curveBands(curve, "quantiles").middle, [2]);
  assert.deepEqual(curveBands(curve, "quantiles").bands[0], [[0], [4], 0.1]);
});

test("an axis has room around its values, also around one", () => {
  assert.deepEqual(paddedRange([0, 10, 5]), [-0.5, 10.5]);
  assert.deepEqual(paddedRange([20]), [19, 21]);
  assert.deepEqual(paddedRange([0]), [-0.05, 0.05]);
});

const ROW = { score: 0.5, mean: 1, std: null, fraction: null, worst: -1, runs: 1, planned: 2 };

test("cells of an ablation have a score, or say why not", () => {
  assert.deepEqual(describeCell(0, "x", [ROW]), {
    score: 0.5,
    lines: ["x", "score 0.50", "reward 1", "worst run −1", "1 of 2 runs"],
  });
  assert.deepEqual(describeCell("no run yet", "x", []), { score: null, lines: ["x", "no score: no run yet"] });
  assert.equal(scoreStyle(-3), "background-color: rgb(0, 34, 78); color: #ffffff");
  assert.equal(scoreStyle(1), "background-color: rgb(254, 232, 56); color: #000000");
});

test("means over problems are there if there are several", () => {
  const ablation = { evaluators: ["lstd"], columns: [{ name: "greedy" }], means: [[null]] };
  const problem = { title: "ergodic", cells: [[0]] };
  assert.equal(groupCells({ ...ablation, problems: [problem] }, [ROW]).length, 1);
  const groups = groupCells({ ...ablation, problems: [problem, problem] }, [ROW]);
  assert.equal(groups[0].rows[0][0].lines[0], "ergodic: lstd, greedy");
  assert.equal(groups[2].title, "mean over 2 problems");
  assert.deepEqual(groups[2].rows[0][0].lines[1], "no score: not on all of them");
});

test("tuned values are in order, on an axis that suits them", () => {
  const point = (x, y, failed = 0) => ({ x, y, failed, names: ["eta"] });
  const points = [point(10, 0.5), point(1, 0.25), point(10, 0.7)];
  assert.deepEqual(
    sortPoints(points).map(({ x }) => x),
    [1, 10, 10],
  );
  assert.equal(valueAxis(points).type, "log");
  assert.equal(valueAxis([point("sup", 1)]).type, "category");
  assert.equal(meanOverProblems(points, 10, 2), 0.6);
  assert.equal(meanOverProblems(points, 1, 2), null);
  assert.equal(meanOverProblems([point(1, 0.5), point(1, 0.5, 3)], 1, 2), null);
});

test("errors have no band below zero, or below what a logarithm can show", () => {
  const band = (mean) => ({ mean: [mean], lower: [mean - 5], upper: [mean + 5] });
  const errors = { steps: [1], sup: band(4), optimal: band(3), current: band(2), span: band(1) };
  const near = clipErrors(errors);
  assert.equal(near.wide, false);
  assert.deepEqual(near.bands.sup.lower, [0]);
  const far = clipErrors({ ...errors, sup: band(1000) });
  assert.equal(far.wide, true);
  assert.deepEqual(far.bands.current.lower, [1]);
});

test("reasons for missing bounds are given once", () => {
  const pair = (name, bound) => ({ name, bound, reason: bound === null ? "periodic" : "" });
  const aapi = { algorithm: "aapi", pairs: [pair("noise", null), pair("size of Q", null)] };
  const rlsvi = { algorithm: "rlsvi", pairs: [pair("noise", 1)] };
  assert.deepEqual(missingBounds([aapi]), ["No bound on noise, size of Q: periodic."]);
  assert.deepEqual(missingBounds([aapi, rlsvi]), ["No bound on noise, size of Q for aapi: periodic."]);
});

test("exponents have their interval, if there is one", () => {
  assert.equal(exponentText({ estimate: 0.454, lower: 0.43, upper: 0.4666 }), "0.45 [0.43, 0.47]");
  assert.equal(exponentText({ estimate: 1, lower: null, upper: null }), "1.00");
});

test("a band on a logarithmic axis stays above zero, and there is none for one run", () => {
  const band = { mean: [10, 10, null], lower: [-5, 8, null], upper: [20, 12, null] };
  assert.deepEqual(clipBand(band).lower, [1, 8, null]);
  assert.deepEqual(clipBand(band).upper, band.upper);
  assert.deepEqual(makeBand([1, 2, 3], band, "#000000"), []);
  const [lower, upper] = makeBand([1, 2], { mean: [1, 1], lower: [0, 0], upper: [2, 2] }, "#000000");
  assert.deepEqual([lower.y, upper.y, upper.fill], [[0, 0], [2, 2], "tonexty"]);
});
