// Makes elements. Data only ever becomes text or an attribute's value, never markup: nothing here or elsewhere in
// the page sets innerHTML, and the content security policy forbids inline styles and scripts anyway.

/**
 * An element with properties and children.
 *
 * `on` holds event listeners, `data` data attributes, `style` custom or plain style properties (set through the
 * object model, which the policy allows); keys with a hyphen and `role` become attributes, others properties.
 */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

function fill(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.setAttribute("class", value);
    else if (key === "on") {
      for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    } else if (key === "data") {
      for (const [name, text] of Object.entries(value)) element.dataset[name] = text;
    } else if (key === "style") {
      for (const [name, text] of Object.entries(value)) element.style.setProperty(name, text);
    } else if (key.includes("-") || key === "role" || key === "for" || key === "colspan") {
      element.setAttribute(key, value === true ? "true" : value);
    } else element[key] = value;
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces everything in an element. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** A button with words on it. */
export function button(label, action, properties = {}) {
  return el("button", { type: "button", ...properties, on: { click: action, ...properties.on } }, label);
}

/** A labelled control: the label's words stand above it. */
export function field(label, control, hint) {
  return el("label", { class: "field" }, el("span", { class: "field-label" }, label), control,
    hint ? el("span", { class: "hint" }, hint) : null);
}

/** A choice of [value, words] pairs. */
export function select(options, value, change, properties = {}) {
  const control = el("select", { ...properties, on: { change: () => change?.(control.value) } },
    options.map(([key, words]) => el("option", { value: key, selected: key === value }, words)));
  return control;
}

/** A command for a terminal, with a button that copies it. */
export function command(words) {
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(words);
    copy.textContent = "Copied";
  }, { class: "small", "aria-label": `Copy the command ${words}` });
  return el("div", { class: "command" }, el("code", {}, words), copy);
}

/** What a view says when it has nothing to show. */
export function empty(title, ...more) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), more);
}

let number = 0;

/** An id that no other element has. */
export function freshID(prefix) {
  number += 1;
  return `${prefix}-${number}`;
}
