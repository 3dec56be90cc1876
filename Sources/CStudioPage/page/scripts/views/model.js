// Model: the entities as a diagram and in words, and what differs from another version.

import { button, el, show } from "../app/dom.js";
import { link, change } from "../app/router.js";
import { showPicture } from "./picture.js";

const smallestScale = 0.7;

/** Shows the model. */
export async function showModel({ studio, element, parameters, signal }) {
  const { model } = studio;
  const chosen = model.has(parameters.entity) ? parameters.entity : null;
  const diagram = el("div", { class: "diagram whole", tabIndex: 0, "aria-label": "The model as a diagram; the list beside it says the same" });
  const details = el("section", { class: "panel model-details", "aria-live": "polite" });
  const against = el("input", { type: "text", value: parameters.against ?? "", placeholder: "a commit, or a time", "aria-label": "Compare with the model as it was after a commit, or at a time" });
  const compare = () => change({ against: against.value.trim() });
  against.addEventListener("keydown", (event) => event.key === "Enter" && compare());
  show(element,
    el("div", { class: "title-line" }, el("h1", {}, "Model"), el("span", { class: "spacer" }),
      el("span", { class: "filters" }, against, button("Compare", compare), parameters.against ? button("Stop comparing", () => change({ against: "" })) : null)),
    el("div", { class: "model-view" },
      el("section", { class: "panel diagram-panel" }, zoomBar(diagram), diagram),
      el("div", { class: "model-side" }, el("section", { class: "panel" }, el("h2", {}, `Entities`), entityList(model, chosen)), details)));
  describe(details, model, chosen ?? model.names[0]);
  const drawing = await showPicture(diagram, "model.svg", {
    parameters: { against: parameters.against }, signal,
    links: ({ entity }) => (entity && model.has(entity) ? link(["model"], { entity, against: parameters.against }) : null),
  });
  // A large diagram cannot be read when it is as small as the panel: it is scrolled instead.
  if (drawing) diagram.classList.toggle("whole", drawing.viewBox.baseVal.width * smallestScale <= diagram.clientWidth);
  if (drawing && chosen) {
    const box = drawing.querySelector(`[data-entity="${CSS.escape(chosen)}"]`);
    box?.classList.add("chosen");
    box?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function entityList(model, chosen) {
  return el("ul", { class: "entity-list" }, model.names.map((name) => el("li", {},
    el("a", { href: link(["model"], { entity: name }), ...(name === chosen ? { "aria-current": "true" } : {}) }, name),
    model.description(name).superentityName ? el("span", { class: "note" }, ` is a ${model.description(name).superentityName}`) : null)));
}

function zoomBar(diagram) {
  let scale = 1;
  const zoom = (factor) => {
    scale = factor === 0 ? 1 : Math.max(0.2, Math.min(4, scale * factor));
    diagram.style.setProperty("--zoom", String(scale));
  };
  return el("div", { class: "zoom", role: "group", "aria-label": "Size of the diagram" },
    button("−", () => zoom(1 / 1.25), { "aria-label": "Smaller" }), button("+", () => zoom(1.25), { "aria-label": "Larger" }),
    button("Fit", () => { zoom(0); diagram.classList.toggle("whole", true); }), button("Full size", () => { zoom(0); diagram.classList.toggle("whole", false); }));
}

function describe(element, model, name) {
  const entity = model.description(name);
  const attributes = model.attributes(name);
  const own = new Set((entity.attributes ?? []).map((attribute) => attribute.name));
  const constraints = model.uniquenessConstraints(name);
  show(element, el("h2", {}, name, el("span", { class: "note" }, entity.isAbstract ? " abstract" : "", entity.superentityName ? ` : ${entity.superentityName}` : "")),
    el("p", {}, el("a", { href: link(["browse", name]) }, "Browse its objects")),
    attributes.length > 0 ? el("div", { class: "scroll" }, el("table", { class: "plain-table" },
      el("thead", {}, el("tr", {}, ["Attribute", "Type"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, attributes.map((attribute) => el("tr", {}, el("th", { scope: "row" }, attribute.name), el("td", {}, attribute.type,
        el("div", { class: "note" }, notes(attribute, own.has(attribute.name))))))))) : el("p", { class: "note" }, "It has no attributes."),
    model.relationships(name).length > 0 ? el("div", { class: "scroll" }, el("table", { class: "plain-table" },
      el("thead", {}, el("tr", {}, ["Relationship", "To"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, model.relationships(name).map((relationship) => el("tr", {}, el("th", { scope: "row" }, relationship.name),
        el("td", {}, el("a", { href: link(["model"], { entity: relationship.destinationEntityName }) }, relationship.destinationEntityName),
          el("div", { class: "note" }, relationshipNotes(relationship)))))))) : null,
    constraints.length > 0 ? el("p", {}, el("strong", {}, "Unique: "), constraints.map((keys) => keys.join(" + ")).join("; ")) : null,
    entity.indexes?.length > 0 ? el("p", {}, el("strong", {}, "Indexes: "), entity.indexes.map((index) => `${index.name} (${index.elements.map((one) => one.propertyName ?? one.expression ?? "expression").join(", ")})`).join("; ")) : null);
}

function notes(attribute, isOwn) {
  const value = attribute.defaultValue ? Object.values(attribute.defaultValue)[0] : undefined;
  return [
    attribute.isOptional === false ? "required" : null, attribute.isTransient ? "transient" : null,
    value === undefined ? null : `default ${typeof value === "object" ? JSON.stringify(value) : value}`,
    attribute.derivationExpression ? `derived: ${attribute.derivationExpression}` : null,
    attribute.validationRules?.length > 0 ? attribute.validationRules.map((rule) => rule.predicate).join(", ") : null,
    isOwn ? null : "inherited",
  ].filter(Boolean).join(", ");
}

function relationshipNotes(relationship) {
  return [
    relationship.isToMany ? (relationship.isOrdered ? "to many, ordered" : "to many") : "to one", relationship.isOptional === false ? "required" : null,
    relationship.inverseName ? `inverse ${relationship.inverseName}` : "no inverse", relationship.deleteRule && relationship.deleteRule !== "nullify" ? relationship.deleteRule : null,
  ].filter(Boolean).join(", ");
}
