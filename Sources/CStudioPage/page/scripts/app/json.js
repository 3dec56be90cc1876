// JSON whose numbers stay what they are: integers of 64 bits and decimals have digits that a double lacks.

/** A number as it was written, where a double would round it. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.text) : this.text;
  }
}

const keepDigits = (_, value, context) =>
  typeof value === "number" && context?.source !== undefined && isRounded(value, context.source)
    ? new ExactNumber(context.source) : value;

// Digits alone tell: 1.0 and 1e3 are read exactly though they are not what String() prints.
function isRounded(value, source) {
  if (source.length < 16) return false;
  return digits(String(value)) !== digits(source);
}

const digits = (text) => text.replace(/[eE].*$/, "").replace(/[-.]/g, "").replace(/^0+|0+$/g, "");

/** The value of one JSON text. */
export const parseJSON = (text) => JSON.parse(text, keepDigits);

/** The values of JSON lines. */
export const parseLines = (text) => text.split("\n").filter((line) => line !== "").map(parseJSON);
