// Duplicates: objects of the same key, and which of them each rule would keep. Nothing is changed: the command is given.

import { get, lines } from "../app/api.js";
import { button, command, el, show } from "../app/dom.js";
import { cellText, count, counted, isBinary, isNumeric } from "../app/format.js";
import { change, link } from "../app/router.js";
import { answer, conditionField, entityField } from "./question.js";
import { groupCondition } from "./groups.js";

/** Shows the duplicates of an entity. */
export async function showDuplicates({ studio, element, entity, parameters, signal }) {
  const { model } = studio;
  const keys = (parameters.by ?? "").split(",").filter((key) => model.attribute(entity, key) || model.relationship(entity, key));
  const rules = rulesOf(model, entity);
  const chosen = rules.some(([rule]) => rule === parameters.keep) ? parameters.keep : "first";
  const condition = conditionField(studio, entity, parameters.where);
  const result = el("div", { class: "result" });
  const isMerged = parameters.merge === "1";
  show(element, el("div", { class: "question" }, entityField(studio, "duplicates", entity), keyChoice(model, entity, keys),
    el("label", { class: "field" }, el("span", { class: "field-label" }, "Keep"), el("select", { on: { change: (event) => change({ keep: event.target.value }) } }, rules.map(([rule, words]) => el("option", { value: rule, selected: rule === chosen }, words)))),
    el("label", { class: "field check" }, el("input", { type: "checkbox", checked: isMerged, on: { change: (event) => change({ merge: event.target.checked }) } }), el("span", {}, "fill its gaps from the others"))),
  condition.element, result);
  if (keys.length === 0) {
    show(result, el("p", { class: "note" }, "Choose the key: objects that agree in all of it are duplicates."));
    return;
  }
  await answer(result, condition, async () => {
    show(result, el("p", { class: "note" }, "Looking…"));
    const ask = (keep) => lines("duplicates", { entity, by: keys.join(","), keep, merge: isMerged, where: parameters.where, limit: 20 }, { signal });
    // Rules that this entity's values cannot be asked by are left out: what fails is said for the chosen one alone.
    const compared = rules.map(([rule]) => rule).filter((rule) => rule === chosen || rule === "first" || rule === "last" || rule === "mostComplete");
    const { store } = await get("info", {}, { signal });
    const groups = new Map();
    const shown = { store, studio, entity, keys, chosen, compared, groups, answered: new Set(), summary: null, parameters, isMerged, rules };
    const take = (rule, found) => {
      shown.answered.add(rule);
      for (const line of found) {
        if (line.dryRun !== undefined) {
          if (rule === chosen) shown.summary = line;
        } else addGroup(groups, rule, line);
      }
    };
    take(chosen, await ask(chosen));
    showResult(result, shown);
    // What the other rules would keep comes behind: each looks through all objects again.
    for (const rule of groups.size === 0 ? [] : compared.filter((one) => one !== chosen)) {
      // A rule that cannot be asked leaves its column empty: the chosen one's answer is there.
      ask(rule).catch(() => []).then((found) => {
        take(rule, found);
        showResult(result, shown);
      });
    }
  });
}

function addGroup(groups, rule, { key, stays, others }) {
  const name = JSON.stringify(key);
  const members = [stays, ...others].sort((one, other) => Number(one.slice(1)) - Number(other.slice(1)));
  const group = groups.get(name) ?? { key, members, stays: {} };
  group.stays[rule] = stays;
  groups.set(name, group);
}

function rulesOf(model, entity) {
  const attributes = model.attributes(entity);
  return [["first", "the first that was created"], ["last", "the last that was created"], ["mostComplete", "the one with the most values"], ["nullKey", "all, but only the first with the key"],
    ...attributes.filter((attribute) => attribute.type === "date" || isNumeric(attribute.type)).map((attribute) => [`newest:${attribute.name}`, `the largest ${attribute.name}`]),
    ...attributes.filter((attribute) => attribute.type === "date" || isNumeric(attribute.type)).map((attribute) => [`smallest:${attribute.name}`, `the smallest ${attribute.name}`])];
}

function keyChoice(model, entity, keys) {
  const candidates = [...model.attributes(entity).filter((attribute) => !isBinary(attribute.type)), ...model.relationships(entity).filter((relationship) => !relationship.isToMany)].map((property) => property.name);
  const add = el("select", { "aria-label": "The key", on: { change: () => add.value && change({ by: [...keys, add.value].join(",") }) } },
    el("option", { value: "" }, keys.length === 0 ? "choose…" : "and…"), candidates.filter((name) => !keys.includes(name)).map((name) => el("option", { value: name }, name)));
  return el("div", { class: "field" }, el("span", { class: "field-label" }, "The key"), el("span", { class: "picked" },
    keys.map((key) => button(`${key} ×`, () => change({ by: keys.filter((one) => one !== key).join(",") }), { class: "small", "aria-label": `Take ${key} out of the key` })), add));
}

function showResult(element, { store, studio, entity, keys, chosen, compared, groups: found, answered, summary, parameters, isMerged, rules }) {
  const groups = [...found.values()];
  if (groups.length === 0) {
    show(element, el("p", { class: "verdict good" }, `No two objects agree in ${keys.join(" and ")}.`));
    return;
  }
  const quote = (text) => `'${text.replace(/'/g, "'\\''")}'`;
  const line = `cairn duplicates ${quote(store)} ${entity} --by ${keys.join(",")}${parameters.where ? ` --where ${quote(parameters.where)}` : ""} --keep ${chosen}${isMerged ? " --merge" : ""} --delete`;
  const label = (rule) => rules.find(([one]) => one === rule)?.[1] ?? rule;
  show(element,
    el("p", {}, `${counted(summary.keys, "key")} with ${counted(summary.objects, "object")}`, summary.deleted === null ? "." : chosen === "nullKey" ? "." : `: keeping ${label(chosen)} would delete ${counted(summary.deleted, "object")}${summary.updated > 0 ? ` and update ${count(summary.updated)}` : ""}${summary.cascaded > 0 ? `, and ${count(summary.cascaded)} by cascade` : ""}.`),
    command(line),
    el("div", { class: "scroll" }, el("table", { class: "plain-table" },
      el("thead", {}, el("tr", {}, keys.map((key) => el("th", { scope: "col" }, key)), el("th", { scope: "col" }, "Objects"), compared.map((rule) => el("th", { scope: "col", class: rule === chosen ? "chosen" : "", title: label(rule) }, `${rule} keeps`)))),
      el("tbody", {}, groups.map((group) => el("tr", {},
        keys.map((key, index) => el("td", {}, index === 0
          ? el("a", { href: link(["browse", entity], { where: groupCondition(studio.model, entity, keys, group.key, "") }) }, cellText(group.key[key], studio.model.property(entity, key)?.type) || "no value")
          : cellText(group.key[key], studio.model.property(entity, key)?.type))),
        el("td", {}, group.members.slice(0, 12).map((id) => [el("a", { href: link(["object", entity, id]) }, id), " "]), group.members.length > 12 ? `and ${count(group.members.length - 12)} more` : null),
        compared.map((rule) => el("td", { class: rule === chosen ? "chosen" : "" }, rule === "nullKey" ? "all" : group.stays[rule] ?? (answered.has(rule) ? "–" : "…")))))))),
    summary.keys > groups.length ? el("p", { class: "note" }, `The first ${count(groups.length)} of ${counted(summary.keys, "key")}.`) : null);
}
