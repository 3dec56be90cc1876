// The rows of a listing, fetched page by page as they come into view.
//
//   1. What is wanted is told by `want`: pages in view are asked for at once, requests for pages that have left the
//      view are cancelled.
//   2. A bounded number of pages is kept; the longest unused is given up first.
//   3. A failed page is told once and asked for again when it is wanted next.

import { get } from "../app/api.js";

/** How many rows are asked for at once. */
export const pageSize = 100;
const pagesKept = 60;

/** The pages of one listing: an entity, a condition, an order, columns. */
export class RowPages {
  #listing;
  #pages = new Map();
  #requests = new Map();
  #arrived;
  #failed;

  constructor(listing, { arrived, failed, signal }) {
    this.#listing = listing;
    this.#arrived = arrived;
    this.#failed = failed;
    signal.addEventListener("abort", () => this.#cancel(() => true));
  }

  /** The row, or nothing while it is on its way. */
  row(index) {
    return this.#pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  /** All rows that are here: what completion offers values from. */
  *here() {
    for (const page of this.#pages.values()) yield* page;
  }

  /** Asks for the rows from `first` up to `last`. */
  want(first, last) {
    const pages = [];
    for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page += 1) pages.push(page);
    this.#cancel((page) => !pages.includes(page));
    for (const page of pages) {
      const held = this.#pages.get(page);
      if (held) {
        this.#pages.delete(page);
        this.#pages.set(page, held);
      } else if (!this.#requests.has(page)) this.#fetch(page);
    }
  }

  async #fetch(page) {
    const request = new AbortController();
    this.#requests.set(page, request);
    try {
      const answer = await get("rows", { ...this.#listing, from: page * pageSize, count: pageSize }, { signal: request.signal });
      this.#pages.set(page, answer.rows);
      for (const oldest of this.#pages.keys()) {
        if (this.#pages.size <= pagesKept) break;
        this.#pages.delete(oldest);
      }
      this.#requests.delete(page);
      this.#arrived(page * pageSize, answer);
    } catch (error) {
      if (this.#requests.get(page) === request) this.#requests.delete(page);
      if (error.name !== "AbortError") this.#failed(error);
    }
  }

  #cancel(unwanted) {
    for (const [page, request] of this.#requests) {
      if (!unwanted(page)) continue;
      request.abort();
      this.#requests.delete(page);
    }
  }
}
