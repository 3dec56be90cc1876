// Edits a value in its cell: Enter saves, Escape leaves it.

import { get } from "../app/api.js";
import { el } from "../app/dom.js";
import { toast } from "../app/toast.js";
import { isBinary } from "../app/format.js";
import { save } from "./save.js";
import { wholeObject } from "./whole-object.js";
import { isSame, ValueField } from "./value-field.js";

/** Puts a control over a cell. What is saved is compared with what the object had when this began. */
export async function editCell({ studio, entity, row, column, cell, done }) {
  const { attribute } = column;
  if (attribute.derivationExpression) {
    toast(`${attribute.name} is derived: the store computes it.`);
    return;
  }
  if (isBinary(attribute.type)) {
    toast(`${attribute.name} has bytes, which are not edited here.`);
    return;
  }
  let object;
  try {
    object = await wholeObject(await get("object", { entity, id: row.objectID }));
  } catch (error) {
    toast(error.message, { kind: "error" });
    return;
  }
  const before = object.values[attribute.name] ?? null;
  const field = new ValueField(attribute, before, { isCompact: true });
  const box = cell.getBoundingClientRect();
  const editor = el("div", { class: "cell-editor", style: { left: `${box.left}px`, top: `${box.top}px`, width: `${Math.max(box.width, 160)}px`, height: `${box.height}px` } }, field.element);
  document.body.append(editor);
  field.focus();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    editor.remove();
    done();
  };
  const commit = async () => {
    let value;
    try {
      value = field.read();
    } catch (error) {
      toast(error.message, { kind: "error" });
      return;
    }
    end();
    if (isSame(value, before)) return;
    await save(studio, [{
      change: "update", entity: object.entity, id: row.objectID, version: object.version,
      values: { [attribute.name]: value }, was: { [attribute.name]: before },
    }], `Saved ${attribute.name} of ${row.objectID}`);
  };
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter") commit();
    else if (event.key === "Escape") end();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  editor.addEventListener("focusout", (event) => !editor.contains(event.relatedTarget) && end());
}
