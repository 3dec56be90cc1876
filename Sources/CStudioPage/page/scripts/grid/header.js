// The header of a grid: sorts by clicking, moves columns by dragging, and gives them their widths.

import { el } from "../app/dom.js";
import { isNumeric } from "../app/format.js";

/** The header's row, whose cells are made anew when the columns change. */
export class GridHeader {
  element = el("div", { class: "grid-header", role: "rowgroup" });
  #source;
  #grid;
  #dragged = null;

  constructor(source, grid) {
    this.#source = source;
    this.#grid = grid;
  }

  draw() {
    this.element.replaceChildren(el("div", { class: "grid-row", role: "row", "aria-rowindex": "1" },
      this.#grid.columns.map((column, index) => this.#cell(column, index))));
  }

  #cell(column, index) {
    const order = this.#source.order(column);
    const cell = el("div", {
      class: `grid-cell grid-heading${isNumeric(column.type) ? " numeric" : ""}`, role: "columnheader", "aria-colindex": String(index + 1), draggable: index > 0,
      "aria-sort": order ? (order.isDescending ? "descending" : "ascending") : "none",
      title: `${column.title ?? column.label}: click to sort, with Shift to sort by it as well, drag to move`,
      style: { width: `${column.width}px` }, data: { key: column.key },
      on: {
        click: (event) => this.#source.sort(column, event.shiftKey),
        dragstart: (event) => { this.#dragged = index; event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", column.key); },
        dragover: (event) => { if (this.#dragged !== null && index > 0) { event.preventDefault(); cell.classList.add("drop"); } },
        dragleave: () => cell.classList.remove("drop"),
        dragend: () => { this.#dragged = null; },
        drop: (event) => { event.preventDefault(); cell.classList.remove("drop"); if (this.#dragged !== null) this.#source.move(this.#dragged, index); },
      },
    },
    el("span", { class: "heading-label" }, column.label),
    order ? el("span", { class: "heading-order", "aria-hidden": "true" }, `${order.isDescending ? "▼" : "▲"}${order.rank > 0 ? order.rank : ""}`) : null);
    cell.append(this.#handle(column, cell));
    return cell;
  }

  #handle(column, cell) {
    return el("span", {
      class: "heading-handle", "aria-hidden": "true", draggable: false,
      on: {
        click: (event) => event.stopPropagation(),
        pointerdown: (event) => {
          event.preventDefault();
          event.stopPropagation();
          cell.draggable = false;
          const start = event.clientX - column.width;
          const handle = event.currentTarget;
          handle.setPointerCapture(event.pointerId);
          const move = (moved) => {
            column.width = Math.max(48, Math.min(900, Math.round(moved.clientX - start)));
            cell.style.width = `${column.width}px`;
          };
          handle.addEventListener("pointermove", move);
          handle.addEventListener("pointerup", () => {
            handle.removeEventListener("pointermove", move);
            this.#source.resized(column);
          }, { once: true });
        },
      },
    });
  }
}
