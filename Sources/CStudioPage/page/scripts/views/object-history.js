// What the store's history knows of an object, newest first: who changed what from what to what.

import { lines } from "../app/api.js";
import { el, show } from "../app/dom.js";
import { ago, cellText, moment } from "../app/format.js";
import { link } from "../app/router.js";
import { isSame } from "../edit/value-field.js";

/** Fills an element with an object's history. */
export async function showObjectHistory(element, { object, at, signal, studio }) {
  let entries;
  try {
    entries = (await lines("object/history", { entity: object.entity, id: object.id }, { signal })).map((transaction) => entryOf(transaction, object));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    show(element, el("h2", {}, "History"), el("p", { class: "note" }, error.message));
    return;
  }
  show(element, el("h2", {}, "History"), entries.length === 0
    ? el("p", { class: "note" }, "The history has no change of this object.")
    : el("ol", { class: "timeline" }, entries.map((entry) => timelineEntry(entry, object, at, studio))));
}

// What a transaction did to the object: with its values where past states are kept, else the names of what changed.
function entryOf(transaction, object) {
  const { number, time, author } = transaction;
  const values = (transaction.values ?? []).find((one) => one.objectID === object.id);
  const reference = Number(object.id.slice(1));
  const known = (transaction.changes ?? []).find((one) => (one.objects ?? []).some(([first, last]) => first <= reference && reference <= last)) ?? transaction.changes?.[0];
  return { number, time, author, type: known?.type ?? "update", properties: known?.properties, before: values?.before, after: values?.after };
}

function timelineEntry(entry, object, at, studio) {
  const { number } = entry;
  const isShown = String(number) === at;
  return el("li", { class: `${entry.type}${isShown ? " shown" : ""}` },
    el("div", { class: "entry-head" },
      el("strong", {}, { insert: "Inserted", update: "Changed", delete: "Deleted" }[entry.type] ?? entry.type),
      el("span", { class: "note" }, ` by ${entry.author ?? "unknown"} · commit ${number} · `, el("time", { dateTime: entry.time, title: moment(entry.time) }, ago(entry.time)))),
    changes(entry, studio, object.entity),
    entry.type === "delete" || isShown ? null : el("a", { class: "small", href: link(["object", object.entity, object.id], { at: number }) }, "As it was then"));
}

/** The properties that an entry changed, from what to what. */
export function changes(entry, studio, entity) {
  const before = entry.before ?? {};
  const after = entry.after ?? {};
  if (!entry.before && !entry.after) return el("p", { class: "note" }, entry.properties?.length ? `${entry.properties.join(", ")} (the values were not kept)` : "");
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => name !== "objectID" && !(entry.before && entry.after && isSame(before[name], after[name])))
    .filter((name) => (entry.before && entry.after) || (after[name] ?? before[name]) !== null);
  if (names.length === 0) return null;
  return el("dl", { class: entry.before && entry.after ? "changes" : "changes flowing" }, names.map((name) => {
    const type = studio.model.attribute(entity, name)?.type;
    const text = (values) => cellText(values[name], type) || (values[name] === "" ? "“”" : "no value");
    return el("div", {}, el("dt", {}, name), el("dd", {},
      entry.before ? el("del", {}, text(before)) : null, entry.before && entry.after ? " → " : null, entry.after ? el("ins", {}, text(after)) : null));
  }));
}
