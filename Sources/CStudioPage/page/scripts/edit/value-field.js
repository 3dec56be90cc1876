// Controls for values, by the type of the attribute. What they give back is the JSON that the tool prints for it.

import { ExactNumber } from "../app/json.js";
import { el, select } from "../app/dom.js";
import { isNumeric } from "../app/format.js";

/** A control for a value of an attribute: `element`, and `read()`, which throws what is wrong. */
export class ValueField {
  element;
  #attribute;
  #control;
  #before;
  #shown;

  constructor(attribute, value, { isCompact = false } = {}) {
    this.#attribute = attribute;
    this.#before = value ?? null;
    const label = attribute.name;
    if (attribute.type === "boolean") {
      this.#control = select([["", "no value"], ["true", "yes"], ["false", "no"]], value === null || value === undefined ? "" : String(value), undefined, { "aria-label": label });
    } else {
      const text = value === null || value === undefined ? "" : String(value);
      // A field of one line would drop the ends of lines.
      const isLong = attribute.type === "string" && (!isCompact || /[\r\n]/.test(text));
      this.#control = el(isLong ? "textarea" : "input", {
        value: text, "aria-label": label, spellcheck: false, autocomplete: "off",
        placeholder: placeholders[attribute.type] ?? "no value", inputMode: isNumeric(attribute.type) ? "decimal" : "text",
        ...(isLong ? { rows: Math.min(8, Math.max(1, Math.ceil(text.length / 70), text.split("\n").length)) } : { type: "text" }),
      });
    }
    this.element = this.#control;
    this.#shown = this.#control.value;
  }

  focus() {
    this.#control.focus();
    this.#control.select?.();
  }

  /** The value; an empty field is nil, except for a text that was empty and still is. */
  read() {
    const { type, name } = this.#attribute;
    const text = this.#control.value;
    // The control may show it in another form: other ends of lines, an infinite number.
    if (text === this.#shown) return this.#before;
    if (type === "boolean") return text === "" ? null : text === "true";
    if (text === "") return this.#before === "" ? "" : null;
    if (type.startsWith("integer")) {
      if (!/^[-+]?\d+$/.test(text.trim())) throw new Error(`${name} is a whole number`);
      const number = Number(text);
      return Number.isSafeInteger(number) ? number : new ExactNumber(text.trim().replace(/^\+/, ""));
    }
    if (type === "double" || type === "float") {
      const number = Number(text);
      if (!Number.isFinite(number)) throw new Error(`${name} is a number`);
      return number;
    }
    return type === "string" ? text : text.trim();
  }
}

const placeholders = { date: "2026-01-31T10:00:00Z", uuid: "00000000-0000-0000-0000-000000000000", uri: "https://…" };

/** Whether two values of the tool's JSON are the same. */
export const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
