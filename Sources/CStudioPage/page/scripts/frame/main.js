// Starts the studio: learns what the store is, draws the frame around the views, and shows the view of the address.

import { get, StudioEnded } from "../app/api.js";
import { el, empty, show } from "../app/dom.js";
import { Model } from "../app/model.js";
import { here } from "../app/router.js";
import { Shell } from "./shell.js";
import { shortTitle } from "../app/format.js";
import { News } from "../app/news.js";
import { applyTheme } from "../app/theme.js";
import { installKeys } from "../app/keys.js";
import { showHome } from "../views/home.js";
import { showModel } from "../views/model.js";
import { showBrowse } from "../views/browse.js";
import { showObject } from "../views/object.js";
import { showAsk } from "../views/ask.js";
import { showHistory } from "../views/history.js";
import { showHealth } from "../views/health.js";
import { showSearch } from "../views/search.js";

const views = {
  home: showHome, model: showModel, browse: showBrowse, object: showObject, ask: showAsk, history: showHistory,
  health: showHealth, search: showSearch,
};

/** What every view is given: the store, its model, and the element to fill. */
class Studio {
  /** Ends with the view: what it asked for is no longer needed then. */
  #ending = new AbortController();

  constructor(store, model) {
    this.store = store;
    this.model = model;
    this.element = document.getElementById("view");
    this.shell = new Shell(this);
    this.news = new News(store.commit, (commit) => this.shell.showNews(commit));
  }

  get signal() {
    return this.#ending.signal;
  }

  /** Shows the view of the address; `again` after something changed, when the focus stays where it is. */
  async route({ again = false } = {}) {
    this.#ending.abort();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const { path, parameters } = here();
    const name = path[0] ?? "home";
    this.shell.mark(name, parameters.at);
    const view = views[name];
    this.element.dataset.view = name;
    this.element.dataset.state = "loading";
    try {
      if (!view) show(this.element, empty("There is no such view.", el("a", { href: "#/home" }, "Go to the overview")));
      else await view({ studio: this, element: this.element, path: path.slice(1), parameters, signal, again });
      this.element.dataset.state = "ready";
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      this.element.dataset.state = "failed";
      show(this.element, failure(error));
      if (!error.status && !(error instanceof StudioEnded)) throw error;
    }
  }

  /** Reads the store anew: after a commit. */
  async refresh() {
    this.store = await get("store");
    this.model = new Model(await get("schema"));
    this.shell.draw();
    await this.route({ again: true });
  }

  /** Tells that this page has written: what it shows is read anew, and the commit is no news. */
  async wrote(commit) {
    this.news.know(commit);
    await this.refresh();
  }
}

function failure(error) {
  return empty("This cannot be shown", el("p", { class: "error", role: "alert" }, error.message),
    el("p", {}, el("a", { href: "#/health" }, "Check the store"), " or ", el("a", { href: "#/home" }, "go to the overview"), "."));
}

async function start() {
  applyTheme();
  const view = document.getElementById("view");
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    view.focus();
  });
  try {
    const [store, schema] = await Promise.all([get("store"), get("schema")]);
    const studio = new Studio(store, new Model(schema));
    document.title = `${shortTitle(store)} – Cairn Studio`;
    installKeys(studio);
    window.addEventListener("hashchange", () => {
      studio.route();
    });
    if (location.hash === "") history.replaceState(null, "", "#/home");
    await studio.route();
    studio.news.follow();
  } catch (error) {
    // Also a store that is too damaged to be opened: what is wrong with it is the first thing to see.
    show(view, failure(error));
    view.dataset.state = "failed";
  }
}

start();
