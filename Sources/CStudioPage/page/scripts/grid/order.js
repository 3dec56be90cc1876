// The order of a table, as the tool's --sort writes it: name,-price sorts by name, then by price, the largest first.

/** The keys of an order. */
export const readOrder = (text) =>
  (text ?? "").split(",").filter((key) => key !== "").map((key) => ({ key: key.replace(/^-/, ""), isDescending: key.startsWith("-") }));

/** An order as text. */
export const writeOrder = (order) => order.map((one) => `${one.isDescending ? "-" : ""}${one.key}`).join(",");

/** Up, then down, then not sorted: of one column alone, or added to the others. */
export function turnOrder(order, key, isAdded) {
  const present = order.find((one) => one.key === key);
  const others = isAdded ? order.filter((one) => one.key !== key) : [];
  if (!present) return [...others, { key, isDescending: false }];
  const turned = { key, isDescending: true };
  if (present.isDescending) return others;
  return isAdded ? order.map((one) => (one.key === key ? turned : one)) : [turned];
}
