// The frame around the views: the bar above with the store's name, the navigation, the bar of the past, the news.

import { button, el, show } from "../app/dom.js";
import { count, counted, moment, shortTitle } from "../app/format.js";
import { change, go, here, link } from "../app/router.js";
import { choosePast } from "../app/past.js";
import { nextTheme, theme } from "../app/theme.js";
import { showKeys } from "../app/keys.js";
import { undo } from "../edit/save.js";

const entries = [
  ["home", "Home", "M3 11 12 4l9 7v9h-6v-6H9v6H3z"],
  ["model", "Model", "M4 4h7v6H4zM13 14h7v6h-7zM7.5 10v7H13"],
  ["browse", "Browse", "M3 5h18v14H3zM3 10h18M3 14.5h18M9 5v14"],
  ["ask", "Ask", "M4 20V10M10 20V4M16 20v-7M21 20H3"],
  ["history", "History", "M12 7v5l3.5 2M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4"],
  ["health", "Health", "M3 12h4l2.5-6 4 12 2.5-6H21"],
];

// The views that read a state of the past; the others are about the store as a whole.
const showsPast = (name) => ["browse", "object", "search"].includes(name) || (name === "ask" && here().path[1] !== "duplicates");

/** The frame, drawn once and marked for each view. */
export class Shell {
  #studio;
  #entries = new Map();
  #news = el("span", { class: "news" });
  #past = el("div", { class: "past-bar", role: "status", hidden: true });

  constructor(studio) {
    this.#studio = studio;
    this.draw();
  }

  draw() {
    const { store } = this.#studio;
    const search = el("input", {
      type: "search", class: "search", id: "search", placeholder: "Find an id, a key or a text", "aria-label": "Find in the whole store",
      value: here().path[0] === "search" ? here().parameters.text ?? "" : "",
      on: { keydown: (event) => event.key === "Enter" && search.value !== "" && go(["search"], { text: search.value }) },
    });
    const themeButton = button(`Theme: ${theme()}`, () => { themeButton.textContent = `Theme: ${nextTheme()}`; }, { class: "plain theme" });
    show(document.getElementById("top"),
      el("a", { class: "brand", href: "#/home" }, el("img", { src: "/icon.svg", alt: "", width: 22, height: 22 }), el("span", { class: "brand-name" }, "Cairn Studio")),
      el("span", { class: "store-title", title: store.title }, shortTitle(store)),
      el("span", { class: `badge ${store.writable ? "writable" : ""}`, title: store.writable ? "This studio may change the store" : "Started without --write: nothing can be changed here" },
        store.writable ? "writable" : "read-only"),
      el("span", { class: "commit" }, `commit ${count(store.commit)}`),
      this.#news,
      el("span", { class: "spacer" }),
      store.writable ? button("Undo", () => undo(this.#studio, store.undo?.commit), { class: "plain undo", disabled: !store.undo, title: store.undo ? `Take back commit ${count(store.undo.commit)}, the last change made in this studio` : "Nothing was changed in this studio yet" }) : null,
      search, themeButton,
      button("?", showKeys, { class: "plain help", "aria-label": "Keys and help" }));
    const side = document.getElementById("side");
    show(side, el("ul", {}, entries.map(([name, label, path]) => {
      const entry = el("a", { href: link([name], {}) }, icon(path), el("span", {}, label));
      this.#entries.set(name, entry);
      return el("li", {}, entry);
    })));
    if (!this.#past.isConnected) document.getElementById("view").before(this.#past);
    this.mark(here().path[0] ?? "home", here().parameters.at);
  }

  /** Marks the entry of the view that is shown, and says whether it shows the past. */
  mark(name, at) {
    const shown = { object: "browse", search: "browse" }[name] ?? name;
    for (const [entry, anchor] of this.#entries) {
      // The moment that is looked at stays when the view changes.
      anchor.href = link([entry], {});
      if (entry === shown) anchor.setAttribute("aria-current", "page");
      else anchor.removeAttribute("aria-current");
    }
    this.#past.hidden = !at;
    document.documentElement.classList.toggle("in-the-past", Boolean(at));
    if (!at) return;
    show(this.#past,
      el("strong", {}, "You are looking at the past: "),
      el("span", {}, /^\d+$/.test(at) ? `the store as it was after commit ${count(Number(at))}` : `the store as it was at ${moment(at)}`),
      showsPast(name) ? null : el("span", {}, "– but this view shows the store as it is now"),
      el("span", { class: "past-actions" },
        button("Another moment", () => choosePast(at), { class: "small" }),
        button("Back to now", () => change({ at: "" }), { class: "small primary" })));
  }

  /** Says how many commits have come since the page read the store; null: the studio is gone. */
  showNews(commit) {
    if (commit === null) {
      show(this.#news, el("span", { class: "badge gone", role: "alert" }, "the studio has ended"));
      return;
    }
    const behind = this.#studio.news.behind(commit);
    if (behind <= 0) show(this.#news);
    else {
      show(this.#news, button(`${counted(behind, "new commit")} – show`, () => {
        this.#studio.news.know(commit);
        this.#studio.refresh();
      }, { class: "small primary" }));
    }
  }
}

/** A line drawing of 24 by 24. */
function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true", class: "icon" })) drawing.setAttribute(name, value);
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  drawing.append(line);
  return drawing;
}
