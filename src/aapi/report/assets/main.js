// The page: unpack, show, and, where it is live, ask for news.
const ALL = "\n"; // no study is called that
const LIVE = document.documentElement.hasAttribute("data-live");
let data = null;
const state = {
  study: null,
  metric: "average",
  log: false,
  band: "std",
  hidden: new Set(),
  offered: new Set(),
  late: new Set(),
  sorting: { results: {}, comparisons: {} },
};

function showShort() {
  $("sentences").replaceChildren(...data.sentences.map((sentence) => make("p", {}, sentence)));
  $("notices").replaceChildren(...data.notices.map((notice) => make("li", {}, notice)));
  const studies = distinct(data.rows.map((row) => row.study));
  if (state.study === null || ![ALL, ...studies].includes(state.study))
    state.study = data.rows.length > 40 ? studies[0] : ALL;
  $("studies").hidden = studies.length < 2;
  choices($("studies"), [...studies.map((study) => [study, study]), [ALL, "all studies"]], state.study, (study) => {
    state.study = study;
    showTable();
    showCurves();
  });
}

function showControls() {
  choices(
    $("metric"),
    Object.entries(METRICS).map(([key, { label, hint }]) => [key, label, hint]),
    state.metric,
    (metric) => {
      state.metric = metric;
      showCurves();
    },
  );
  choices(
    $("scale"),
    [
      [false, "linear steps"],
      [true, "log steps"],
    ],
    state.log,
    (log) => {
      state.log = log;
      showCurves();
    },
  );
  choices(
    $("band"),
    [
      ["std", "mean ± std"],
      ["quantiles", "quantiles"],
      ["none", "lines only"],
    ],
    state.band,
    (band) => {
      state.band = band;
      showCurves();
    },
  );
}

function showMaking() {
  const time = (seconds) =>
    new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const line = (name, value) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value));
  $("sessions").replaceChildren(
    ...data.sessions.map((session) =>
      make(
        "div",
        { class: "scroller", style: "margin-bottom: 1rem" },
        make(
          "table",
          {},
          make(
            "tbody",
            {},
            line("command", make("code", {}, session.command)),
            line(
              "when",
              `${time(session.began)}${known(session.seconds) ? `, ${told(session.seconds)}` : session.running ? ", still running" : ", did not come to its end"}`,
            ),
            ...Object.entries(session.facts).map(([name, value]) => line(name, String(value))),
          ),
        ),
      ),
    ),
  );
  const failed = data.rows.reduce((sum, row) => sum + row.failed, 0),
    missing = data.rows.reduce((sum, row) => sum + row.missing, 0);
  const { full, points, cells } = data.detail;
  $("detail").textContent = full
    ? ""
    : `To stay below 3 MB, this page shows ${points ? `about ${points} points of each curve` : "no curves"}, and ${cells ? "not all phases that were kept" : "not the inside of learners"}; aapi watch shows more.`;
  $("failures").textContent =
    `${failed || "No"} run${failed > 1 ? "s" : ""} of those in the table failed${missing ? `, and ${missing} ${missing > 1 ? "are" : "is"} missing` : ""}.`;
  const columns = ["study", "problem", "algorithm", "settings"];
  $("settings").replaceChildren(
    make(
      "div",
      { class: "scroller long", tabindex: "0", role: "region", "aria-label": "settings" },
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...columns.map((name) => make("th", { scope: "col", style: "padding: .4rem .7rem" }, name))),
        ),
        make(
          "tbody",
          {},
          ...data.rows.map((row) =>
            make(
              "tr",
              {},
              make("td", {}, row.study),
              make("td", { class: "name" }, titled(row.problem, row.scale)),
              make("td", { class: "name" }, row.algorithm),
              make("td", { style: "white-space: normal" }, row.settings),
            ),
          ),
        ),
      ),
    ),
  );
}

function showProgress() {
  const standing = data.standing;
  $("progress").hidden = !LIVE || !standing;
  if ($("progress").hidden) return;
  const left = known(standing.seconds_left) ? `, about ${told(standing.seconds_left)} left` : "";
  const looking = standing.share === 1 ? ", looking inside" : "";
  const text = {
    running: `running: ${standing.stored} of about ${standing.needed} runs${left}${looking}`,
    done: `done: ${standing.stored} runs`,
    stopped: `stopped at ${standing.stored} of about ${standing.needed} runs; its command goes on where it was`,
  }[standing.state];
  $("progress").replaceChildren(
    make("progress", { max: 1, value: standing.share, "aria-label": "share of the work that is done" }),
    make("span", { "data-state": standing.state }, text),
  );
}

function show() {
  showProgress();
  showShort();
  showTable();
  showParts();
  showCurves();
  showSensitivity();
  showTheory();
  showInside();
  showMaking();
  for (const id of ["short", "table", "making"]) $(id).hidden = false;
  for (const link of document.querySelectorAll("nav a")) link.hidden = document.querySelector(link.hash).hidden;
}

function listen() {
  addEventListener("scroll", placeTip, { capture: true, passive: true });
  listenTheory();
  listenInside();
  const themes = ["auto", "light", "dark"];
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % 3];
    $("theme").lastElementChild.textContent = root.dataset.theme;
    recolour();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  addEventListener("beforeprint", () => {
    printing = true;
    redraw(true);
    for (const svg of document.querySelectorAll(".main-svg")) {
      // so that paper may be narrower than the window
      svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
    }
  });
  addEventListener("afterprint", () => {
    printing = false;
    for (const svg of document.querySelectorAll(".main-svg")) svg.removeAttribute("viewBox");
    redraw();
  });
}

function recolour() {
  if (data?.rows.length) show();
}

function tell(text) {
  $("loading").hidden = !text;
  $("loading").textContent = text;
}

let version = null;
async function news() {
  setTimeout(news, 2000);
  let answer;
  try {
    answer = await fetch("data", { headers: version ? { "If-None-Match": version } : {}, cache: "no-store" });
  } catch (error) {
    tell(`aapi watch does not answer any more (${error.message}); what is below is what it said last.`);
    return;
  }
  if (answer.status === 200) {
    version = answer.headers.get("ETag");
    data = await answer.json();
    if (data.rows.length) show();
    else for (const part of document.querySelectorAll("main section, #progress")) part.hidden = true;
  } else if (answer.status !== 304) {
    tell(await answer.text());
    return;
  }
  tell(data?.rows.length ? "" : "Nothing is stored yet; this page shows runs as they come.");
}

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    tell("This page needs a browser of 2023 or later. The same tables are in results.md beside it.");
    return;
  }
  const script = make("script");
  script.textContent = await unpacked("bundle");
  document.head.append(script);
  showControls();
  listen();
  if (LIVE) {
    document.querySelector("footer p").textContent = "Served by aapi watch, to this machine alone.";
    await news();
  } else {
    data = JSON.parse(await unpacked("data"));
    show();
    tell("");
  }
}

begin().catch((error) => {
  tell(`This page could not be shown: ${error.message}`);
  throw error;
});
