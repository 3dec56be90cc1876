// A table of any number of rows with a fixed number of elements: rows are recycled as the table is scrolled.
//
//   1. The scroller holds a header that sticks to its top, a layer of row elements that sticks below it, and a spacer
//      that gives the scroller its height (ScrollMap says which).
//   2. The layer never moves with the scroller; its rows are filled anew for each position. So nothing is blank
//      while the browser scrolls ahead of the page.
//   3. The focus stays on the grid; the cell that is meant is told by aria-activedescendant, as its element changes.

import { el, freshID } from "../app/dom.js";
import { isNumeric } from "../app/format.js";
import { ScrollMap } from "./scroll-map.js";
import { gridKey } from "./keys.js";
import { GridHeader } from "./header.js";

const rowHeight = 28;

const kindOf = (column) => `type-${column.type}${isNumeric(column.type) ? " numeric" : ""}`;

/** What a grid shows: `columns` of {key, label, type, width}, rows by `rowAt`, cells by `fillCell(cell, row, column)`. */
export class Grid {
  element;
  columns = [];
  active = { row: 0, column: 0 };
  #source;
  #map = new ScrollMap(rowHeight);
  #header;
  #layer = el("div", { class: "grid-layer", role: "rowgroup" });
  #spacer = el("div", { class: "grid-spacer", "aria-hidden": "true" });
  #rows = [];
  #id = freshID("grid");
  #isDrawing = false;

