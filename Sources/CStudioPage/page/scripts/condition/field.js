// The field that a condition is typed into: suggestions below it while one types, and where it is wrong.
//
//   1. It is a combobox: the suggestions are a listbox that aria-activedescendant points into.
//   2. While one types the server reads the condition, a moment after the last key: what cannot be read is told
//      under its place. Nothing is applied before Enter.

import { get } from "../app/api.js";
import { button, el, freshID, show } from "../app/dom.js";
import { complete } from "./completion.js";

/** A field for conditions about an entity. */
export class ConditionField {
  element;
  #input;
  #list = el("ul", { class: "suggestions", role: "listbox", hidden: true });
  #error = el("div", { class: "condition-error", role: "alert", hidden: true });
  #context;
  #apply;
  #found = { start: 0, items: [] };
  #chosen = -1;
  #checking = null;

  /** `context` gives {model, entity, rows} when it is asked. */
  constructor({ value, context, apply, label = "Condition", placeholder = "Condition, such as  name BEGINSWITH[c] 'a' AND price < 10" }) {
    this.#context = context;
    this.#apply = apply;
    this.#list.id = freshID("suggestions");
    this.#error.id = freshID("condition-error");
    this.#input = el("input", {
      type: "text", class: "condition-input", value: value ?? "", placeholder, spellcheck: false, autocomplete: "off", "aria-label": label,
      role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": this.#list.id, "aria-describedby": this.#error.id,
      on: {
        input: () => { this.#suggest(); this.#check(); },
        keydown: (event) => this.#key(event),
        click: () => this.#suggest(),
        blur: () => this.#close(),
      },
    });
    this.element = el("div", { class: "condition" },
      el("div", { class: "condition-line" }, this.#input, button("×", () => { this.value = ""; this.#submit(); this.#input.focus(); }, { class: "plain clear", "aria-label": "Remove the condition" })),
      this.#list, this.#error);
  }

  get value() {
    return this.#input.value.trim();
  }
  set value(text) {
    this.#input.value = text;
    this.complain(null);
  }

  focus() {
    this.#input.focus();
  }

  /** Says what is wrong with the condition, under its place. */
  complain(error) {
    this.#error.hidden = !error;
    this.#input.setAttribute("aria-invalid", error ? "true" : "false");
    if (!error) return;
    const message = error.message.replace(/^the condition: /, "").split("\n")[0];
    const text = this.#input.value;
    const place = error.position ?? placeOf(error.message);
    const shown = place === null || place > text.length ? null : el("div", { class: "condition-place", "aria-hidden": "true" },
      el("span", {}, text.slice(0, place)), el("mark", {}, text.slice(place, place + 1).trim() === "" ? "␣" : wordAt(text, place)),
      el("span", {}, text.slice(place + wordAt(text, place).length)));
    show(this.#error, shown, el("div", { class: "condition-message" }, message));
  }

  #suggest() {
    const context = this.#context();
    this.#found = complete(this.#input.value, this.#input.selectionStart, context);
    this.#chosen = -1;
    show(this.#list, this.#found.items.map((item, index) => el("li", {
      role: "option", id: `${this.#list.id}-${index}`, "aria-selected": "false",
      on: { mousedown: (event) => { event.preventDefault(); this.#take(index); } },
    }, el("span", { class: "suggestion" }, item.label), el("span", { class: "note" }, item.note))));
    this.#open(this.#found.items.length > 0);
  }

  #open(isOpen) {
    this.#list.hidden = !isOpen;
    this.#input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) this.#input.removeAttribute("aria-activedescendant");
  }

  #close() {
    this.#open(false);
    this.#chosen = -1;
  }

  #choose(index) {
    const options = [...this.#list.children];
    this.#chosen = (index + options.length) % options.length;
    for (const [number, option] of options.entries()) option.setAttribute("aria-selected", String(number === this.#chosen));
    options[this.#chosen].scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", options[this.#chosen].id);
  }

  #take(index) {
    const { insert } = this.#found.items[index];
    const text = this.#input.value;
    const caret = this.#input.selectionStart;
    this.#input.setRangeText(insert, this.#found.start, caret, "end");
    if (text.slice(caret).startsWith(" ") && insert.endsWith(" ")) this.#input.setRangeText("", this.#input.selectionStart, this.#input.selectionStart + 1, "end");
    this.#suggest();
    this.#check();
  }

  #key(event) {
    const isOpen = !this.#list.hidden;
    if (event.key === "ArrowDown") {
      if (isOpen) this.#choose(this.#chosen + 1);
      else this.#suggest();
    } else if (event.key === "ArrowUp" && isOpen) this.#choose(this.#chosen - 1);
    else if (event.key === "Tab" && isOpen && !event.shiftKey && this.#chosen >= 0) this.#take(this.#chosen);
    else if (event.key === "Enter" && isOpen && this.#chosen >= 0) this.#take(this.#chosen);
    else if (event.key === "Enter") this.#submit();
    else if (event.key === "Escape" && isOpen) this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #submit() {
    this.#close();
    clearTimeout(this.#checking);
    this.#apply(this.value);
  }

  #check() {
    clearTimeout(this.#checking);
    const text = this.value;
    if (text === "") {
      this.complain(null);
      return;
    }
    this.#checking = setTimeout(async () => {
      try {
        await get("predicate", { format: text });
        if (this.value === text) this.complain(null);
      } catch (error) {
        if (this.value !== text || error.status !== 400) return;
        // A condition that only goes on is not wrong yet.
        const isUnfinished = error.position !== null && error.position >= text.length;
        this.complain(isUnfinished ? null : error);
      }
    }, 400);
  }
}

const wordAt = (text, place) => text.slice(place).match(/^(\w+|\s|.)?/s)[0] || "";

// The tool's messages for a terminal draw the place: the condition on a line of its own, and a ^ below.
function placeOf(message) {
  const mark = message.split("\n").find((line) => /^\s*\^\s*$/.test(line));
  return mark ? Math.max(0, mark.indexOf("^") - 2) : null;
}
