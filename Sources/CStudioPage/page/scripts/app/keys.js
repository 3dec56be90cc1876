// The keys that work everywhere, and the page that names all of them. The table has its own (grid/keys).

import { el } from "./dom.js";
import { go } from "./router.js";
import { openDialog } from "./dialog.js";

const views = { h: "home", m: "model", b: "browse", a: "ask", t: "history", c: "health" };

const help = [
  ["Everywhere", [
    ["?", "these keys"], ["/", "go to the condition, or to the search"], ["Esc", "go back"],
    ["g then h m b a t c", "Home, Model, Browse, Ask, History (time), Health (check)"],
  ]],
  ["In a table", [
    ["← → ↑ ↓", "move from cell to cell"], ["Home, End", "first, last column"], ["Ctrl Home, Ctrl End", "first, last row"],
    ["Page ↑, Page ↓", "a screen up, down"], ["Enter", "open the object; on a reference, the object it names"],
    ["f", "filter by the cell's value"], ["x", "leave the cell's value out"], ["s", "sort by the column; Shift S adds it"],
    ["Ctrl C", "copy the value"], ["F2", "edit the cell (with --write)"], ["Delete", "delete the object (with --write)"],
    ["Alt ← →", "move the column"],
  ]],
  ["In the condition", [["↑ ↓", "choose a suggestion"], ["Tab or Enter", "take it"], ["Enter", "apply the condition"], ["Esc", "close the suggestions"]]],
];

/** Shows the keys. */
export function showKeys() {
  openDialog("Keys", () => el("div", { class: "keys" }, help.map(([title, rows]) =>
    el("section", {}, el("h3", {}, title), el("dl", {}, rows.map(([key, words]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, words)]))))), { wide: true });
}

/** Listens for the keys that work everywhere. */
export function installKeys() {
  let prefix = false;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape") {
      if (typing) typing.blur();
      else history.back();
      return;
    }
    if (typing) return;
    const chosen = prefix && views[event.key];
    prefix = event.key === "g" && !prefix;
    if (chosen) go([chosen]);
    else if (event.key === "?") showKeys();
    else if (event.key === "/") (document.querySelector(".condition-input") ?? document.getElementById("search")).focus();
    else return;
    event.preventDefault();
  });
}
