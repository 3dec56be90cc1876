// Splits a condition into words, far enough to know what may come next. The server reads it for good.

const pattern = /(?<text>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)|(?<number>-?\d+(?:\.\d+)?)|(?<path>[#@$]?[A-Za-z_][\w]*(?:\.[#@]?\w*)*)|(?<operator>==|!=|<>|<=|>=|=<|=>|&&|\|\||[=<>!])|(?<mark>[(){},:\[\]+*/-])/g;

const junctions = new Set(["AND", "OR", "&&", "||", "NOT", "!"]);
const quantifiers = new Set(["ANY", "ALL", "SOME", "NONE"]);
const operators = new Set(["==", "=", "!=", "<>", "<", ">", "<=", ">=", "=<", "=>", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "IN", "BETWEEN"]);

/** The words of a condition, with where they begin and end. */
export function tokens(text) {
  return [...text.matchAll(pattern)].map((match) => {
    const kind = Object.entries(match.groups).find(([, value]) => value !== undefined)[0];
    return { kind: classified(kind, match[0]), text: match[0], start: match.index, end: match.index + match[0].length };
  });
}

function classified(kind, text) {
  const word = text.toUpperCase();
  if (junctions.has(word)) return "junction";
  if (quantifiers.has(word)) return "quantifier";
  if (operators.has(word)) return "operator";
  if (kind === "path" && ["TRUE", "FALSE", "YES", "NO", "NULL", "NIL"].includes(word)) return "constant";
  return kind;
}

/**
 * What may come at a place of a condition: {expects: "property" | "operator" | "value" | "junction", start, typed, path}.
 * `typed` is the word that is being typed there, from `start`; `path` the property that an operator or value belongs to.
 */
export function situation(text, caret) {
  const before = tokens(text.slice(0, caret));
  const last = before.at(-1);
  const touches = last && last.end === caret && ["path", "constant", "junction", "quantifier", "operator", "text", "number"].includes(last.kind);
  const isWord = touches && /[\w'"@#.]$/.test(last.text) && !(last.kind === "text" && /^(['"]).*\1$/s.test(last.text) && last.text.length > 1);
  const done = isWord ? before.slice(0, -1) : before;
  const typed = isWord ? last.text : "";
  const start = isWord ? last.start : caret;
  return { ...expectation(done), typed, start };
}

function expectation(done) {
  const last = done.at(-1);
  if (!last || last.kind === "junction" || last.kind === "quantifier" || last.text === "(") return { expects: "property" };
  const path = done.findLast((token) => token.kind === "path");
  if (last.kind === "operator") return { expects: "value", path: path?.text, operator: last.text.toUpperCase() };
  if (last.text === "[" || last.text === "]") return last.text === "]" ? { expects: "value", path: path?.text } : { expects: "none" };
  if (last.text === "{" || last.text === ",") return { expects: "value", path: path?.text, operator: "IN" };
  if (last.kind === "path") {
    const earlier = done.at(-2);
    return earlier?.kind === "operator" ? { expects: "junction" } : { expects: "operator", path: last.text };
  }
  return { expects: "junction" };
}
