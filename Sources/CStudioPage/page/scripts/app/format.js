// Numbers, sizes, times and values as people read them.

const whole = new Intl.NumberFormat("en");

/** 1234567 as 1,234,567. */
export const count = (number) => whole.format(number);

/** "1 object", "2 objects". */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** Bytes as 512 B, 12.3 KiB, 4.50 MiB. */
export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = number;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${number} B`;
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${units[unit]}`;
}

/** A share as a percentage. */
export const percent = (part, all) => (all > 0 ? `${Math.round((100 * part) / all)} %` : "–");

const moments = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

/** A moment in this browser's time zone. */
export function moment(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? iso : moments.format(date);
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** How long ago a moment was: "3 minutes ago". */
export function ago(iso) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const steps = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(Math.round(seconds), "second");
}

/** How long something took. */
export function duration(seconds) {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 0)} s`;
}

/** Types whose values are bytes. */
export const isBinary = (type) => type === "binary" || type === "transformable";

/** Types whose values are numbers. */
export const isNumeric = (type) => /^(integer|decimal|double|float)/.test(type ?? "");

/** How many bytes a base64 text stands for. */
export const binarySize = (base64) =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);

/** A value of a cell, on one line. */
export function cellText(value, type) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && value.bytes !== undefined) return `${bytes(value.bytes)} of data`;
  if (typeof value === "object" && value.cut !== undefined) return cellText(value.cut, type);
  if (isBinary(type) && typeof value === "string") return `${bytes(binarySize(value))} of data`;
  if (type === "date" && typeof value === "string") return value.replace("T", " ").replace(/(\.\d{3})\d*/, "$1").replace("Z", "");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object" && value.text === undefined) return JSON.stringify(value);
  const text = String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** A value as a constant of the condition language. */
export function constant(value, type) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "boolean") return value ? "YES" : "NO";
  if (typeof value === "number" || isNumeric(type)) return String(value);
  return quoted(String(value));
}

/** A text in quotation marks, escaped. */
export const quoted = (text) =>
  `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")}'`;

const reserved = new Set(
  ("AND OR NOT IN BETWEEN CONTAINS BEGINSWITH ENDSWITH LIKE MATCHES ANY ALL SOME NONE NULL NIL TRUE FALSE YES NO SELF SUBQUERY " +
    "CAST TERNARY FIRST LAST SIZE TRUEPREDICATE FALSEPREDICATE ANYKEY UNION INTERSECT MINUS").split(" "));

/** A property's name in a condition: reserved words need a # in front. */
export const propertyName = (name) => (reserved.has(name.toUpperCase()) ? `#${name}` : name);

/** The store without the folders it is in. */
export const shortTitle = (store) => (store.kind === "folder" ? store.title.replace(/\/+$/, "").split("/").at(-1) : store.title);
