// History: who changed what, from what to what, newest first; and the store as of a moment.

import { lines, get } from "../app/api.js";
import { button, command, el, empty, show } from "../app/dom.js";
import { ago, count, counted, moment } from "../app/format.js";
import { change, link } from "../app/router.js";
import { choosePast } from "../app/past.js";
import { changes } from "./object-history.js";

const pageSize = 100;

/** Shows the transactions. */
export async function showHistory({ studio, element, parameters, signal }) {
  const past = await get("past", {}, { signal }).catch((error) => { if (error.name === "AbortError") throw error; return {}; });
  const list = el("ol", { class: "transactions" });
  const older = el("div", { class: "actions" });
  const filter = (name, label, choices) => el("label", { class: "field inline" }, el("span", { class: "field-label" }, label),
    choices
      ? el("select", { on: { change: (event) => change({ [name]: event.target.value }) } }, choices.map(([value, words]) => el("option", { value, selected: value === (parameters[name] ?? "") }, words)))
      : el("input", { type: "text", value: parameters[name] ?? "", on: { change: (event) => change({ [name]: event.target.value }) } }));
  show(element,
    el("div", { class: "title-line" }, el("h1", {}, "History"), el("span", { class: "spacer" }), button("The store as of a moment…", () => choosePast(parameters.at ?? ""))),
    el("div", { class: "filters" },
      filter("author", "Author"), filter("entity", "Entity", [["", "all"], ...studio.model.names.map((name) => [name, name])]),
      filter("type", "Change", [["", "all"], ["insert", "inserted"], ["update", "changed"], ["delete", "deleted"]])),
    list, older);
  const { author, entity, type } = parameters;
  // Transactions come oldest first: the newest are those after a number near the last. Pages go backwards from there.
  let before = parameters.commit ? Number(parameters.commit) : studio.store.commit;
  let start = 0;
  const more = async () => {
    let found = [];
    while (found.length === 0 && before > start) {
      const after = Math.max(start, before - pageSize);
      found = (await lines("history", { after, limit: pageSize, author, entity, type }, { signal })).filter((transaction) => transaction.number <= before).reverse();
      before = after;
    }
    list.append(...found.map((transaction) => transactionEntry(transaction, studio, past, { isOpen: String(transaction.number) === parameters.commit, signal })));
    show(older, before > start ? button("Older transactions", more) : null);
  };
  try {
    const { history } = await get("info", {}, { signal });
    if (!history) throw new NoHistory();
    start = history.horizon;
    await more();
    if (list.children.length === 0) show(list, empty("No transaction fits.", el("p", { class: "note" }, "The history begins with what follows the commit at which it was switched on.")));
  } catch (error) {
    if (!(error instanceof NoHistory)) throw error;
    const { store } = await get("info", {}, { signal });
    show(list, empty("The store keeps no history",
      el("p", {}, "With a history it remembers who changed which objects, and when. It begins with this command; every program that writes keeps it from then on:"),
      command(`cairn history '${store}' --keep`),
      el("p", {}, "With past states too, the values before and after each change can be seen here, and the store as it was:"),
      command(`cairn past '${store}' --keep all`)));
  }
}

/** The store keeps no history: the view says how one begins. */
class NoHistory extends Error {}

/** What a transaction did, in a few words. */
export function changeChips(transaction) {
  const sums = new Map();
  for (const one of transaction.changes ?? []) {
    const objects = (one.objects ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0);
    const key = `${one.type} ${one.entity}`;
    sums.set(key, { ...one, count: (sums.get(key)?.count ?? 0) + objects });
  }
  const sign = { insert: "+", update: "±", delete: "−" };
  const words = { insert: "inserted", update: "changed", delete: "deleted" };
  return el("span", { class: "chips" }, [...sums.values()].map((one) =>
    el("span", { class: `chip ${one.type}`, title: `${counted(one.count, "object")} of ${one.entity} ${words[one.type]}` }, `${sign[one.type]}${count(one.count)} ${one.entity}`)));
}

function transactionEntry(transaction, studio, past, { isOpen, signal }) {
  const body = el("div", { class: "transaction-body" });
  const details = el("details", { class: "transaction", open: isOpen }, el("summary", {},
    el("span", { class: "transaction-number" }, count(transaction.number)),
    el("span", { class: "transaction-author" }, transaction.author ?? "unknown"),
    changeChips(transaction),
    el("time", { class: "note", dateTime: transaction.time, title: moment(transaction.time) }, ago(transaction.time))), body);
  let isFilled = false;
  const fillBody = () => {
    if (!details.open || isFilled) return;
    isFilled = true;
    showTransaction(body, transaction, studio, past, signal).catch((error) => error.name !== "AbortError" && show(body, el("p", { class: "error" }, error.message)));
  };
  details.addEventListener("toggle", fillBody);
  fillBody();
  return el("li", {}, details);
}

async function showTransaction(element, transaction, studio, past, signal) {
  const isKept = past.horizon !== undefined && past.horizon !== null && transaction.number >= past.horizon;
  show(element, el("p", { class: "note" }, "Reading…"));
  const [full] = await lines("history", { after: transaction.number - 1, limit: 1, values: 1 }, { signal });
  const values = (full?.values ?? []).filter((one) => studio.model.has(one.entity));
  show(element,
    el("p", { class: "note" }, `${moment(transaction.time)}${transaction.program ? `, ${transaction.program}` : ""}${transaction.process ? `, process ${transaction.process}` : ""}${transaction.context ? `, context ${transaction.context}` : ""}`),
    isKept ? el("p", {}, el("a", { class: "button small", href: link(["browse"], { at: transaction.number }) }, `The store after commit ${count(transaction.number)}`),
      transaction.number > past.horizon ? [" ", el("a", { class: "button small", href: link(["browse"], { at: transaction.number - 1 }) }, "The store before it")] : null) : null,
    values.length > 0 ? changedObjects(values, studio) : changedNumbers(transaction, studio));
}

const mostObjects = 50;

function changedObjects(values, studio) {
  return [
    el("ul", { class: "changed-objects" }, values.slice(0, mostObjects).map((one) => el("li", {},
      el("div", {}, el("a", { href: link(["object", one.entity, one.objectID]) }, `${one.entity} ${one.objectID}`),
        el("span", { class: "note" }, one.before ? (one.after ? " changed" : " deleted") : " inserted")),
      changes(one, studio, one.entity)))),
    values.length > mostObjects ? el("p", { class: "note" }, `and ${counted(values.length - mostObjects, "more object")}`) : null,
  ];
}

// Where past states are not kept, the history still knows which objects and which properties.
function changedNumbers(transaction, studio) {
  return el("ul", { class: "changed-objects" }, (transaction.changes ?? []).map((one) => el("li", {},
    el("span", { class: `chip ${one.type}` }, one.type), ` ${one.entity} `,
    (one.objects ?? []).slice(0, 12).map(([first, last]) => [studio.model.has(one.entity)
      ? el("a", { href: link(["object", one.entity, `p${first}`]) }, `p${first}`) : `p${first}`, last > first ? `–p${last} ` : " "]),
    (one.objects ?? []).length > 12 ? "…" : null,
    one.properties ? el("span", { class: "note" }, `: ${one.properties.join(", ")}`) : null)));
}
