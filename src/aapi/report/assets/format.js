// Numbers and words as people write them.

/** @template T @param {Iterable<T>} values */
export const distinct = (values) => [...new Set(values)];

/** Whether a value is there: JSON has null where a number does not exist.
 * @template T @param {T | null | undefined} value @returns {value is T} */
export const known = (value) => value !== null && value !== undefined;

/** @param {string} text */
const withMinus = (text) => text.replace(/^-/, "−");

/** 0.1235, −12; nothing where there is no number. @param {number | null} value @param {number} digits */
export const formatSignificant = (value, digits) =>
  known(value) ? withMinus(String(Number(value.toPrecision(digits)))) : "";

/** 0.97, −0.03; never −0.00. @param {number} value */
export const formatDecimal = (value) => withMinus(value.toFixed(2).replace(/^-(0\.00)$/, "$1"));

/** @param {number | null} value */
export const formatPercent = (value) => (known(value) ? withMinus(`${(100 * value).toFixed(1)}%`) : "");

/** 12,345. @param {number | null} value */
export const formatCount = (value) => (known(value) ? withMinus(Math.round(value).toLocaleString("en")) : "");

/** 12,345 or 0.123 or 1.23e12. @param {number | null} value */
export function formatNumber(value) {
  if (!known(value)) return "?";
  const size = Math.abs(value);
  if (size >= 1e9) return value.toExponential(2).replace("e+", "e").replace("-", "−");
  return size >= 1000 ? formatCount(value) : formatSignificant(value, 3);
}

/** 12 s, 3.4 minutes, 2.5 hours. @param {number} seconds */
export function formatDuration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(seconds < 600 ? 1 : 0)} minutes`;
  return `${(seconds / 3600).toFixed(1)} hours`;
}

/** 1 run, 2 runs. @param {number} count @param {string} noun */
export const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A problem, with the scale of its rewards. @param {{problem: string, reward_scale: number}} row */
export const titleOf = ({ problem, reward_scale }) =>
  reward_scale === 1 ? problem : `${problem}, rewards × ${reward_scale}`;

/** Text as Plotly shows it as it is: it reads some markup in its texts. @param {string} text */
export const escapeMarkup = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("$", "&#36;");

/** A colour such as #0072b2, see-through. @param {string} hex @param {number} opacity in [0, 1] */
export const withOpacity = (hex, opacity) =>
  `rgba(${[1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)).join(", ")}, ${opacity})`;
