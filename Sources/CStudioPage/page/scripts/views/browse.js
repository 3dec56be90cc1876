// Browse: the objects of an entity as a table. What is shown is all in the address: entity, condition, order, columns.

import { el, empty, show } from "../app/dom.js";
import { count } from "../app/format.js";
import { link } from "../app/router.js";
import { get } from "../app/api.js";
import { EntityTable } from "../grid/entity-table.js";

/** Shows the table of an entity, or the entities to choose from. */
export async function showBrowse({ studio, element, path, parameters, signal, again }) {
  const entity = path[0];
  if (!entity) {
    await showEntities({ studio, element, signal });
    return;
  }
  if (!studio.model.has(entity)) {
    show(element, empty(`The store has no entity ${entity}.`, el("a", { href: link(["browse"]) }, "All entities")));
    return;
  }
  const table = new EntityTable({ studio, entity, parameters, signal });
  show(element, table.element);
  await table.start();
  // What had the focus may have gone with the table that was here.
  if (!again || document.activeElement === document.body) table.focus();
}

async function showEntities({ studio, element, signal }) {
  const info = await get("info", {}, { signal });
  const known = new Map((info.entities ?? []).map((each) => [each.name, each]));
  const names = studio.model.names.filter((name) => !known.get(name)?.hidden);
  if (names.length === 1) {
    location.replace(link(["browse", names[0]]));
    return;
  }
  names.sort((one, other) => (known.get(other)?.objects ?? 0) - (known.get(one)?.objects ?? 0));
  show(element, el("h1", {}, "Browse"), el("ul", { class: "cards" }, names.map((name) => el("li", {},
    el("a", { class: "card entity-card", href: link(["browse", name]) },
      el("span", { class: "card-title" }, name),
      el("span", { class: "card-number" }, count(known.get(name)?.objects ?? 0)),
      el("span", { class: "note" }, summary(studio.model, name)))))));
}

function summary(model, name) {
  const attributes = model.attributes(name).map((attribute) => attribute.name);
  const shown = attributes.slice(0, 5).join(", ");
  return model.description(name).isAbstract ? "abstract: shows the objects of its subentities" : attributes.length > 5 ? `${shown}, …` : shown;
}
