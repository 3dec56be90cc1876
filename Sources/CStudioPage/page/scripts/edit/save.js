// Writes: each change is one save of author "studio". A conflict is shown, with what each side has, to be decided.

import { get, post } from "../app/api.js";
import { button, el } from "../app/dom.js";
import { confirm, openDialog } from "../app/dialog.js";
import { cellText, count } from "../app/format.js";
import { go, here } from "../app/router.js";
import { toast } from "../app/toast.js";

/** Saves changes; answers with what the server said, or with nothing when a conflict or an error was shown. */
export async function save(studio, changes, words) {
  try {
    const answer = await post("save", {}, { changes });
    toast(`${words}, commit ${count(answer.commit)}`, { kind: "good", action: { label: "Undo", run: () => undo(studio, answer.commit) } });
    await studio.wrote(answer.commit);
    return answer;
  } catch (error) {
    if (error.isConflict && error.body.conflicts?.length > 0) showConflicts(studio, changes, error, words);
    else toast(error.message, { kind: "error" });
    return null;
  }
}

function showConflicts(studio, changes, error, words) {
  const again = async () => {
    const fresh = await Promise.all(changes.map(async (change) => {
      if (change.change === "insert") return change;
      const object = await get("object", { entity: change.entity, id: change.id });
      const was = Object.fromEntries(Object.keys(change.values ?? {}).map((name) => [name, object.values[name] ?? null]));
      return { ...change, version: object.version, was };
    }));
    await save(studio, fresh, words);
  };
  openDialog("Somebody else has changed this", (close) => [
    el("p", {}, "Nothing was saved. Since you read the object, another program has written to it:"),
    el("div", { class: "scroll" }, el("table", { class: "plain-table" },
      el("thead", {}, el("tr", {}, ["object", "property", "it was", "yours", "theirs"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, error.body.conflicts.map((conflict) => el("tr", {},
        el("td", {}, conflict.id), el("th", { scope: "row" }, conflict.property ?? "the object"),
        [conflict.was, conflict.mine, conflict.theirs].map((value) => el("td", {}, cellText(value) || "no value"))))))),
    el("div", { class: "actions" },
      button("Take theirs", () => { close(); studio.refresh(); }),
      button("Save mine over it", () => { close(); again().catch((failure) => toast(failure.message, { kind: "error" })); }, { class: "danger" })),
  ], { wide: true });
}

/** Deletes an object as it was shown, in the version that it had, after a question. */
export async function removeObject(studio, entity, id, version) {
  let seen;
  try {
    seen = version === undefined ? await get("object", { entity, id }) : { entity, version };
  } catch (error) {
    toast(error.message, { kind: "error" });
    return;
  }
  confirm(`Delete ${entity} ${id}?`, "The delete rules of the model apply: related objects may be deleted with it, or forbid it. Undo takes it back.", "Delete", async () => {
    try {
      const isShown = here().path[0] === "object";
      const answer = await save(studio, [{ change: "delete", entity: seen.entity, id, version: seen.version }], `Deleted ${id}`);
      if (answer && isShown) go(["browse", entity]);
    } catch (error) {
      toast(error.message, { kind: "error" });
    }
  });
}

/** Takes the last change of this studio back, if it is that of the commit. */
export async function undo(studio, made) {
  try {
    const { commit } = await post("undo", { commit: made });
    toast(`Taken back, commit ${count(commit)}`, { kind: "good" });
    await studio.wrote(commit);
  } catch (error) {
    toast(error.isConflict ? `It cannot be taken back: ${error.message}` : error.message, { kind: "error" });
  }
}
