// Plan: how a query is carried out, as a tree from the result down to what is read, with how much each step let through.

import { get, lines } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { constant, count, counted, duration, percent } from "../app/format.js";
import { change, link } from "../app/router.js";
import { answer, conditionField, entityField } from "./question.js";

/** Explains a query. */
export async function showPlan({ studio, element, entity, parameters, signal }) {
  const condition = conditionField(studio, entity, parameters.where);
  const result = el("div", { class: "result" });
  const text = (name, label, placeholder) => el("label", { class: "field" }, el("span", { class: "field-label" }, label),
    el("input", { type: "text", value: parameters[name] ?? "", placeholder, on: { change: (event) => change({ [name]: event.target.value.trim() }) } }));
  show(element, el("div", { class: "question" }, entityField(studio, "plan", entity), text("sort", "Order", "name,-price"), text("by", "Group by", "property"),
    el("div", { class: "field" }, el("span", { class: "field-label" }, "\u00a0"), button("Explain", () => { if (condition.value === (parameters.where ?? "")) run(); else change({ where: condition.value }); }, { class: "primary" }))),
  condition.element, result);
  const { where, sort, by, at } = parameters;
  const run = () => answer(result, condition, async () => {
    const [[plan], outline] = await Promise.all([
      lines("query", { entity, where, sort, "group-by": by, at, explain: 1 }, { signal }),
      where ? get("predicate", { format: where }, { signal }).catch(() => null) : null,
    ]);
    show(result, el("ul", { class: "tree", role: "tree", "aria-label": "The plan" }, planTree(plan)),
      plan.statement ? el("details", {}, el("summary", {}, "The statement in SQL"), el("pre", {}, plan.statement)) : null,
      plan.serverPlan ? el("details", {}, el("summary", {}, "The server's plan"), el("pre", {}, typeof plan.serverPlan === "string" ? plan.serverPlan : JSON.stringify(plan.serverPlan, null, 2))) : null,
      outline ? el("details", { open: true }, el("summary", {}, "How the condition is read"), el("ul", { class: "tree condition-tree", role: "tree", "aria-label": "The condition" }, outlineTree(outline))) : null,
      el("p", {}, el("a", { href: link(["browse", entity], { where, sort }) }, "See the objects")));
  });
  await run();
}

function node(title, words, children = []) {
  return el("li", { role: "treeitem", "aria-expanded": children.length > 0 ? "true" : undefined },
    el("div", { class: "node" }, el("span", { class: "node-title" }, title), words ? el("span", { class: "note" }, words) : null),
    children.length > 0 ? el("ul", { role: "group" }, children) : null);
}

// The steps that the plan names, from the result down: each is done with what the one below it gives.
function planTree(plan) {
  const access = node(plan.access.replace(/^groups of /, ""), [
    `${count(plan.rowsLooked)} of ${counted(plan.allRows, "row")} looked at${plan.allRows > 0 ? ` (${percent(plan.rowsLooked, plan.allRows)})` : ""}`,
    plan.estimatedRows === null || plan.estimatedRows === undefined ? null : `${count(plan.estimatedRows)} expected`,
    plan.blocksRead === null || plan.blocksRead === undefined ? null : `${counted(plan.blocksRead, "block")} read, ${count(plan.blocksSkipped ?? 0)} skipped`,
  ].filter(Boolean).join(" · "));
  let tree = access;
  if (plan.condition) tree = node("keep those with", el("code", {}, plan.condition), [tree]);
  if (plan.groups) tree = node("group", plan.groups, [tree]);
  if (plan.having) tree = node("keep groups with", plan.having, [tree]);
  if (plan.sort) tree = node("sort", plan.sort, [tree]);
  if (plan.distinct) tree = node("equal rows once", null, [tree]);
  return node(counted(plan.results, "result"), plan.microseconds === null || plan.microseconds === undefined ? null : `in ${duration(plan.microseconds / 1e6)}`, [tree]);
}

function outlineTree(outline) {
  if (outline.parts) return node(outline.kind.toUpperCase(), null, outline.parts.map(outlineTree));
  if (outline.kind === "not") return node("NOT", null, [outlineTree(outline.part ?? outline.condition)]);
  if (outline.kind === "comparison") {
    const [left, right] = [words(outline.left), words(outline.right)];
    const operator = `${outline.operator}${outline.options ? `[${outline.options}]` : ""}`;
    if (left !== null && right !== null) return el("li", { role: "treeitem" }, el("code", { class: "node" }, `${outline.quantifier ? `${outline.quantifier} ` : ""}${left} ${operator} ${right}`));
    return node(`${outline.quantifier ? `${outline.quantifier} ` : ""}${operator}`, null, [expression(outline.left), expression(outline.right)]);
  }
  return expression(outline);
}

// A side of a comparison that fits on its line.
function words(one) {
  if (one?.kind === "keyPath") return one.path;
  if (one?.kind === "constant") return constant(one.value, one.type);
  if (one?.kind === "list" && one.values.length <= 8 && one.values.every((value) => value.kind === "constant")) return `{${one.values.map(words).join(", ")}}`;
  return null;
}

function expression(one) {
  if (!one) return node("…");
  if (one.kind === "keyPath") return node(one.path, "key path");
  if (one.kind === "constant") return node(one.value === null ? "NULL" : String(one.value), one.type);
  if (one.kind === "list") return node(`{${one.values.length}}`, counted(one.values.length, "value"), one.values.slice(0, 20).map(expression));
  const children = Object.values(one).flatMap((value) => (Array.isArray(value) ? value : [value])).filter((value) => value && typeof value === "object" && value.kind);
  return node(one.name ?? one.function ?? one.kind, one.name ? one.kind : null, children.map((child) => (child.kind === "comparison" || child.parts ? outlineTree(child) : expression(child))));
}
