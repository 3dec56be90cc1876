// Maps the scroller of a browser to rows of a table that may be far higher than a browser lets an element be.
//
//   1. Browsers cap the height of elements at some 16 to 33 million pixels; 10 million rows of 28 pixels are 280. So
//      the scroller is at most `tallest` pixels high, and `top` is where the table is, in pixels of the table itself.
//   2. As long as the table is lower than that, `top` is the scroller's own position.
//   3. Above it a long way of the scroller (its bar dragged) is mapped in proportion, a short one (a finger) is taken
//      as it is, and wheels are taken over altogether: so that the rows move as the hand does.
//
// Positions are doubles: 10 million rows need 29 bits of their 53.

const tallest = 8_000_000;

/** Where a table is scrolled to. */
export class ScrollMap {
  rowHeight;
  rows = 0;
  viewport = 0;
  top = 0;
  #last = 0;

  constructor(rowHeight) {
    this.rowHeight = rowHeight;
  }

  get height() {
    return this.rows * this.rowHeight;
  }

  /** How high the scroller's content has to be. */
  get scrollerHeight() {
    return Math.min(this.height, tallest);
  }

  get isScaled() {
    return this.height > tallest;
  }

  get #range() {
    return Math.max(0, this.height - this.viewport);
  }

  get #scrollerRange() {
    return Math.max(0, this.scrollerHeight - this.viewport);
  }

  /** The scroller's position that shows the table's. */
  get scrollerTop() {
    return this.#range === 0 ? 0 : (this.top / this.#range) * this.#scrollerRange;
  }

  /** The scroller was moved, by its bar or a finger. */
  scrolled(position) {
    const moved = position - this.#last;
    this.#last = position;
    if (!this.isScaled) this.top = position;
    else if (position <= 0) this.top = 0;
    else if (position >= this.#scrollerRange - 1) this.top = this.#range;
    else if (Math.abs(moved) < this.viewport / 2) this.#place(this.top + moved);
    else this.top = (position / this.#scrollerRange) * this.#range;
  }

  /** Moves by pixels of the table. */
  moveBy(pixels) {
    this.#place(this.top + pixels);
  }

  /** Moves as little as shows a row wholly. */
  reveal(row) {
    const start = row * this.rowHeight;
    if (start < this.top) this.#place(start);
    else if (start + this.rowHeight > this.top + this.viewport) this.#place(start + this.rowHeight - this.viewport);
  }

  /** The scroller is at this position by the table's own doing. */
  settled(position) {
    this.#last = position;
  }

  #place(top) {
    this.top = Math.min(Math.max(0, top), this.#range);
  }

  get firstRow() {
    return Math.floor(this.top / this.rowHeight);
  }

  /** How many rows are in view, also in part. */
  get rowsInView() {
    return Math.ceil(this.viewport / this.rowHeight) + 1;
  }
}
