// Light, dark, or as the system has it.

const key = "cairn-studio-theme";
const kinds = ["system", "light", "dark"];

/** The theme that was chosen. */
export const theme = () => (kinds.includes(localStorage.getItem(key)) ? localStorage.getItem(key) : "system");

/** Gives the page the theme that was chosen. */
export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

/** Chooses the next theme, and says which. */
export function nextTheme() {
  const next = kinds[(kinds.indexOf(theme()) + 1) % kinds.length];
  localStorage.setItem(key, next);
  applyTheme();
  return next;
}
