// A small menu at a place: of a cell, of a button. The browser gives the focus back when it closes.

import { button, el } from "../app/dom.js";

/** Opens a menu below an element; items are {label, run}, or null for a line between. */
export function openMenu(anchor, items, { closed } = {}) {
  const menu = el("div", { class: "menu", role: "menu", popover: "auto" });
  const entries = items.map((item) => (item === null
    ? el("hr", {})
    : button(item.label, () => { menu.hidePopover(); item.run(); }, { role: "menuitem", tabIndex: -1, class: item.kind ?? "" })));
  menu.append(...entries);
  document.body.append(menu);
  const box = anchor.getBoundingClientRect();
  menu.showPopover();
  const { offsetWidth: width, offsetHeight: height } = menu;
  menu.style.left = `${Math.max(4, Math.min(box.left, innerWidth - width - 4))}px`;
  menu.style.top = `${box.bottom + height > innerHeight && box.top > height ? box.top - height : box.bottom}px`;
  const buttons = entries.filter((entry) => entry.tagName === "BUTTON");
  const step = (by) => buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length].focus();
  menu.addEventListener("keydown", (event) => {
    const actions = { ArrowDown: () => step(1), ArrowUp: () => step(-1), Home: () => buttons[0].focus(), End: () => buttons.at(-1).focus(), Tab: () => menu.hidePopover() };
    if (event.key === "Escape") {
      menu.hidePopover();
    } else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    menu.remove();
    closed?.();
  });
  buttons[0]?.focus();
}
