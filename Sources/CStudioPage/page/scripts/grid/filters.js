// Conditions made by pointing at a value.

import { cellText, constant, isBinary, propertyName } from "../app/format.js";
import { openMenu } from "./menu.js";

/** A condition with one more part: that a column has the value of a row, or has not. Nothing where that cannot be said. */
export function withValue(where, column, row, isOpposite) {
  const value = row[column.key];
  // Of bytes and of long texts the table has only a part.
  if (value !== null && (isBinary(column.type) || value?.cut !== undefined)) return null;
  const left = column.type === "objectID" ? "SELF" : propertyName(column.key);
  const part = `${left} ${isOpposite ? "!=" : "=="} ${constant(value, column.type)}`;
  const present = where?.trim();
  if (!present) return part;
  return /\bOR\b|\|\|/i.test(present) ? `(${present}) AND ${part}` : `${present} AND ${part}`;
}

/** What can be done with a cell. */
export function cellMenu(cell, { row, column, index, table }) {
  const value = row[column.key];
  const text = cellText(value, column.type);
  const short = value === null || value === undefined ? "no value" : text.length > 30 ? `${text.slice(0, 30)}…` : text;
  const canFilter = withValue("", column, row, false) !== null && column.key !== "entity";
  openMenu(cell, [
    ...(canFilter ? [
      { label: `Only ${column.label}: ${short}`, run: () => table.filter(index, column, false) },
      { label: `Without ${column.label}: ${short}`, run: () => table.filter(index, column, true) },
      null,
    ] : []),
    { label: `Open ${row.objectID}`, run: () => table.open(index, { type: "objectID", key: "objectID" }) },
    ...(column.type === "reference" && value ? [{ label: `Open ${column.label} ${value}`, run: () => table.open(index, column) }] : []),
    { label: "Copy the value", run: () => table.copy(index, column) },
    ...(table.edit ? [null,
      ...(column.attribute ? [{ label: "Edit", run: () => table.edit(index, column, cell) }] : []),
      { label: `Delete ${row.objectID}…`, kind: "danger", run: () => table.remove(index) },
    ] : []),
  ]);
}
