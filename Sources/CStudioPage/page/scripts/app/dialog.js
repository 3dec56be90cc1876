// A dialog over the page. The browser's own element keeps the focus inside and gives it back afterwards.

import { button, el } from "./dom.js";

/** Opens a dialog; `build` gets a function that closes it, and returns what is in it. */
export function openDialog(title, build, { wide = false, closed } = {}) {
  const dialog = el("dialog", { class: wide ? "wide" : "", "aria-label": title });
  const close = () => dialog.close();
  dialog.append(
    el("div", { class: "dialog-head" }, el("h2", {}, title), button("×", close, { class: "plain", "aria-label": "Close" })),
    el("div", { class: "dialog-body" }, build(close, dialog)));
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks whether something may be done. */
export function confirm(title, words, label, run) {
  openDialog(title, (close) => [
    el("p", {}, words),
    el("div", { class: "actions" }, button("Cancel", close), button(label, () => { close(); run(); }, { class: "danger", autofocus: true })),
  ]);
}
