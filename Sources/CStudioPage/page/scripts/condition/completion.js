// What a condition can go on with: names of properties, operators that suit their type, values that the table shows.

import { constant, isBinary, isNumeric, propertyName } from "../app/format.js";
import { situation } from "./tokens.js";

const most = 12;

/** Suggestions at the caret: {start, items: [{insert, label, note}]}. `rows` are rows that the table has loaded. */
export function complete(text, caret, { model, entity, rows }) {
  const at = situation(text, caret);
  const items = { property, operator, value, junction, none: () => [] }[at.expects](at, model, entity, rows);
  const typed = at.typed.toLowerCase();
  const fits = items.filter((item) => item.insert.toLowerCase() !== typed && (item.match ?? item.insert).toLowerCase().includes(typed));
  fits.sort((one, other) => Number(!one.insert.toLowerCase().startsWith(typed)) - Number(!other.insert.toLowerCase().startsWith(typed)));
  return { start: at.start, items: fits.slice(0, most) };
}

function property(at, model, entity) {
  const names = at.typed.split(".");
  let owner = entity;
  for (const name of names.slice(0, -1)) owner = model.relationship(owner, name)?.destinationEntityName ?? null;
  if (!owner) return [];
  const prefix = names.slice(0, -1).map((name) => `${name}.`).join("");
  const attributes = model.attributes(owner).filter((attribute) => !isBinary(attribute.type)).map((attribute) => ({
    insert: `${prefix}${propertyName(attribute.name)} `, match: `${prefix}${attribute.name}`, label: attribute.name, note: attribute.type,
  }));
  const relationships = model.relationships(owner).flatMap((relationship) => {
    const name = `${prefix}${propertyName(relationship.name)}`;
    const note = `→ ${relationship.destinationEntityName}`;
    return relationship.isToMany
      ? [{ insert: `${name}.@count `, label: `${relationship.name}.@count`, note: "how many" }, { insert: `ANY ${name}.`, match: name, label: `ANY ${relationship.name}.`, note }]
      : [{ insert: `${name}.`, match: name, label: `${relationship.name}.`, note }, { insert: `${name} `, match: name, label: relationship.name, note }];
  });
  const words = prefix === "" ? [{ insert: "NOT ", label: "NOT", note: "the opposite" }] : [];
  return [...attributes, ...relationships, ...words];
}

const comparisons = [["==", "is"], ["!=", "is not"], ["<", "less"], ["<=", "at most"], [">", "more"], [">=", "at least"], ["BETWEEN", "{from, to}"], ["IN", "one of {…}"]];
const texts = [["==", "is"], ["!=", "is not"], ["CONTAINS[cd]", "whatever case and accents"], ["BEGINSWITH[cd]", "begins with"], ["ENDSWITH[cd]", "ends with"], ["LIKE[cd]", "* and ?"], ["MATCHES", "regular expression"], ["IN", "one of {…}"], ["<", "before"], [">", "after"]];
const equality = [["==", "is"], ["!=", "is not"], ["IN", "one of {…}"]];

function operator(at, model, entity) {
  const type = typeOf(model, entity, at.path);
  const choices = type === "string" ? texts : isNumeric(type) || type === "date" || type === "count" ? comparisons : equality;
  return choices.map(([insert, note]) => ({ insert: `${insert} `, label: insert, note }));
}

function value(at, model, entity, rows) {
  const type = typeOf(model, entity, at.path);
  if (type === "boolean") return ["YES ", "NO "].map((insert) => ({ insert, label: insert.trim(), note: "" }));
  const seen = new Map();
  for (const row of rows) {
    const one = row?.[at.path];
    if (one !== null && one !== undefined && typeof one !== "object") seen.set(one, (seen.get(one) ?? 0) + 1);
    if (seen.size > 300) break;
  }
  const items = [...seen].sort((one, other) => other[1] - one[1]).map(([one]) => {
    const text = constant(one, type);
    return { insert: `${text} `, label: text.length > 60 ? `${text.slice(0, 60)}…` : text, note: "in the table" };
  });
  if (at.operator === "==" || at.operator === "!=") items.push({ insert: "NULL ", label: "NULL", note: "no value" });
  return items;
}

const junction = () => [{ insert: "AND ", label: "AND", note: "both" }, { insert: "OR ", label: "OR", note: "either" }];

function typeOf(model, entity, path) {
  if (!path) return undefined;
  if (path.endsWith("@count")) return "count";
  const property = model.property(entity, path.replace(/#/g, ""));
  return property?.destinationEntityName ? "reference" : property?.type;
}
