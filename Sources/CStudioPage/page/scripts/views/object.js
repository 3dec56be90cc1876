// An object's page: all values, what it is related to, its history, and how it was. With --write it can be edited.

import { get } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { go, link } from "../app/router.js";
import { constant, count, propertyName } from "../app/format.js";
import { removeObject } from "../edit/save.js";
import { ObjectForm } from "../edit/object-form.js";
import { wholeObject } from "../edit/whole-object.js";
import { valuePreview } from "./value-preview.js";
import { showObjectHistory } from "./object-history.js";

/** Shows an object, or the form of a new one. */
export async function showObject({ studio, element, path, parameters, signal }) {
  const [entity, id] = path;
  if (id === "new") {
    show(element, trail(entity, "new"), el("h1", {}, `A new ${entity}`), new ObjectForm(studio, { entity, attributes: studio.model.attributes(entity) }).element);
    return;
  }
  const object = await get("object", { entity, id, at: parameters.at }, { signal });
  const canWrite = studio.store.writable && !parameters.at;
  const values = el("section", { class: "panel values" });
  const showValues = () => show(values, el("h2", {}, "Values"), valueTable(studio, object, parameters.at));
  const edit = async () => {
    const form = new ObjectForm(studio, { ...(await wholeObject(object)), attributes: studio.model.attributes(object.entity), cancel: showValues });
    show(values, el("h2", {}, "Values"), form.element);
    form.focus();
  };
  const historyPanel = el("section", { class: "panel" });
  show(element, trail(entity, id),
    el("div", { class: "title-line" }, el("h1", {}, titleOf(studio, object)), el("span", { class: "note" }, `${object.entity} ${id}`), el("span", { class: "spacer" }),
      canWrite ? [button("Edit", edit), button("Delete…", () => removeObject(studio, object.entity, id, object.version), { class: "danger" })] : null),
    el("div", { class: "columns" }, el("div", {}, values, relationships(studio, object)), el("div", {}, historyPanel)));
  showValues();
  await showObjectHistory(historyPanel, { object, at: parameters.at, signal, studio });
}

function trail(entity, id) {
  return el("nav", { class: "trail", "aria-label": "Where this is" },
    el("a", { href: link(["browse"]) }, "Browse"), " / ", el("a", { href: link(["browse", entity]) }, entity), " / ", el("span", { "aria-current": "page" }, id));
}

function titleOf(studio, object) {
  const keys = studio.model.uniquenessConstraints(object.entity)[0] ?? [];
  const texts = studio.model.attributes(object.entity).filter((attribute) => attribute.type === "string").map((attribute) => attribute.name);
  const named = texts.filter((name) => /^(name|title|label|fullName)$/i.test(name));
  const first = [...named, ...keys, ...texts].map((name) => object.values[name]).find((value) => typeof value === "string" && value !== "");
  const text = first ?? object.id;
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function valueTable(studio, object, at) {
  const attributes = studio.model.attributes(object.entity);
  const unique = new Set(studio.model.uniquenessConstraints(object.entity).flat());
  return el("table", { class: "value-table" }, el("tbody", {}, attributes.map((attribute) => el("tr", {},
    el("th", { scope: "row" }, attribute.name, el("span", { class: "note" }, attribute.type, unique.has(attribute.name) ? " · unique" : "", attribute.derivationExpression ? ` · derived: ${attribute.derivationExpression}` : "")),
    el("td", {}, valuePreview(object, attribute, at))))));
}

function relationships(studio, object) {
  if (object.relationships.length === 0) return null;
  return el("section", { class: "panel" }, el("h2", {}, "Relationships"), object.relationships.map((relationship) => el("div", { class: "relationship" },
    el("h3", {}, relationship.name, el("span", { class: "note" }, ` → ${relationship.destination}${relationship.isToMany ? `, ${count(relationship.count)}` : ""}`)),
    relationship.members.length === 0
      ? el("p", { class: "note" }, relationship.isToMany ? "none" : "no value")
      : el("ul", { class: "members" }, relationship.members.map((member) => el("li", {},
        el("a", { href: link(["object", member.entity, member.id]) }, member.label || member.id), el("span", { class: "note" }, member.label === member.id ? "" : member.id)))),
    relationship.isToMany && relationship.count > 0 ? showAll(studio, object, relationship) : null)));
}

function showAll(studio, object, relationship) {
  const description = studio.model.relationship(object.entity, relationship.name);
  const inverse = description?.inverseName && studio.model.relationship(relationship.destination, description.inverseName);
  if (!inverse) return null;
  const where = `${inverse.isToMany ? "ANY " : ""}${propertyName(inverse.name)} == ${constant(object.id)}`;
  return button(`Show ${relationship.count === 1 ? "it" : `all ${count(relationship.count)}`} in a table`, () => go(["browse", relationship.destination], { where }), { class: "small" });
}
