// An object with its long texts whole: the server cuts them, so that pages stay small, and has them by themselves.

import { text } from "../app/api.js";

/** The object, with every text that was cut fetched. */
export async function wholeObject(object) {
  const cut = Object.entries(object.values).filter(([, value]) => value?.cut !== undefined);
  const whole = await Promise.all(cut.map(async ([name]) => [name, await text("value", { entity: object.entity, id: object.id, property: name })]));
  return { ...object, values: { ...object.values, ...Object.fromEntries(whole) } };
}
