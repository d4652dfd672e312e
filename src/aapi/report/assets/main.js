// The page: unpack its data, show it, and, where it is live, ask the server for new data.
import { placeTip, showAblations } from "./ablation.js";
import { METRICS, showCurves } from "./curves.js";
import { listenDiagnostics, showDiagnostics } from "./diagnostics.js";
import { $, make, makeItems, makeScroller, makeTable, showChoices, unpackText } from "./dom.js";
import { distinct, formatDuration, known, titleOf } from "./format.js";
import { showGrowth } from "./growth.js";
import { redraw, setPrinting } from "./plots.js";
import { showResults } from "./results.js";
import { showSensitivity } from "./sensitivity.js";
import { ALL, data, setData, state } from "./state.js";
import { listenTheory, showTheory } from "./theory.js";

const LIVE = document.documentElement.hasAttribute("data-live");
const POLL = 2000; // milliseconds between two questions to the server

function showSummary() {
  $("sentences").replaceChildren(...data.sentences.map((sentence) => make("p", {}, sentence)));
  $("notices").replaceChildren(...makeItems(data.notices));
  const studies = distinct(data.rows.map(({ study }) => study));
  if (state.study === null || ![ALL, ...studies].includes(state.study))
    state.study = data.rows.length > 40 ? studies[0] : ALL;
  $("studies").hidden = studies.length < 2;
  /** @type {[string, string][]} */
  const options = [...studies, ALL].map((study) => [study, study === ALL ? "all studies" : study]);
  showChoices($("studies"), options, state.study, (study) => {
    state.study = study;
    showResults();
    showCurves();
  });
}

/** The choices above the learning curves. */
function showCurveChoices() {
  /** @param {string} id @param {[string, string, string?][]} options @param {string} value
   * @param {(value: any) => void} set */
  const choose = (id, options, value, set) =>
    showChoices($(id), options, value, (chosen) => {
      set(chosen);
      showCurves();
    });
  const metrics = Object.entries(METRICS).map(([key, { label, hint }]) => [key, label, hint]);
  choose("metric", /** @type {[string, string, string][]} */ (metrics), state.metric, (metric) => {
    state.metric = metric;
  });
  choose("scale", Object.entries({ linear: "linear steps", log: "log steps" }), "linear", (scale) => {
    state.logSteps = scale === "log";
  });
  const bands = { std: "mean ± std", quantiles: "quantiles", none: "lines only" };
  choose("band", Object.entries(bands), state.band, (band) => {
    state.band = band;
  });
}

function showProvenance() {
  $("sessions").replaceChildren(...data.sessions.map(makeSession));
  const [failed, missing] = [data.rows.map((row) => row.failed), data.rows.map((row) => row.missing)].map((counts) =>
    counts.reduce((a, b) => a + b, 0),
  );
  const absent = missing ? `, and ${missing} ${missing > 1 ? "are" : "is"} missing` : "";
  $("failures").textContent = `${failed || "No"} run${failed > 1 ? "s" : ""} of those in the table failed${absent}.`;
  const { full, points, cells } = data.detail;
  const curves = points ? `about ${points} points of each curve` : "no curves";
  const phases = cells ? "not all phases that are stored" : "not the inside of learners";
  $("detail").textContent = full
    ? ""
    : `To stay below 3 MB, this page shows ${curves}, and ${phases}; aapi watch shows more.`;
  const heads = ["study", "problem", "algorithm", "settings"].map((name) =>
    make("th", { scope: "col", style: "padding: .4rem .7rem" }, name),
  );
  const rows = data.rows.map((row) =>
    make(
      "tr",
      {},
      make("td", {}, row.study),
      make("td", { class: "name" }, titleOf(row)),
      make("td", { class: "name" }, row.algorithm),
      make("td", { style: "white-space: normal" }, row.settings),
    ),
  );
  $("settings").replaceChildren(makeScroller("settings", makeTable(heads, rows), "long"));
}