  constructor(source, { label }) {
    this.#source = source;
    this.#header = new GridHeader(source, this);
    this.element = el("div", {
      class: "grid", role: "grid", tabIndex: 0, "aria-label": label, "aria-readonly": source.edit ? "false" : "true", id: this.#id,
      on: {
        scroll: () => { this.#map.scrolled(this.element.scrollTop); this.#schedule(); },
        keydown: (event) => gridKey(event, this, this.#source),
        focus: () => this.draw(), blur: () => this.draw(),
        mousedown: (event) => this.#point(event), dblclick: (event) => this.#open(event), contextmenu: (event) => this.#menu(event),
      },
    }, this.#header.element, this.#layer, this.#spacer);
    this.element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  get rowCount() {
    return this.#map.rows;
  }

  get rowsInPage() {
    return Math.max(1, Math.floor(this.#map.viewport / rowHeight) - 1);
  }

  /** Shows so many rows of these columns. */
  set({ columns, rows, label }) {
    if (columns) {
      this.columns = columns;
      this.#header.draw();
      this.#layer.replaceChildren();
      this.#rows = [];
    }
    if (rows !== undefined) this.#map.rows = rows;
    if (label) this.element.setAttribute("aria-label", label);
    this.element.setAttribute("aria-rowcount", String(this.#map.rows + 1));
    this.element.setAttribute("aria-colcount", String(this.columns.length));
    const width = this.columns.reduce((sum, column) => sum + column.width, 0);
    this.element.style.setProperty("--grid-width", `${width}px`);
    this.active.row = Math.max(0, Math.min(this.active.row, this.#map.rows - 1));
    this.active.column = Math.max(0, Math.min(this.active.column, this.columns.length - 1));
    this.resize();
  }

  resize() {
    this.#map.viewport = Math.max(0, this.element.clientHeight - rowHeight);
    this.#spacer.style.height = `${this.#map.scrollerHeight}px`;
    this.#map.moveBy(0);
    this.#settle();
    this.draw();
  }

  /** Makes a cell the one that keys act on, and shows it. */
  activate(row, column) {
    this.active = {
      row: Math.max(0, Math.min(row, this.#map.rows - 1)),
      column: Math.max(0, Math.min(column, this.columns.length - 1)),
    };
    this.#map.reveal(this.active.row);
    this.#settle();
    this.#revealColumn();
    this.draw();
  }

  /** Where the table is, to come back to. */
  get place() {
    return { top: this.#map.top, left: this.element.scrollLeft, ...this.active };
  }
  set place({ top, left, row, column }) {
    this.active = { row, column };
    this.#map.top = top;
    this.#map.moveBy(0);
    this.#settle();
    this.element.scrollLeft = left;
    this.draw();
  }

  get activeCell() {
    return this.#layer.querySelector(".active");
  }

  get activeColumn() {
    return this.columns[this.active.column];
  }

  /** Fills the elements of the rows in view. */
  draw() {
    this.#isDrawing = false;
    const first = this.#map.firstRow;
    const shown = Math.min(this.#map.rowsInView, this.#map.rows);
    this.#source.want(first, Math.max(first, Math.min(first + shown, this.#map.rows) - 1));
    while (this.#rows.length < shown) this.#rows.push(this.#newRow());
    this.#layer.style.transform = `translateY(${-(this.#map.top - first * rowHeight)}px)`;
    const hasFocus = document.activeElement === this.element;
    for (const [number, row] of this.#rows.entries()) this.#fill(row, number < shown ? first + number : this.#map.rows, hasFocus);
    const cell = this.activeCell;
    if (cell) this.element.setAttribute("aria-activedescendant", cell.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #newRow() {
    const row = el("div", { class: "grid-row", role: "row" }, this.columns.map((column, index) =>
      el("div", { class: `grid-cell ${kindOf(column)}`, role: "gridcell", "aria-colindex": String(index + 1), id: freshID("cell"), style: { width: `${column.width}px` } })));
    this.#layer.append(row);
    return row;
  }

  #fill(element, index, hasFocus) {
    const isThere = index < this.#map.rows;
    element.hidden = !isThere;
    if (!isThere) return;
    const row = this.#source.rowAt(index);
    element.setAttribute("aria-rowindex", String(index + 2));
    element.dataset.row = String(index);
    element.classList.toggle("odd", index % 2 === 1);
    element.classList.toggle("current", index === this.active.row);
    element.classList.toggle("awaited", row === undefined);
    for (const [column, cell] of [...element.children].entries()) {
      const isActive = index === this.active.row && column === this.active.column;
      cell.classList.toggle("active", isActive);
      cell.classList.toggle("focused", isActive && hasFocus);
      this.#source.fillCell(cell, row, this.columns[column], isActive);
    }
  }

  #schedule() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => this.draw());
  }

  #settle() {
    this.element.scrollTop = this.#map.scrollerTop;
    this.#map.settled(this.element.scrollTop);
  }

  // The first column sticks to the left: what is active must not be hidden behind it.
  #revealColumn() {
    const { column } = this.active;
    if (column === 0) return;
    const left = this.columns.slice(0, column).reduce((sum, each) => sum + each.width, 0);
    const { width } = this.columns[column];
    const room = this.element.clientWidth;
    const sticky = this.columns[0].width;
    if (left - sticky < this.element.scrollLeft) this.element.scrollLeft = left - sticky;
    else if (left + width > this.element.scrollLeft + room) this.element.scrollLeft = Math.min(left - sticky, left + width - room);
  }

  #wheel(event) {
    if (!this.#map.isScaled || event.ctrlKey || event.deltaY === 0 || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    this.#map.moveBy(event.deltaY * [1, rowHeight, this.#map.viewport][event.deltaMode]);
    this.#settle();
    this.#schedule();
  }

  #at(event) {
    const cell = event.target.closest(".grid-cell");
    if (!cell || !this.#layer.contains(cell)) return null;
    return { row: Number(cell.parentElement.dataset.row), column: [...cell.parentElement.children].indexOf(cell), cell };
  }

  #point(event) {
    const at = this.#at(event);
    if (!at || event.target.closest("input, button")) return;
    this.activate(at.row, at.column);
  }

  #open(event) {
    const at = this.#at(event);
    if (at) this.#source.open(at.row, this.columns[at.column], event);
  }

  #menu(event) {
    const at = this.#at(event);
    if (!at) return;
    event.preventDefault();
    this.activate(at.row, at.column);
    this.#source.menu(at.row, this.columns[at.column], this.activeCell);
  }
}
