// Home: what the store is, in numbers and pictures.

import { get, lines } from "../app/api.js";
import { el, show } from "../app/dom.js";
import { ago, bytes, count, moment, percent, shortTitle } from "../app/format.js";
import { link } from "../app/router.js";
import { showPicture, widthOf } from "./picture.js";
import { changeChips } from "./history.js";

/** Shows the overview of the store. */
export async function showHome({ studio, element, signal }) {
  const info = await get("info", {}, { signal });
  const treemap = el("div");
  const strip = el("div");
  const time = el("div");
  const recent = el("div");
  const numbers = el("ul", { class: "facts" }, facts(info, null));
  const entities = el("div", { class: "scroll" }, entityTable(studio, info, null));
  const rules = el("div", {}, constraints(info, null));
  show(element,
    el("div", { class: "title-line" }, el("h1", {}, shortTitle(studio.store)), el("span", { class: "note path" }, info.store)),
    numbers,
    el("div", { class: "home-grid" },
      panel("Entities", entities),
      panel("Where the space goes", treemap, "wide"),
      panel("The log", strip), panel("Commits over time", time),
      panel("Last transactions", recent), panel("Constraints and indexes", rules), panel("Open in", users(info))));
  const toEntity = ({ entity, property }) => entity && studio.model.has(entity) ? link(["browse", entity], property ? { sort: sortable(studio, entity, property) } : {}) : null;
  // What is alive, and how many bytes each entity takes, is read from all of the store: the rest does not wait for it.
  const weigh = async () => {
    const space = await get("space", {}, { signal });
    show(numbers, facts(info, space));
    show(entities, entityTable(studio, info, space));
    show(rules, constraints(info, space));
  };
  await Promise.all([
    weigh(),
    showPicture(treemap, "space.svg", { parameters: { width: widthOf(treemap) }, links: toEntity, signal }),
    showPicture(strip, "log.svg", { parameters: { width: widthOf(strip) }, links: ({ segment }) => (segment ? link(["health"]) : null), signal }),
    showPicture(time, "commits.svg", { parameters: { width: widthOf(time) }, links: ({ commit }) => (commit ? link(["history"], { commit }) : null), signal }),
    showRecent(recent, studio, info.history, signal),
  ]);
}

const sortable = (studio, entity, property) => (studio.model.attribute(entity, property) ? property : undefined);

const panel = (title, content, kind = "") => el("section", { class: `panel ${kind}` }, el("h2", {}, title), content);

function facts(info, space) {
  const objects = (info.entities ?? []).filter((entity) => !entity.hidden).reduce((sum, entity) => sum + entity.objects, 0);
  const damage = info.damage?.length ?? 0;
  const rows = [
    [count(objects), "objects", null],
    [bytes(info.bytes ?? space?.bytes ?? 0), space?.liveBytes === undefined ? "in all" : `in files, ${percent(space.liveBytes, space.bytes)} alive`, null],
    [count(info.commit), info.lastCommitTime ? `commits, the last ${ago(info.lastCommitTime)}` : "commits", info.lastCommitTime ? `${moment(info.lastCommitTime)} by ${info.lastAuthor ?? "an unknown author"}` : null],
    [damage === 0 ? "No" : count(damage), damage === 0 ? "damage known; check looks deeper" : "places are damaged", null, damage === 0 ? "" : "bad"],
    [info.history ? "On" : "Off", info.history ? "history" : "history: who changed what is not kept", null],
  ];
  return rows.map(([number, words, title, kind = ""]) => el("li", { class: kind, title }, el("span", { class: "number" }, number), el("span", { class: "note" }, words)));
}

function entityTable(studio, info, space) {
  const sizes = new Map((space?.entities ?? []).map((entity) => [entity.name, entity.bytes]));
  const rows = (info.entities ?? []).filter((entity) => !entity.hidden && studio.model.has(entity.name)).sort((one, other) => other.objects - one.objects);
  const largest = Math.max(1, ...rows.map((entity) => sizes.get(entity.name) ?? 0));
  return el("table", { class: "plain-table entity-table" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Entity"), el("th", { scope: "col", class: "number" }, "Objects"), el("th", { scope: "col", class: "number" }, "Bytes"), el("th", { "aria-hidden": "true" }))),
    el("tbody", {}, rows.map((entity) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: link(["browse", entity.name]) }, entity.name)),
      el("td", { class: "number" }, count(entity.objects)),
      el("td", { class: "number" }, sizes.has(entity.name) ? bytes(sizes.get(entity.name)) : "–"),
      el("td", { class: "bar-cell", "aria-hidden": "true" }, el("span", { class: "bar", style: { width: `${(100 * (sizes.get(entity.name) ?? 0)) / largest}%` } }))))));
}

function constraints(info, space) {
  const unique = (info.entities ?? []).flatMap((entity) => (entity.unique ?? []).map((keys) => [entity.name, keys.join(", "), "unique"]));
  const indexes = (space?.indexes ?? []).filter((index) => index.kind !== "unique").map((index) => [index.entity, index.properties.join(", "), index.name ?? index.kind]);
  const rows = [...unique, ...indexes];
  if (rows.length === 0) return el("p", { class: "note" }, "The model has no uniqueness constraints and no indexes.");
  return el("div", { class: "scroll" }, el("table", { class: "plain-table" }, el("tbody", {}, rows.map(([entity, keys, kind]) => el("tr", {}, el("th", { scope: "row" }, entity), el("td", {}, keys), el("td", { class: "note" }, kind))))));
}

function users(info) {
  const all = info.users ?? [];
  if (all.length === 0) return el("p", { class: "note" }, "No other program has the store open.");
  return el("ul", { class: "users" }, all.map((user) => el("li", {}, el("strong", {}, user.program || "a program"),
    el("span", { class: "note" }, ` process ${user.process}, ${user.writes ? "may write" : "reads"}, ${user.hasTurn ? "writes at this moment, " : ""}opened it ${ago(user.started)}`))));
}

async function showRecent(element, studio, history, signal) {
  if (!history) {
    show(element, el("p", { class: "note" }, "The store keeps no history. ", el("a", { href: link(["history"]) }, "How to begin one"), "."));
    return;
  }
  const after = Math.max(history.horizon, studio.store.commit - 12);
  const transactions = (await lines("history", { after }, { signal })).reverse().slice(0, 6);
  show(element, transactions.length === 0 ? el("p", { class: "note" }, "The history has no transaction yet.") : el("ul", { class: "recent" }, transactions.map((transaction) => el("li", {},
      el("a", { href: link(["history"], { commit: transaction.number }) }, `${count(transaction.number)}`), " ",
      el("span", {}, transaction.author ?? "unknown"), el("span", { class: "note" }, ` ${ago(transaction.time)} `), changeChips(transaction)))),
    el("p", {}, el("a", { href: link(["history"]) }, "All of the history")));
}
