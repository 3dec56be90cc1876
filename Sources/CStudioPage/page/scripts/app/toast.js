// Short messages at the bottom of the page, read aloud by screen readers.

import { button, el } from "./dom.js";

/** Shows a message for a while; with an action it stays until it is dismissed or taken. */
export function toast(message, { kind = "info", action } = {}) {
  const box = el("div", { class: `toast ${kind}` }, el("span", {}, message));
  const close = () => box.remove();
  if (action) box.append(button(action.label, () => { close(); action.run(); }, { class: "small" }));
  box.append(button("×", close, { class: "plain", "aria-label": "Dismiss" }));
  const toasts = document.getElementById("toasts");
  toasts.append(box);
  while (toasts.children.length > 3) toasts.firstElementChild.remove();
  setTimeout(close, kind === "error" || action ? 20000 : 6000);
}
