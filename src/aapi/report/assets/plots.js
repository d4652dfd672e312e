// What all plots share: colours of the page, and drawing only what is looked at.
let printing = false;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return !printing && (theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches));
}

const colour = (label) => (isDark() ? data.styles[label].dark : data.styles[label].colour);
const dash = (label) => data.styles[label].dash;
const faded = (hex, opacity) =>
  `rgba(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(", ")}, ${opacity})`;
// Plotly reads some markup in its texts; names shall be read as they are.
const plain = (text) =>
  String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("$", "&#36;");

function layout(more) {
  const [ink, soft, line] = isDark() ? ["#e6e8ea", "#a2a9b1", "#2b3137"] : ["#1c1e21", "#5b6168", "#e6e8eb"];
  const axis = {
    gridcolor: line,
    zeroline: false,
    linecolor: line,
    tickfont: { color: soft, size: 11 },
    automargin: true,
  };
  const { xaxis, yaxis, ...rest } = more;
  const title = (given) =>
    given?.title ? { title: { text: given.title, font: { color: soft, size: 12 }, standoff: 8 } } : {};
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
    xaxis: { ...axis, ...xaxis, ...title(xaxis) },
    yaxis: { ...axis, ...yaxis, ...title(yaxis) },
    ...rest,
  };
}

// The buttons are named one by one: some that Plotly offers by itself would go to a server.
const CONFIG = {
  displaylogo: false,
  responsive: true,
  displayModeBar: "hover",
  modeBarButtons: [["toImage"], ["zoom2d", "pan2d", "resetScale2d"]],
  toImageButtonOptions: { format: "svg" },
};

// Panels draw themselves when they come into view, and again when something changed that they show.
const panels = new Map();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const panel = panels.get(entry.target);
      if (panel) {
        panel.seen = entry.isIntersecting;
        if (panel.seen && panel.stale) drawPanel(entry.target);
      }
    }
  },
  { rootMargin: "300px" },
);

function drawPanel(node) {
  const panel = panels.get(node);
  panel.stale = false;
  const { traces, layout: shape } = panel.draw();
  window.Plotly.react(node, traces, shape, CONFIG).then(() => {
    if (!panel.stale) node.dataset.drawn = "yes";
  });
  if (!panel.attached && panel.click) {
    panel.attached = true;
    node.on("plotly_click", (event) => panel.click(event.points[0]));
  }
}

function plot(node, draw, click) {
  if (!panels.has(node)) {
    panels.set(node, { draw, click, stale: true, seen: false });
    watcher.observe(node);
    return;
  }
  Object.assign(panels.get(node), { draw, click, stale: true });
  delete node.dataset.drawn;
  if (panels.get(node).seen) drawPanel(node);
}

function redraw(all = false) {
  for (const [node, panel] of panels) {
    panel.stale = true;
    delete node.dataset.drawn;
    if ((all || panel.seen) && node.offsetParent) drawPanel(node);
  }
}

// One panel for each key, kept from one call to the next, so that zooms survive.
function panelFor(where, key, title) {
  const found = [...where.children].find((child) => child.dataset.key === key);
  if (found) {
    found.querySelector("h3").textContent = title;
    return found.querySelector(".plot");
  }
  const node = make("div", { class: "plot", role: "img", "aria-label": title });
  where.append(make("div", { class: "panel", "data-key": key }, make("h3", {}, title), node));
  return node;
}

function keepOnly(where, keys) {
  for (const child of [...where.children]) {
    if (keys.includes(child.dataset.key)) continue;
    const node = child.querySelector(".plot");
    watcher.unobserve(node);
    panels.delete(node);
    window.Plotly.purge(node);
    child.remove();
  }
}
