// Chooses a moment of the past to look at.

import { get } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, el } from "./dom.js";
import { count } from "./format.js";
import { change } from "./router.js";

/** Asks which moment of the past shall be looked at. */
export async function choosePast(present = "") {
  let past = null;
  try {
    past = await get("past");
  } catch {
    // The dialog says what can be read only if the store knows; a moment can be typed anyway.
  }
  openDialog("Look at the past", (close) => {
    const input = el("input", { type: "text", value: present, autofocus: true, placeholder: "12 or 2026-01-31T10:00:00Z", "aria-label": "A commit's number, or a time" });
    const look = () => {
      if (input.value.trim() === "") return;
      close();
      change({ at: input.value.trim() });
    };
    input.addEventListener("keydown", (event) => event.key === "Enter" && look());
    return [
      el("p", {}, past?.horizon ? `The states after commits ${count(past.horizon)} to ${count(past.last)} can be read.` : "This store keeps no past states: cairn past STORE --keep all begins it."),
      el("p", {}, "The number of a commit, or a time:"), input,
      el("div", { class: "actions" }, button("Cancel", close), button("Look", look, { class: "primary" })),
    ];
  });
}
