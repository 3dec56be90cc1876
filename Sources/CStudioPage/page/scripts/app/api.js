// Asks the program that serves this page. Answers are JSON objects or JSON lines, as the tool's --json prints them.

import { parseJSON, parseLines } from "./json.js";

/** What the program says when it cannot do what it was asked; `position` is where a condition is wrong. */
export class ApiError extends Error {
  constructor(status, body) {
    const error = body?.error ?? {};
    super(error.message ?? `the studio answered ${status}`);
    this.status = status;
    this.detail = error;
    this.body = body ?? {};
    this.position = error.position ?? body?.position ?? error.offset ?? null;
  }
  get isConflict() {
    return this.status === 409;
  }
}

/** The studio is gone: its process ended. */
export class StudioEnded extends Error {
  constructor() {
    super("The studio has ended. Run cairn studio again to go on.");
  }
}

/** The address of a question: parameters that are undefined, null, false or empty are left out. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === false || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, one === true ? "1" : one);
  }
  const text = query.toString();
  return `/api/${path}${text ? `?${text}` : ""}`;
}

async function ask(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new StudioEnded();
  }
  const text = await response.text();
  if (response.ok) return text;
  let body = null;
  try {
    body = parseJSON(text);
  } catch {
    // A page of words instead of JSON: the status has to do.
  }
  throw new ApiError(response.status, body);
}

/** One JSON value. */
export async function get(path, parameters, options = {}) {
  return parseJSON(await ask(address(path, parameters), options));
}

/** JSON lines, as a list. */
export async function lines(path, parameters, options = {}) {
  return parseLines(await ask(address(path, parameters), options));
}

/** Plain text, of a picture or a value. */
export async function text(path, parameters, options = {}) {
  return ask(address(path, parameters), options);
}

/** Has something done. The header proves that a page of this origin asks: others cannot set it. */
export async function post(path, parameters, body, type = "application/json") {
  const answer = await ask(address(path, parameters), {
    method: "POST",
    headers: { "Content-Type": type, "X-Cairn-Studio": "1" },
    body: type === "application/json" ? JSON.stringify(body ?? {}) : body,
  });
  return answer === "" ? {} : parseJSON(answer);
}
