// Ask: groups, the plan of a query, duplicates. Each is an address of its own, so that a question can be kept.

import { el, show } from "../app/dom.js";
import { link } from "../app/router.js";
import { showGroups } from "./groups.js";
import { showPlan } from "./plan.js";
import { showDuplicates } from "./duplicates.js";

const kinds = { groups: ["Groups", showGroups], plan: ["Plan", showPlan], duplicates: ["Duplicates", showDuplicates] };

/** Shows one kind of question. */
export async function showAsk({ studio, element, path, parameters, signal }) {
  const kind = kinds[path[0]] ? path[0] : "groups";
  const { entity: asked, where } = parameters;
  const entity = studio.model.has(asked) ? asked : studio.model.names.find((name) => !studio.model.description(name).isAbstract) ?? studio.model.names[0];
  const content = el("div", { class: "ask" });
  show(element, el("h1", {}, "Ask"),
    el("nav", { class: "tabs", "aria-label": "Kinds of questions" }, Object.entries(kinds).map(([name, [label]]) =>
      el("a", { href: link(["ask", name], { entity: asked, where }), ...(name === kind ? { "aria-current": "page" } : {}) }, label))), content);
  await kinds[kind][1]({ studio, element: content, entity, parameters: { ...parameters, entity }, signal });
}
