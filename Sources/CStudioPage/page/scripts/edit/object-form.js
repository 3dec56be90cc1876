// The form of an object: all its attributes and to-one relationships, saved as one change.

import { button, el } from "../app/dom.js";
import { isBinary } from "../app/format.js";
import { go } from "../app/router.js";
import { save } from "./save.js";
import { isSame, ValueField } from "./value-field.js";

/** Edits an object, or makes a new one when there is no id. Bytes are not edited. */
export class ObjectForm {
  element;
  #studio;
  #object;
  #fields = [];
  #error = el("p", { class: "error", role: "alert", hidden: true });

  constructor(studio, object) {
    this.#studio = studio;
    this.#object = object;
    const isNew = object.id === undefined;
    const references = studio.model.relationships(object.entity).filter((relationship) => !relationship.isToMany);
    const rows = [
      ...object.attributes.filter((attribute) => !attribute.derivationExpression && attribute.type !== "composite" && !isBinary(attribute.type)).map((attribute) =>
        this.#row(attribute, isNew ? defaultOf(attribute) : object.values[attribute.name], attribute.type)),
      ...references.map((relationship) => this.#row({ name: relationship.name, type: "reference", isOptional: relationship.isOptional },
        isNew ? null : object.values[relationship.name], `→ ${relationship.destinationEntityName}: an id such as p17`)),
    ];
    this.element = el("form", { class: "object-form", on: { submit: (event) => { event.preventDefault(); this.#save(); }, keydown: (event) => this.#key(event) } },
      el("table", { class: "value-table" }, el("tbody", {}, rows)), this.#error,
      el("div", { class: "actions" },
        button("Cancel", () => this.#cancel()),
        el("button", { type: "submit", class: "primary" }, isNew ? "Add" : "Save")));
  }

  focus() {
    this.#fields[0]?.field.focus();
  }

  #row(attribute, value, note) {
    const field = new ValueField(attribute, value);
    this.#fields.push({ name: attribute.name, field, before: value ?? null });
    return el("tr", {}, el("th", { scope: "row" }, attribute.name, el("span", { class: "note" }, note, attribute.isOptional === false ? " · required" : "")), el("td", {}, field.element));
  }

  #key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#save();
    else if (event.key === "Escape") this.#cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #cancel() {
    if (this.#object.cancel) this.#object.cancel();
    else history.back();
  }

  async #save() {
    const { entity, id, version } = this.#object;
    const values = {};
    const was = {};
    this.#error.hidden = true;
    try {
      for (const { name, field, before } of this.#fields) {
        const value = field.read();
        if (isSame(value, before) && id !== undefined) continue;
        if (id === undefined && value === null) continue;
        values[name] = value;
        was[name] = before;
      }
    } catch (error) {
      this.#error.textContent = error.message;
      this.#error.hidden = false;
      return;
    }
    if (id !== undefined) {
      if (Object.keys(values).length === 0) this.#cancel();
      else await save(this.#studio, [{ change: "update", entity, id, version, values, was }], `Saved ${id}`);
      return;
    }
    const answer = await save(this.#studio, [{ change: "insert", entity, values, name: "new1" }], `Added to ${entity}`);
    if (answer) go(["object", entity, answer.inserted.new1]);
  }
}

// A model's default is {"type": value}; a date's may be an expression, which the server fills in.
function defaultOf(attribute) {
  const value = attribute.defaultValue ? Object.values(attribute.defaultValue)[0] : null;
  return ["string", "number", "boolean"].includes(typeof value) && attribute.type !== "date" ? value : null;
}
