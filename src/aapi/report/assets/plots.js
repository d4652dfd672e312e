// What all plots share: colours of the page, and drawing only what is in view.
import { make } from "./dom.js";
import { known, withOpacity } from "./format.js";
import { data } from "./state.js";

let printing = false;

/** On paper the page is light. @param {boolean} value */
export function setPrinting(value) {
  printing = value;
}

export function isDark() {
  const theme = document.documentElement.dataset.theme;
  return !printing && (theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches));
}

/** The colour of an algorithm. @param {string} label */
export const colourOf = (label) => (isDark() ? data.styles[label].dark : data.styles[label].colour);
/** Its dashes. @param {string} label */
export const dashOf = (label) => data.styles[label].dash;

export const LEGEND = { orientation: "h", y: 1.02, yanchor: "bottom", traceorder: "normal", font: { size: 11 } };

/** A text in the middle of a plot. @param {string} text */
export const centredText = (text) => ({ text, showarrow: false, x: 0.5, y: 0.5, xref: "paper", yref: "paper" });

/** A title above a plot. @param {string} text */
export const plotTitle = (text) => ({ text, font: { size: 13 }, x: 0.02, xanchor: "left" });

/** Plotly's layout in the colours of the page. Titles of axes are texts.
 * @param {{xaxis?: Axis, yaxis?: Axis, [name: string]: unknown}} more @returns {PlotLayout} */
export function makeLayout({ xaxis, yaxis, ...more }) {
  const [ink, soft, line] = isDark() ? ["#e6e8ea", "#a2a9b1", "#2b3137"] : ["#1c1e21", "#5b6168", "#e6e8eb"];
  /** @param {Axis} [axis] */
  const makeAxis = (axis = {}) => ({
    gridcolor: line,
    zeroline: false,
    linecolor: line,
    tickfont: { color: soft, size: 11 },
    automargin: true,
    ...axis,
    ...(axis.title ? { title: { text: axis.title, font: { color: soft, size: 12 }, standoff: 8 } } : {}),
  });
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "system-ui, sans-serif" },
    margin: { l: 8, r: 12, t: 8, b: 8 },
    showlegend: false,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: ink },
    hoverlabel: {
      font: { size: 12, color: ink },
      bgcolor: isDark() ? "#1f2429" : "#ffffff",
      bordercolor: line,
      namelength: 40,
    },
    xaxis: makeAxis(xaxis),
    yaxis: makeAxis(yaxis),
    ...more,
  };
}

/** The interval around a line; nothing where there is none. @param {number[]} steps @param {BandData} band
 * @param {string} color @returns {object[]} */
export function makeBand(steps, { lower, upper }, color) {
  if (!lower.every(known)) return [];
  const edge = { x: steps, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
  return [
    { ...edge, y: lower },
    { ...edge, y: upper, fill: "tonexty", fillcolor: withOpacity(color, 0.15) },
  ];
}

// The buttons are named one by one: some that Plotly offers by itself would go to a server.
const CONFIG = {
  displaylogo: false,
  responsive: true,
  displayModeBar: "hover",
  modeBarButtons: [["toImage"], ["zoom2d", "pan2d", "resetScale2d"]],
  toImageButtonOptions: { format: "svg" },
};

/** A plot draws itself when it comes into view, and again when something that it shows has changed.
 * @typedef {{draw: () => Drawing, click?: (point: PlotPoint) => void, stale: boolean, inView: boolean,
 *   listening?: boolean}} Plot */
/** @type {Map<PlotNode, Plot>} */
const plots = new Map();
/** @type {IntersectionObserver | undefined} */
let observer;

/** @param {IntersectionObserverEntry[]} entries */
function viewChanged(entries) {
  for (const { target, isIntersecting } of entries) {
    const node = /** @type {PlotNode} */ (target);
    const plot = plots.get(node);
    if (!plot) continue;
    plot.inView = isIntersecting;
    if (plot.inView && plot.stale) drawNow(node, plot);
  }
}

/** @param {PlotNode} node @param {Plot} plot */
function drawNow(node, plot) {
  plot.stale = false;
  const { traces, layout } = plot.draw();
  window.Plotly.react(node, traces, layout, CONFIG).then(() => {
    if (!plot.stale) node.dataset.drawn = "yes";
  });
  if (!plot.listening && plot.click) {
    plot.listening = true;
    node.on("plotly_click", (event) => plot.click?.(event.points[0]));
  }
}

/** Show a plot in an element. @param {HTMLElement} where @param {() => Drawing} draw
 * @param {(point: PlotPoint) => void} [click] */
export function showPlot(where, draw, click) {
  const node = /** @type {PlotNode} */ (where);
  const plot = plots.get(node);
  if (!plot) {
    plots.set(node, { draw, click, stale: true, inView: false });
    observer ??= new IntersectionObserver(viewChanged, { rootMargin: "300px" });
    observer.observe(node);
    return;
  }
  Object.assign(plot, { draw, click, stale: true });
  delete node.dataset.drawn;
  if (plot.inView) drawNow(node, plot);
}

/** Draw all plots that are in view again, or all. @param {boolean} all */
export function redraw(all = false) {
  for (const [node, plot] of plots) {
    plot.stale = true;
    delete node.dataset.drawn;
    if ((all || plot.inView) && node.offsetParent) drawNow(node, plot);
  }
}

/** A panel for each title, by key; those of before stay, so that zooms survive, and others go.
 * @param {HTMLElement} where @param {Iterable<[key: string, title: string, draw: () => Drawing]>} panels */
export function showPanels(where, panels) {
  const wanted = [...panels];
  const old = new Map([...where.querySelectorAll("div")].map((panel) => [panel.dataset.key, panel]));
  for (const [key, panel] of old) if (key !== undefined && !wanted.some(([each]) => each === key)) removePanel(panel);
  for (const [key, title, draw] of wanted) {
    let panel = old.get(key);
    if (!panel) {
      const node = make("div", { class: "plot", role: "img", "aria-label": title });
      panel = make("div", { class: "panel", "data-key": key }, make("h3"), node);
      where.append(panel);
    }
    /** @type {HTMLElement} */ (panel.firstElementChild).textContent = title;
    showPlot(/** @type {HTMLElement} */ (panel.lastElementChild), draw);
  }
}

/** @param {HTMLElement} panel */
function removePanel(panel) {
  const node = /** @type {PlotNode} */ (panel.lastElementChild);
  observer?.unobserve(node);
  plots.delete(node);
  window.Plotly.purge(node);
  panel.remove();
}
