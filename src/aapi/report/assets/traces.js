// Learner traces: what one run saw, estimated and did in each phase, as numbers for maps.
import { formatDecimal, known } from "./format.js";

const LEVELS = 4095; // of 12 bits
const MOST_ACTIONS = 6; // with a button each

/** What a map shows: a table, of one action, or of the difference of two. wide: states × actions at once.
 * @typedef {{key: string, label: string, table: string, caption?: string, action?: number, minus?: number,
 *   wide?: boolean, range?: [number, number], diverging?: boolean}} Quantity */
/** @typedef {[number, number]} Place */

/** @type {Record<string, Place>} */
const ALONG_AXES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const IN_MIDDLE =
  " By the last two observations, the others in their middle: for CartPole angle and angular velocity, the cart at rest in the centre.";

/** @param {StateSpace} space */
const shapeOf = ({ shape, optimal, actions }) => shape ?? [optimal?.length ?? 0, actions.length];

/** A place in a map is two numbers: row and column of a grid; angle and angular velocity of a slice; state and action.
 * start: the place that is followed first. index: where it is in a table. fromClick, keys: how one gets there.
 * @type {Record<StateSpace["kind"], {start: (space: StateSpace) => Place,
 *   index: (space: StateSpace, place: Place, quantity: Quantity) => number,
 *   describe: (space: StateSpace, place: Place, quantity: Quantity) => string,
 *   fromClick: (point: PlotPoint, quantity: Quantity) => Place,
 *   keys: Record<string, Place>, note: (quantity: Quantity) => string}>} */
export const KINDS = {
  grid: {
    start: () => [0, 0],
    index: (space, [row, column]) => row * shapeOf(space)[1] + column,
    describe: (_, [row, column]) => `row ${row}, column ${column}`,
    fromClick: ({ pointNumber: [row, column] }) => [row, column],
    keys: { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
    note: () => "",
  },
  slice: {
    start: (space) => /** @type {Place} */ (shapeOf(space).map((size) => Math.floor(size / 2))),
    index: (space, [angle, velocity]) => angle * shapeOf(space)[1] + velocity,
    describe: ({ axes = [] }, [angle, velocity]) =>
      `angle ${formatDecimal(axes[0][angle])}, velocity ${formatDecimal(axes[1][velocity])}`,
    fromClick: ({ pointNumber: [velocity, angle] }) => [angle, velocity],
    keys: ALONG_AXES,
    note: ({ table }) => (table === "visits" ? " By the last two observations, whatever the others." : IN_MIDDLE),
  },
  states: {
    start: () => [0, 0],
    index: ({ actions }, [state, action], { wide }) => (wide ? state * actions.length + action : state),
    describe: ({ actions }, [state, action], { wide }) => `state ${state}${wide ? `, ${actions[action]}` : ""}`,
    fromClick: ({ x, pointNumber }, { wide }) => [x, wide ? pointNumber[0] : 0],
    keys: ALONG_AXES,
    note: ({ wide }) => (wide ? " Rings: the optimal policy." : ""),
  },
};

/** A place, moved into the map. @param {StateSpace} space @param {Place} place */
export function clampPlace(space, place) {
  const shape = shapeOf(space);
  return /** @type {Place} */ (place.map((value, i) => Math.max(0, Math.min(shape[i] - 1, value))));
}

/** What can be shown of a run. @param {StateSpace} space @returns {Quantity[]} */
export function quantitiesOf({ kind, actions }) {
  /** @type {Quantity[]} */
  const ends = [
    { key: "temperature", label: "temperature η", table: "temperature" },
    { key: "surprise", label: "surprise", table: "surprise" },
  ];
  const visits = { key: "visits", label: "visits", table: "visits" };
  if (kind === "states")
    return [
      visits,
      { key: "policy", label: "policy", table: "policy", wide: true, range: [0, 1] },
      { key: "q_hat", label: "Q̂", table: "q_hat", wide: true },
      ...ends,
    ];
  const few = actions.map((name, action) => ({ name, action })).slice(0, MOST_ACTIONS);
  /** @type {Quantity[]} */
  const policies = few.map(({ name, action }) => {
    return { key: `policy ${name}`, label: `P(${name})`, table: "policy", action, range: [0, 1], diverging: true };
  });
  const estimates = few.map(({ name, action }) => {
    return { key: `q_hat ${name}`, label: `Q̂(${name})`, table: "q_hat", action };
  });
  if (actions.length !== 2) return [visits, ...policies, ...estimates, ...ends];
  const difference = {
    key: "advantage",
    label: `Q̂(${actions[1]}) − Q̂(${actions[0]})`,
    table: "q_hat",
    caption: "advantage",
    action: 1,
    minus: 0,
    diverging: true,
  };
  return [visits, policies[1], ...estimates, difference, ...ends];
}

/** Tables that were unpacked once. @type {WeakMap<PackedTable, Float64Array>} */
const unpacked = new WeakMap();

/** The numbers of a table: 12 bits each, all high bytes first, then the low halves, two in a byte.
 * @param {PackedTable} table */
export function unpackTable(table) {
  const before = unpacked.get(table);
  if (before) return before;
  const bytes = Uint8Array.from(atob(table.packed), (letter) => letter.charCodeAt(0));
  const halves = (2 * bytes.length) / 3;
  const step = (table.high - table.low) / LEVELS;
  /** @param {number} i */
  const level = (i) => (bytes[i] << 4) | ((bytes[halves + (i >> 1)] >> (4 * (i % 2))) & 15);
  const numbers = Float64Array.from({ length: table.count }, (_, i) => table.low + step * level(i));
  unpacked.set(table, numbers);
  return numbers;
}

/** The values of one phase. @param {TraceData} run @param {Quantity} quantity @param {number} frame its index */
export function valuesOf({ tables, phases, space }, { table, action, minus }, frame) {
  const numbers = unpackTable(tables[table]);
  const size = numbers.length / phases.length;
  const all = Array.from(numbers.subarray(frame * size, (frame + 1) * size));
  if (!known(action)) return all;
  /** @param {number} which */
  const ofAction = (which) => all.filter((_, i) => i % space.actions.length === which);
  if (!known(minus)) return ofAction(action);
  const others = ofAction(minus);
  return ofAction(action).map((value, i) => value - others[i]);
}

/** The index of the phase that ends nearest to a step. @param {TraceData} run @param {number} step */
export const nearestFrame = ({ steps }, step) =>
  steps.reduce((best, end, i) => (Math.abs(end - step) < Math.abs(steps[best] - step) ? i : best), 0);

/** The numbers that the colours of some maps stand for. @param {{run: TraceData, frame: number}[]} maps
 * @param {Quantity} quantity @param {boolean} allPhases of all phases of these runs, not of these alone
 * @returns {[number, number]} */
export function colourRange(maps, quantity, allPhases) {
  if (quantity.range) return quantity.range;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { run, frame } of maps) {
    if (!run.tables[quantity.table]) continue;
    for (const each of allPhases ? run.phases.keys() : [frame]) {
      for (const value of valuesOf(run, quantity, each)) {
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