/** A call of aapi that filled the store. @param {SessionData} session */
function makeSession({ command, began, seconds, running, details }) {
  const date = new Date(began * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const ended = known(seconds) ? formatDuration(seconds) : running ? "still running" : "did not come to its end";
  /** @type {[string, string | Node][]} */
  const lines = [["command", make("code", {}, command)], ["when", `${date}, ${ended}`], ...Object.entries(details)];
  const rows = lines.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
  const table = make("table", {}, make("tbody", {}, ...rows));
  return make("div", { class: "scroller", style: "margin-bottom: 1rem" }, table);
}

function showProgress() {
  const { status } = data;
  $("progress").hidden = !LIVE || !status;
  if (!LIVE || !status) return;
  const left = known(status.seconds_left) ? `, about ${formatDuration(status.seconds_left)} left` : "";
  const diagnostics = status.share === 1 ? ", making diagnostics" : "";
  const text = {
    running: `running: ${status.stored} of about ${status.needed} runs${left}${diagnostics}`,
    done: `done: ${status.stored} runs`,
    stopped: `stopped at ${status.stored} of about ${status.needed} runs; its command goes on where it was`,
  }[status.state];
  $("progress").replaceChildren(
    make("progress", { max: 1, value: status.share, "aria-label": "share of the work that is done" }),
    make("span", { "data-state": status.state }, text),
  );
}

function show() {
  showProgress();
  showSummary();
  showResults();
  showAblations();
  showCurves();
  showSensitivity();
  showTheory();
  showGrowth();
  showDiagnostics();
  showProvenance();
  for (const id of ["short", "table", "making"]) $(id).hidden = false;
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("hidden", $(link.getAttribute("href")?.slice(1) ?? "").hasAttribute("hidden"));
}

function showAgain() {
  if (data?.rows.length) show();
}

function listen() {
  addEventListener("scroll", placeTip, { capture: true, passive: true });
  listenTheory();
  listenDiagnostics();
  const themes = ["auto", "light", "dark"];
  $("theme").addEventListener("click", () => {
    const { dataset } = document.documentElement;
    dataset.theme = themes[(themes.indexOf(dataset.theme ?? "auto") + 1) % 3];
    /** @type {HTMLElement} */ ($("theme").lastElementChild).textContent = dataset.theme;
    showAgain();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAgain);
  addEventListener("beforeprint", () => {
    setPrinting(true);
    redraw(true);
    for (const svg of document.querySelectorAll(".main-svg")) {
      // so that paper may be narrower than the window
      svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
    }
  });
  addEventListener("afterprint", () => {
    setPrinting(false);
    for (const svg of document.querySelectorAll(".main-svg")) svg.removeAttribute("viewBox");
    redraw();
  });
}

/** A message in place of the page, or above it. @param {string} text */
function showMessage(text) {
  $("loading").hidden = !text;
  $("loading").textContent = text;
}

/** @type {string | null} */
let version = null;

/** Ask the server for new data, from time to time. */
async function poll() {
  setTimeout(poll, POLL);
  let answer;
  try {
    answer = await fetch("data", { headers: version ? { "If-None-Match": version } : {}, cache: "no-store" });
  } catch (error) {
    const why = /** @type {Error} */ (error).message;
    showMessage(`aapi watch does not answer any more (${why}); what is below is what it said last.`);
    return;
  }
  if (answer.status === 200) {
    version = answer.headers.get("ETag");
    setData(await answer.json());
    if (data?.rows.length) show();
    else for (const part of document.querySelectorAll("main section, #progress")) part.toggleAttribute("hidden", true);
  } else if (answer.status !== 304) {
    showMessage(await answer.text());
    return;
  }
  showMessage(data?.rows.length ? "" : "Nothing is stored yet; this page shows runs as they come.");
}

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    showMessage("This page needs a browser of 2023 or later. The same tables are in results.md beside it.");
    return;
  }
  const script = make("script");
  script.textContent = await unpackText("bundle");
  document.head.append(script);
  showCurveChoices();
  listen();
  if (LIVE) {
    const note = /** @type {HTMLElement} */ (document.querySelector("footer p"));
    note.textContent = "Served by aapi watch, to this machine alone.";
    await poll();
  } else {
    setData(JSON.parse(await unpackText("data")));
    show();
    showMessage("");
  }
}

begin().catch((error) => {
  showMessage(`This page could not be shown: ${error.message}`);
  throw error;
});
