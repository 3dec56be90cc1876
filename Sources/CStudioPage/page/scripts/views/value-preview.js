// A value as it is best looked at: pictures as pictures, long texts unfolded on demand, bytes to download.

import { address, text } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { ago, bytes, cellText, count, moment } from "../app/format.js";
import { toast } from "../app/toast.js";

const foldedLength = 400;

/** An element that shows an attribute's value. */
export function valuePreview(object, attribute, at) {
  const value = object.values[attribute.name];
  const place = { entity: object.entity, id: object.id, property: attribute.name, at };
  if (value === null || value === undefined) return el("span", { class: "nil" }, "no value");
  if (value.bytes !== undefined) return bytesPreview(place, value.bytes);
  if (value.cut !== undefined) return textPreview(value.cut, value.characters, () => text("value", place));
  if (attribute.type === "date") return el("span", {}, moment(value), el("span", { class: "note" }, ` ${value} · ${ago(value)}`));
  if (attribute.type === "uri" && /^https?:/.test(value)) return el("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, value);
  if (attribute.type === "string") return textPreview(value, value.length, async () => value);
  if (typeof value === "object" && value.text === undefined) return el("pre", {}, JSON.stringify(value, null, 2));
  return el("span", { class: "value" }, cellText(value, attribute.type));
}

function textPreview(start, characters, whole) {
  const isJSON = /^\s*[[{]/.test(start);
  const box = el(isJSON ? "pre" : "div", { class: "text-value" });
  if (characters <= foldedLength) {
    box.textContent = indented(start);
    return box;
  }
  box.textContent = `${start.slice(0, foldedLength)}…`;
  const more = button(`Show all ${count(characters)} characters`, async () => {
    try {
      box.textContent = indented(await whole());
      more.remove();
    } catch (error) {
      toast(error.message, { kind: "error" });
    }
  }, { class: "small" });
  return el("div", {}, box, more);
}

// Texts that hold JSON, as inferred attributes do, are easier to read with their lines.
function indented(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function bytesPreview(place, size) {
  const url = address("value", place);
  const name = `${place.entity}-${place.id}-${place.property}`;
  const download = el("a", { class: "button small", href: url, download: name }, "Download");
  const preview = el("div", { class: "bytes-preview" });
  showBytes(preview, url, `${place.property} of ${place.id}, a picture`).catch(() => {
    // The download says it as well.
  });
  return el("div", {}, preview, el("span", { class: "note" }, `${bytes(size)} of data `), download);
}

// What the bytes are is in the answer's type; of those that are no picture the first are shown.
async function showBytes(element, url, words) {
  const response = await fetch(url);
  if (!response.ok) return;
  if ((response.headers.get("Content-Type") ?? "").startsWith("image/")) {
    await response.body.cancel();
    show(element, el("img", { class: "picture-value", src: url, alt: words, loading: "lazy" }));
    return;
  }
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  if (value) show(element, el("pre", { class: "hex" }, hexLines([...value.slice(0, 64)])));
}

// Bytes as a hex dump shows them.
function hexLines(codes) {
  const rows = [];
  for (let at = 0; at < codes.length; at += 16) {
    const row = codes.slice(at, at + 16);
    const hex = row.map((code) => code.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    rows.push(`${hex}  ${row.map((code) => (code >= 32 && code < 127 ? String.fromCharCode(code) : "·")).join("")}`);
  }
  return rows.join("\n");
}
