// Which columns a table of an entity has, in which order and how wide: chosen by a person, kept by the browser.

import { button, el } from "../app/dom.js";
import { openDialog } from "../app/dialog.js";
import { isBinary, isNumeric } from "../app/format.js";

const mostAtFirst = 16;

/** The columns that the address names, else those that are good to begin with. */
export function chosenColumns(model, entity, names) {
  const all = model.columns(entity);
  const widths = storedWidths(entity);
  const byKey = new Map(all.map((column) => [column.key, column]));
  const chosen = names
    ? names.split(",").map((key) => byKey.get(key)).filter(Boolean)
    : all.filter((column) => !isBinary(column.type)).slice(0, mostAtFirst);
  if (chosen[0]?.key !== "objectID") chosen.unshift(byKey.get("objectID"));
  return [...new Set(chosen)].map((column) => ({ ...column, width: widths[column.key] ?? usualWidth(column) }));
}

function usualWidth(column) {
  const least = column.label.length * 8 + 42;
  if (column.type === "objectID") return 92;
  if (column.type === "boolean") return Math.max(70, least);
  if (column.type === "reference") return Math.max(84, least);
  if (column.type === "date") return Math.max(176, least);
  if (column.type === "uuid") return 290;
  if (isNumeric(column.type)) return Math.max(96, least);
  return Math.max(170, least);
}

const widthKey = (entity) => `cairn-studio-widths-${entity}`;

function storedWidths(entity) {
  try {
    return JSON.parse(localStorage.getItem(widthKey(entity))) ?? {};
  } catch {
    return {};
  }
}

/** Keeps the width that a person gave a column. */
export function keepWidth(entity, column) {
  localStorage.setItem(widthKey(entity), JSON.stringify({ ...storedWidths(entity), [column.key]: column.width }));
}

/** Lets a person choose the columns and their order. */
export function chooseColumns(model, entity, present, apply) {
  const keys = present.map((column) => column.key);
  const rest = model.columns(entity).filter((column) => !keys.includes(column.key));
  let order = [...present, ...rest].filter((column) => column.key !== "objectID");
  const chosen = new Set(keys);
  openDialog(`Columns of ${entity}`, (close) => {
    const list = el("ol", { class: "column-choice" });
    const draw = (focused) => {
      list.replaceChildren(...order.map((column, index) => row(column, index)));
      list.children[focused]?.querySelector("input").focus();
    };
    const swap = (index, by) => {
      const other = index + by;
      if (other < 0 || other >= order.length) return;
      [order[index], order[other]] = [order[other], order[index]];
      draw(other);
    };
    const row = (column, index) => el("li", {
      on: { keydown: (event) => { if (event.altKey && /^Arrow(Up|Down)$/.test(event.key)) { event.preventDefault(); swap(index, event.key === "ArrowUp" ? -1 : 1); } } },
    },
    el("label", {}, el("input", { type: "checkbox", checked: chosen.has(column.key), on: { change: (event) => (event.target.checked ? chosen.add(column.key) : chosen.delete(column.key)) } }),
      el("span", {}, column.label), el("span", { class: "note" }, column.relationship ? `→ ${column.relationship.destinationEntityName}` : column.type)),
    button("↑", () => swap(index, -1), { class: "plain", "aria-label": `Move ${column.label} up` }),
    button("↓", () => swap(index, 1), { class: "plain", "aria-label": `Move ${column.label} down` }));
    draw();
    return [
      el("p", { class: "hint" }, "Tick what the table shows. Alt ↑ ↓ moves a column."), list,
      el("div", { class: "actions" },
        button("As at first", () => { close(); apply(""); }),
        button("Show", () => { close(); apply(["objectID", ...order.filter((column) => chosen.has(column.key)).map((column) => column.key)].join(",")); }, { class: "primary" })),
    ];
  });
}
