// Pictures from the server: SVG that becomes part of the page, so that its shapes follow the theme and lead somewhere.
//
//   1. The text is parsed as a document of its own, which runs and loads nothing.
//   2. Scripts, styles and inline handlers are dropped on the way: the page's own style sheets give the colours.
//   3. Shapes that name an entity, a property, a segment or a commit become links, also for the keyboard.

import { text } from "../app/api.js";
import { el, empty, show } from "../app/dom.js";

/** How wide a picture is asked for, so that its words are as large as those around it; in steps, which the server can keep. */
export const widthOf = (element) => Math.min(1600, Math.max(240, Math.floor(element.clientWidth / 20) * 20));

/** Fills an element with a picture; `links` gives the address for a shape's data, or nothing. */
export async function showPicture(element, name, { parameters = {}, links, signal, label } = {}) {
  element.classList.add("picture");
  show(element, el("p", { class: "note" }, "Drawing…"));
  try {
    const drawing = parse(await text(`pictures/${name}`, parameters, { signal }));
    show(element, drawing);
    const box = drawing.viewBox?.baseVal;
    if (box && box.width > 0) element.style.setProperty("--picture-width", `${box.width}px`);
    if (links) attach(drawing, links);
    return drawing;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    show(element, empty(label ? `No picture: ${label}` : "No picture", el("p", { class: "note" }, error.message)));
    return null;
  }
}

function parse(source) {
  const drawing = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (drawing.nodeName !== "svg") throw new Error("The picture cannot be read.");
  for (const unwanted of drawing.querySelectorAll("script, style, foreignObject")) unwanted.remove();
  for (const shape of [drawing, ...drawing.querySelectorAll("*")]) {
    for (const { name } of [...shape.attributes]) if (/^on|^style$|^(xlink:)?href$/i.test(name) && !shape.getAttribute(name).startsWith("#")) shape.removeAttribute(name);
  }
  return document.importNode(drawing, true);
}

const named = ["entity", "property", "segment", "commit"];

// What a shape is about: a property's shape lies in that of its entity.
function subject(shape) {
  return Object.fromEntries(named.map((name) => [name, shape.closest(`[data-${name}]`)?.dataset[name]]).filter(([, value]) => value !== undefined));
}

function attach(drawing, links) {
  const go = (event) => {
    const target = links(subject(event.target));
    if (!target) return false;
    location.hash = target;
    return true;
  };
  for (const shape of drawing.querySelectorAll(named.map((name) => `[data-${name}]`).join(","))) {
    if (!links(subject(shape))) continue;
    shape.classList.add("clickable");
    // The keyboard reaches entities, segments and commits; each property as well would be too many steps.
    if (shape.dataset.property !== undefined) continue;
    shape.setAttribute("tabindex", "0");
    shape.setAttribute("role", "link");
  }
  drawing.addEventListener("click", go);
  drawing.addEventListener("keydown", (event) => event.key === "Enter" && go(event) && event.preventDefault());
}
