// Small helpers. Text from the data becomes text, never markup.
const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const distinct = (values) => [...new Set(values)];
const known = (value) => value !== null && value !== undefined;
const significant = (value, digits) =>
  known(value) ? String(Number(value.toPrecision(digits))).replace(/^-/, "−") : "";
const decimal = (value) =>
  value
    .toFixed(2)
    .replace(/^-(0\.00)$/, "$1")
    .replace("-", "−");
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)}%`.replace("-", "−") : "");
const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en").replace("-", "−") : "");
const titled = (problem, scale) => (scale === 1 ? problem : `${problem}, rewards × ${scale}`);

function told(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(seconds < 600 ? 1 : 0)} minutes`;
  return `${(seconds / 3600).toFixed(1)} hours`;
}

// Whether an element has to be filled again; if not, it keeps its children, and whoever uses them their focus.
function isNew(where, contents) {
  const signature = JSON.stringify(contents);
  if (where.dataset.signature === signature) return false;
  where.dataset.signature = signature;
  return true;
}

// A row of buttons of which one is pressed; `changed` is called with its value.
function choices(where, options, value, changed) {
  if (isNew(where, options)) {
    where.replaceChildren(
      ...options.map(([each, label, hint]) =>
        make(
          "button",
          {
            type: "button",
            "data-value": each,
            title: hint,
            onclick: () => {
              press(each);
              changed(each);
            },
          },
          label,
        ),
      ),
    );
  }
  const press = (chosen) => {
    for (const button of where.children)
      button.setAttribute("aria-pressed", String(button.dataset.value === String(chosen)));
  };
  press(value);
}

function options(select, values, chosen) {
  if (isNew(select, values)) select.replaceChildren(...values.map((value) => make("option", { value }, value)));
  select.value = chosen;
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
