// The table of an entity: a grid over the pages of a listing, with the condition above it.

import { ApiError, get } from "../app/api.js";
import { button, el, show } from "../app/dom.js";
import { cellText, count, counted } from "../app/format.js";
import { change, go, link } from "../app/router.js";
import { toast } from "../app/toast.js";
import { ConditionField } from "../condition/field.js";
import { editCell } from "../edit/cell-editor.js";
import { removeObject } from "../edit/save.js";
import { importFile, acceptFiles } from "../edit/import.js";
import { chooseColumns, chosenColumns, keepWidth } from "./columns.js";
import { cellMenu, withValue } from "./filters.js";
import { Grid } from "./grid.js";
import { pageSize, RowPages } from "./row-pages.js";
import { readOrder, turnOrder, writeOrder } from "./order.js";

const places = new Map();

/** One entity's objects that meet a condition, in an order. It is the grid's source of rows. */
export class EntityTable {
  element;
  #studio;
  #entity;
  #parameters;
  #signal;
  #columns;
  #order;
  #pages;
  #grid;
  #condition;
  #status = el("span", { class: "status", role: "status" });
  #total = null;
  #listing;
  #place = null;
  #firstArrived = null;

  constructor({ studio, entity, parameters, signal }) {
    this.#studio = studio;
    this.#entity = entity;
    this.#parameters = parameters;
    this.#signal = signal;
    this.#columns = chosenColumns(studio.model, entity, parameters.columns);
    this.#order = readOrder(parameters.sort);
    this.#listing = {
      entity, where: parameters.where, sort: parameters.sort, at: parameters.at, "sql-nulls": parameters["sql-nulls"],
      columns: this.#columns.map((column) => column.key).join(","),
    };
    this.#pages = new RowPages(this.#listing, { arrived: (from, answer) => this.#arrived(from, answer), failed: (error) => this.#failed(error), signal });
    if (!studio.store.writable || parameters.at) this.edit = undefined;
    this.#grid = new Grid(this, { label: `Objects of ${entity}` });
    // Where the table was when it was left: coming back, and reading the store anew, show the same rows.
    const address = location.hash;
    signal.addEventListener("abort", () => places.set(address, this.#grid.place));
    this.#place = places.get(address) ?? null;
    this.#condition = new ConditionField({
      value: parameters.where, context: () => ({ model: studio.model, entity, rows: this.#pages.here() }),
      apply: (where) => change({ where }),
    });
    this.element = el("section", { class: "table-view", "aria-label": `Browse ${entity}` }, this.#bar(), this.#condition.element, this.#grid.element);
    if (this.#canWrite) acceptFiles(this.element, (file) => importFile(studio, entity, file));
  }

  get #canWrite() {
    return this.#studio.store.writable && !this.#parameters.at;
  }

  #bar() {
    const names = this.#studio.model.names;
    const chooser = el("select", { class: "entity-chooser", "aria-label": "Entity", on: { change: () => go(["browse", chooser.value], {}) } },
      names.map((name) => el("option", { value: name, selected: name === this.#entity }, name)));
    return el("div", { class: "table-bar" }, chooser, this.#status, el("span", { class: "spacer" }),
      button("Columns", () => chooseColumns(this.#studio.model, this.#entity, this.#columns, (columns) => change({ columns }))),
      el("a", { class: "button", href: link(["ask", "plan"], { entity: this.#entity, where: this.#parameters.where, sort: this.#parameters.sort }) }, "Plan"),
      this.#canWrite ? [
        button("Import…", () => importFile(this.#studio, this.#entity)),
        el("a", { class: "button primary", href: link(["object", this.#entity, "new"]) }, "Add"),
      ] : null);
  }

  /** Asks for the first page, and goes back to a place of the table when it is known how many rows there are. */
  async start() {
    this.#grid.set({ columns: this.#columns, rows: pageSize });
    show(this.#status, "counting…");
    await new Promise((resolve) => {
      this.#firstArrived = resolve;
      this.#pages.want(0, pageSize - 1);
    });
  }

  // The first page of a condition comes before it is known how many rows there are: that is asked for until it is.
  async #count() {
    for (let pause = 200; this.#total === null; pause = Math.min(2000, pause * 1.5)) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.#signal.aborted) return;
      const { total } = await get("rows", { ...this.#listing, from: 0, count: 1 }, { signal: this.#signal });
      if (total !== undefined) this.#know(total);
    }
  }

  focus() {
    this.#grid.element.focus({ preventScroll: true });
  }

  #know(total) {
    this.#total = total;
    this.#grid.set({ rows: total });
    const { where } = this.#parameters;
    show(this.#status, where ? `${counted(total, "object")} ${total === 1 ? "meets" : "meet"} the condition` : counted(total, "object"));
    this.element.classList.toggle("is-empty", total === 0);
    this.element.dataset.total = String(total);
    if (this.#place) this.#grid.place = this.#place;
    this.#place = null;
  }

  #arrived(from, answer) {
    if (answer.total !== undefined && answer.total !== this.#total) this.#know(answer.total);
    else this.#grid.draw();
    if (this.#total === null && from === 0) {
      this.#grid.set({ rows: answer.rows.length });
      this.#count().catch((error) => this.#failed(error));
    }
    this.#firstArrived?.();
  }

  #failed(error) {
    if (error.name === "AbortError" || this.#signal.aborted) return;
    this.#firstArrived?.();
    if (error instanceof ApiError && this.#parameters.where && /condition/.test(error.message)) this.#condition.complain(error);
    else toast(error.message, { kind: "error" });
    if (this.#total === null) {
      this.#grid.set({ rows: 0 });
      show(this.#status, "nothing can be shown");
    }
  }

  // What the grid asks of its source.

  want(first, last) {
    if (this.#total !== 0) this.#pages.want(first, last);
  }

  rowAt(index) {
    return this.#pages.row(index);
  }

  fillCell(cell, row, column, isActive) {
    const value = row?.[column.key];
    const text = row === undefined ? "" : cellText(value, column.type);
    const isLink = value !== null && value !== undefined && (column.type === "reference" || column.type === "objectID");
    cell.classList.toggle("nil", row !== undefined && (value === null || value === undefined));
    cell.classList.toggle("link", isLink);
    if (isActive && row !== undefined) {
      show(cell, el("span", { class: "cell-text" }, text), button("▾", () => this.menu(this.#grid.active.row, column, cell), { class: "cell-menu", tabIndex: -1, "aria-hidden": "true" }));
    } else if (cell.childElementCount > 0 || cell.textContent !== text) cell.textContent = text;
    cell.onclick = isLink ? (event) => this.#follow(event, row, column) : null;
  }

  // A link is followed by a click on its words, or on a cell that is the active one already.
  #follow(event, row, column) {
    if (event.target.closest("button")) return;
    const { row: at } = this.#grid.active;
    this.open(at, column, event);
  }

  open(index, column, event) {
    const row = this.rowAt(index);
    if (!row) return;
    const value = row[column.key];
    if (column.type === "reference" && value) go(["object", column.relationship.destinationEntityName, value], {});
    else if (event?.type === "dblclick" && this.edit && column.attribute) this.edit(index, column, this.#grid.activeCell);
    else go(["object", row.entity ?? this.#entity, row.objectID], {});
  }

  order(column) {
    const rank = this.#order.findIndex((one) => one.key === column.key);
    if (rank < 0) return null;
    return { isDescending: this.#order[rank].isDescending, rank: this.#order.length > 1 ? rank + 1 : 0 };
  }

  sort(column, isAdded) {
    if (column.type === "binary" || column.type === "transformable") {
      toast(`${column.label} has bytes, which have no order.`);
      return;
    }
    change({ sort: writeOrder(turnOrder(this.#order, column.key, isAdded)) });
  }

  move(from, to) {
    if (from < 1 || to < 1 || to >= this.#columns.length) return;
    const keys = this.#columns.map((column) => column.key);
    keys.splice(to, 0, ...keys.splice(from, 1));
    change({ columns: keys.join(",") }, { replace: true });
  }

  resized(column) {
    keepWidth(this.#entity, column);
    this.#grid.set({ columns: this.#columns });
  }

  filter(index, column, isOpposite) {
    const row = this.rowAt(index);
    const where = row && withValue(this.#parameters.where, column, row, isOpposite);
    if (where) change({ where });
  }

  copy(index, column) {
    const value = this.rowAt(index)?.[column.key];
    navigator.clipboard.writeText(value === null || value === undefined ? "" : String(value)).then(() => toast("Copied"), () => toast("The browser does not let the page copy.", { kind: "error" }));
  }

  menu(index, column, cell) {
    const row = this.rowAt(index);
    if (!row || !cell) return;
    cellMenu(cell, { row, column, index, table: this });
  }

  edit = async (index, column, cell) => {
    const row = this.rowAt(index);
    if (!row || !column.attribute || !cell) return;
    await editCell({ studio: this.#studio, entity: row.entity ?? this.#entity, row, column, cell, done: () => this.focus() });
  };

  remove(index) {
    const row = this.rowAt(index);
    if (row && this.#canWrite) removeObject(this.#studio, row.entity ?? this.#entity, row.objectID);
  }
}
