import assert from "node:assert/strict";
import test from "node:test";
import {
  clampPlace,
  colourRange,
  KINDS,
  nearestFrame,
  quantitiesOf,
  unpackTable,
  valuesOf,
} from "../../../src/aapi/report/assets/traces.js";

/** As build_page_data.py packs it. */
function pack(numbers, low, high) {
  const levels = numbers.map((value) => Math.round((4095 * (value - low)) / (high - low)));
  if (levels.length % 2) levels.push(0);
  const halves = Array.from(
    { length: levels.length / 2 },
    (_, i) => (levels[2 * i] & 15) | ((levels[2 * i + 1] & 15) << 4),
  );
  const packed = btoa(String.fromCharCode(...levels.map((level) => level >> 4), ...halves));
  return { low, high, count: numbers.length, packed };
}

const VALUES = [0, 1, 2, 4095, 17, 255, 256, 1000, 3, 9, 8, 7];
const GRID = { kind: "grid", actions: ["left", "right"], shape: [1, 3], run: 0 };
const RUN = { space: GRID, phases: [1, 5], steps: [100, 500], tables: { q_hat: pack(VALUES, 0, 4095) } };

test("tables are unpacked to 12 bits", () => {
  assert.deepEqual([...unpackTable(RUN.tables.q_hat)], VALUES);
  assert.deepEqual(
    [...unpackTable(pack([-1, 0, 1], -1, 1))].map((value) => Number(value.toFixed(3))),
    [-1, 0, 1],
  );
});

test("values are those of a phase, of an action, or of a difference", () => {
  assert.deepEqual(valuesOf(RUN, { table: "q_hat" }, 1), VALUES.slice(6));
  assert.deepEqual(valuesOf(RUN, { table: "q_hat", action: 1 }, 0), [1, 4095, 255]);
  assert.deepEqual(valuesOf(RUN, { table: "q_hat", action: 1, minus: 0 }, 1), [744, 6, -1]);
});

test("colours stand for this phase or all, and around zero for differences", () => {
  const maps = [{ run: RUN, frame: 1 }];
  assert.deepEqual(colourRange(maps, { table: "q_hat" }, false), [3, 1000]);
  assert.deepEqual(colourRange(maps, { table: "q_hat" }, true), [0, 4095]);
  assert.deepEqual(colourRange(maps, { table: "q_hat", action: 1, minus: 0, diverging: true }, false), [-744, 744]);
  assert.deepEqual(colourRange(maps, { table: "policy", range: [0, 1] }, false), [0, 1]);
});

test("the nearest phase of another run", () => {
  assert.equal(nearestFrame(RUN, 290), 0);
  assert.equal(nearestFrame(RUN, 310), 1);
});

test("what can be shown depends on the states and actions", () => {
  const keys = (space) => quantitiesOf(space).map(({ key }) => key);
  assert.deepEqual(keys(GRID), [
    "visits",
    "policy right",
    "q_hat left",
    "q_hat right",
    "advantage",
    "temperature",
    "surprise",
  ]);
  assert.deepEqual(keys({ kind: "states", actions: ["a"] }), ["visits", "policy", "q_hat", "temperature", "surprise"]);
  const many = { kind: "grid", actions: ["a", "b", "c", "d", "e", "f", "g"] };
  assert.equal(keys(many).filter((key) => key.startsWith("policy")).length, 6);
});

test("places are inside, and where tables have them", () => {
  assert.deepEqual(clampPlace(GRID, [4, -1]), [0, 0]);
  assert.deepEqual(clampPlace({ kind: "states", optimal: [0, 1], actions: ["a", "b"] }, [7, 7]), [1, 1]);
  assert.equal(KINDS.grid.index({ ...GRID, shape: [2, 3] }, [1, 2], {}), 5);
  assert.equal(KINDS.states.index(GRID, [3, 1], { wide: true }), 7);
  assert.equal(KINDS.states.index(GRID, [3, 1], {}), 3);
  const slice = {
    kind: "slice",
    shape: [2, 2],
    axes: [
      [-0.1, 0.1],
      [-2, 2],
    ],
    actions: [],
  };
  assert.equal(KINDS.slice.describe(slice, [1, 0], {}), "angle 0.10, velocity −2.00");
  assert.deepEqual(KINDS.slice.start(slice), [1, 1]);
});
