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
const significant = (value, digits) => (known(value) ? String(Number(value.toPrecision(digits))).replace(/^-/, "−") : "");
const decimal = (value) => value.toFixed(2).replace(/^-(0\.00)$/, "$1").replace("-", "−");
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)}%`.replace("-", "−") : "");
const whole = (value) => (known(value) ? Math.round(value).toLocaleString("en").replace("-", "−") : "");
const titled = (problem, scale) => (scale === 1 ? problem : `${problem}, rewards × ${scale}`);

function told(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(seconds < 600 ? 1 : 0)} minutes`;
  return `${(seconds / 3600).toFixed(1)} hours`;
}

// A row of buttons of which one is pressed; `changed` is called with its value.
function choices(where, options, value, changed) {
  where.replaceChildren(
    ...options.map(([each, label, hint]) =>
      make("button", {
        type: "button", "aria-pressed": String(each === value), "data-value": each, title: hint,
        onclick: () => {
          for (const other of where.children) other.setAttribute("aria-pressed", String(other.dataset.value === String(each)));
          changed(each);
        },
      }, label)),
  );
}

function options(select, values, chosen) {
  select.replaceChildren(...values.map((value) => make("option", { value }, value)));
  select.value = chosen;
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
