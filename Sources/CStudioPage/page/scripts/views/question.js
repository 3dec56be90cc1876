// What the questions of Ask have in common: the entity, the condition, and how an error is shown.

import { el, select, show } from "../app/dom.js";
import { change, go } from "../app/router.js";
import { ConditionField } from "../condition/field.js";

/** The choice of an entity; another entity begins a new question of the same kind. */
export const entityField = (studio, kind, entity) =>
  el("label", { class: "field" }, el("span", { class: "field-label" }, "Entity"), select(studio.model.names.map((name) => [name, name]), entity, (chosen) => go(["ask", kind], { entity: chosen }), { class: "entity-chooser" }));

/** The condition of a question. */
export const conditionField = (studio, entity, where) => new ConditionField({
  value: where, context: () => ({ model: studio.model, entity, rows: [] }), apply: (text) => change({ where: text }),
});

/** Asks, and shows what goes wrong where it belongs. */
export async function answer(element, condition, ask) {
  try {
    await ask();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (/^the condition/.test(error.message) && condition.value !== "") {
      condition.complain(error);
      show(element);
    } else show(element, el("p", { class: "error", role: "alert" }, error.message));
  }
}
