// Elements of the page. Text from the data becomes text, never markup.

/** An element of page.html. @param {string} id */
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** A new element. Attributes that begin with "on" are listeners; those without a value are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | null | undefined | ((event: Event) => void)>} attributes
 * @param {(Node | string)[]} children */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/** @param {string | Node} label @param {(event: Event) => void} onclick
 * @param {Record<string, string | null | undefined>} attributes */
export const makeButton = (label, onclick, attributes = {}) =>
  make("button", { type: "button", onclick, ...attributes }, label);

/** A table of rows that are there already. @param {HTMLElement[]} head @param {HTMLElement[]} body
 * @param {Record<string, string>} attributes */
export const makeTable = (head, body, attributes = {}) =>
  make("table", attributes, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));

/** A box that scrolls sideways, also by keys. @param {string} label @param {HTMLElement} child
 * @param {string} [kind] another class */
export const makeScroller = (label, child, kind = "") =>
  make("div", { class: `scroller ${kind}`.trim(), tabindex: 0, role: "region", "aria-label": label }, child);

/** Items of a list. @param {string[]} lines */
export const makeItems = (lines) => lines.map((line) => make("li", {}, line));

/** Whether an element has to be filled again; if not, it keeps its children, and they their focus.
 * @param {HTMLElement} where @param {unknown} contents */
export function isNew(where, contents) {
  const signature = JSON.stringify(contents);
  if (where.dataset.signature === signature) return false;
  where.dataset.signature = signature;
  return true;
}

/** A row of buttons of which one is pressed.
 * @param {HTMLElement} where
 * @param {[value: string, label: string, hint?: string][]} options
 * @param {string} value the one that is pressed
 * @param {(value: string) => void} changed called with another one */
export function showChoices(where, options, value, changed) {
  /** @param {string} chosen */
  const press = (chosen) => {
    for (const button of where.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
  };
  if (isNew(where, options)) {
    const buttons = options.map(([each, label, hint]) => {
      const choose = () => {
        press(each);
        changed(each);
      };
      return makeButton(label, choose, { "data-value": each, title: hint });
    });
    where.replaceChildren(...buttons);
  }
  press(value);
}

/** @param {string} id of a select @param {string[]} values @param {string} chosen */
export function showOptions(id, values, chosen) {
  const select = /** @type {HTMLSelectElement} */ ($(id));
  if (isNew(select, values)) select.replaceChildren(...values.map((value) => make("option", { value }, value)));
  select.value = chosen;
}

/** Call back with the new value of a select or slider. @param {string} id @param {"change" | "input"} event
 * @param {(value: string) => void} changed */
export function onValue(id, event, changed) {
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ ($(id));
  field.addEventListener(event, () => changed(field.value));
}

/** What a script element holds, compressed. @param {string} id */
export async function unpackText(id) {
  const bytes = Uint8Array.from(atob($(id).textContent ?? ""), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
