// The address says what is shown: #/browse/Airport?where=…&sort=…. So that back, forward, reload and copying work,
// every view reads all of its state from there and changes it by going to another address.

/** Where the page is: the names of the path, and the parameters. */
export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {
    path: path.split("/").filter((name) => name !== "").map(decodeURIComponent),
    parameters: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a view. The moment of the past that is looked at stays, unless another is given. */
export function link(path, parameters = {}) {
  const kept = { at: here().parameters.at, ...parameters };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(kept)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) query.set(name, value === true ? "1" : value);
  }
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Goes to a view. */
export function go(path, parameters) {
  location.hash = link(path, parameters);
}

/** Changes parameters of the view that is shown; `replace` leaves no step to go back to. */
export function change(parameters, { replace = false } = {}) {
  const { path, parameters: present } = here();
  const target = link(path, { ...present, ...parameters });
  if (target === location.hash) return;
  if (replace) {
    history.replaceState(null, "", target);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = target;
}
