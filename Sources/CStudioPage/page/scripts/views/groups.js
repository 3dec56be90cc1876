// Groups: a table of groups with counts, sums and averages. A group leads to its objects.

import { lines } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { cellText, constant, count, counted, isBinary, isNumeric, propertyName } from "../app/format.js";
import { change, link } from "../app/router.js";
import { answer, conditionField, entityField } from "./question.js";

const measures = [["sum", "sum"], ["average", "average"], ["min", "smallest"], ["max", "largest"]];
const most = 1000;

/** Shows the groups of an entity's objects. */
export async function showGroups({ studio, element, entity, parameters, signal }) {
  const { model } = studio;
  const keys = (parameters.by ?? "").split(",").filter((key) => model.property(entity, key));
  const sums = (parameters.measure ?? "").split(",").map((text) => text.split(":")).filter(([kind, name]) => measures.some(([one]) => one === kind) && model.attribute(entity, name));
  const condition = conditionField(studio, entity, parameters.where);
  const result = el("div", { class: "result" });
  show(element, el("div", { class: "question" },
    entityField(studio, "groups", entity),
    keyChoice(model, entity, keys), measureChoice(model, entity, sums),
    el("label", { class: "field" }, el("span", { class: "field-label" }, "Only groups with"),
      el("input", { type: "text", value: parameters.having ?? "", placeholder: "such as  count > 1", on: { change: (event) => change({ having: event.target.value.trim() }) } }))),
  condition.element, result);
  if (keys.length === 0) {
    show(result, el("p", { class: "note" }, "Choose what to group by."));
    return;
  }
  const columns = [...keys, "count=@count", ...sums.map(([kind, name]) => `${kind}_${name}=${kind}:(${name})`)];
  const names = [...keys, "count", ...sums.map(([kind, name]) => `${kind}_${name}`)];
  await answer(result, condition, async () => {
    show(result, el("p", { class: "note" }, "Counting…"));
    const rows = await lines("query", {
      entity, where: parameters.where, "group-by": keys.join(","), columns: columns.join(","), having: parameters.having,
      sort: parameters.sort ?? "-count", limit: most, at: parameters.at,
    }, { signal });
    show(result, el("p", { class: "note" }, counted(rows.length, "group"), rows.length === most ? ", the first" : ""), table(rows, { model, entity, keys, names, parameters }));
  });
}

function keyChoice(model, entity, keys) {
  const candidates = [
    ...model.attributes(entity).filter((attribute) => !isBinary(attribute.type) && attribute.type !== "composite").map((attribute) => attribute.name),
    ...model.relationships(entity).filter((relationship) => !relationship.isToMany).map((relationship) => relationship.name),
  ];
  const add = el("select", { "aria-label": "Group by", on: { change: () => add.value && change({ by: [...keys, add.value].join(",") }) } },
    el("option", { value: "" }, keys.length === 0 ? "choose…" : "and…"), candidates.filter((name) => !keys.includes(name)).map((name) => el("option", { value: name }, name)));
  return el("div", { class: "field" }, el("span", { class: "field-label" }, "Group by"), el("span", { class: "picked" },
    keys.map((key) => button(`${key} ×`, () => change({ by: keys.filter((one) => one !== key).join(",") }), { class: "small", "aria-label": `Do not group by ${key}` })), add));
}

function measureChoice(model, entity, sums) {
  const candidates = model.attributes(entity).filter((attribute) => isNumeric(attribute.type) || attribute.type === "date")
    .flatMap((attribute) => measures.filter(([kind]) => isNumeric(attribute.type) || kind === "min" || kind === "max").map(([kind, words]) => [`${kind}:${attribute.name}`, `${words} of ${attribute.name}`]));
  if (candidates.length === 0) return null;
  const present = sums.map((sum) => sum.join(":"));
  const add = el("select", { "aria-label": "Also show", on: { change: () => add.value && change({ measure: [...present, add.value].join(",") }) } },
    el("option", { value: "" }, "add…"), candidates.filter(([value]) => !present.includes(value)).map(([value, words]) => el("option", { value }, words)));
  return el("div", { class: "field" }, el("span", { class: "field-label" }, "Also show"), el("span", { class: "picked" },
    present.map((value) => button(`${value.replace(":", " of ")} ×`, () => change({ measure: present.filter((one) => one !== value).join(",") }), { class: "small", "aria-label": `Do not show ${value.replace(":", " of ")}` })), add));
}

function table(rows, { model, entity, keys, names, parameters }) {
  const largest = Math.max(1, ...rows.map((row) => Number(row.count)));
  const sort = parameters.sort ?? "-count";
  const heading = (name) => {
    const isSorted = sort === name || sort === `-${name}`;
    return el("th", { scope: "col", class: keys.includes(name) ? "" : "number", "aria-sort": isSorted ? (sort.startsWith("-") ? "descending" : "ascending") : "none" },
      button(`${name.replace(/^(sum|average|min|max)_/, "$1 of ")}${isSorted ? (sort.startsWith("-") ? " ▼" : " ▲") : ""}`, () => change({ sort: sort === `-${name}` ? name : `-${name}` }), { class: "heading" }));
  };
  return el("div", { class: "scroll" }, el("table", { class: "plain-table groups-table" },
    el("thead", {}, el("tr", {}, names.map(heading), el("th", { "aria-hidden": "true" }))),
    el("tbody", {}, rows.map((row) => el("tr", {},
      names.map((name, index) => el("td", { class: keys.includes(name) ? "" : "number" }, index === 0
        ? el("a", { href: link(["browse", entity], { where: groupCondition(model, entity, keys, row, parameters.where) }) }, cellText(row[name], model.property(entity, name)?.type) || "no value")
        : keys.includes(name) ? cellText(row[name], model.property(entity, name)?.type) || "no value" : numberText(row[name]))),
      el("td", { class: "bar-cell", "aria-hidden": "true" }, el("span", { class: "bar", style: { width: `${(100 * Number(row.count)) / largest}%` } })))))));
}

const numberText = (value) => (Number.isInteger(value) ? count(value) : typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 4 }) : cellText(value, "date"));

/** The condition that the objects of a group meet. */
export function groupCondition(model, entity, keys, row, where) {
  const parts = keys.map((key) => `${propertyName(key)} == ${constant(row[key], model.property(entity, key)?.type)}`);
  return [where ? (/\bOR\b/i.test(where) ? `(${where})` : where) : null, ...parts].filter(Boolean).join(" AND ");
}
