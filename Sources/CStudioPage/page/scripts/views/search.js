// What the search above finds: ids, keys and texts, in all entities.

import { lines } from "../app/api.js";
import { el, empty, show } from "../app/dom.js";
import { counted } from "../app/format.js";
import { link } from "../app/router.js";

const most = 100;

/** Shows where a text is. */
export async function showSearch({ element, parameters, signal }) {
  const text = parameters.text ?? "";
  show(element, el("h1", {}, `Find “${text}”`), el("p", { class: "note" }, "Looking through all entities…"));
  let places = [];
  try {
    places = await lines("find", { text, limit: most, at: parameters.at }, { signal });
  } catch (error) {
    // The tool ends with 1 when nothing is found; anything else is an error like others.
    if (error.name === "AbortError" || error.status !== 404) throw error;
  }
  if (places.length === 0) {
    show(element, el("h1", {}, `Find “${text}”`), empty("Nothing is found.", el("p", { class: "note" }, "It looks for ids such as p17, for keys, and for texts whatever their case and accents.")));
    return;
  }
  show(element, el("h1", {}, `Find “${text}”`), el("p", { class: "note" }, `${counted(places.length, "place")}${places.length === most ? ", the first" : ""}`),
    el("ul", { class: "places" }, places.map((place) => el("li", {},
      el("a", { href: link(["object", place.entity, place.objectID]) }, `${place.entity} ${place.objectID}`),
      place.property ? [el("span", { class: "note" }, ` ${place.property}: `), el("span", {}, excerpt(String(place.value ?? ""), text))] : el("span", { class: "note" }, ` by ${place.by}`)))));
}

function excerpt(value, text) {
  const at = value.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return value.length > 160 ? `${value.slice(0, 160)}…` : value;
  const start = Math.max(0, at - 60);
  return [start > 0 ? "…" : "", value.slice(start, at), el("mark", {}, value.slice(at, at + text.length)), value.slice(at + text.length, at + text.length + 100)];
}
