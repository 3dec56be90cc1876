// Follows the store while others write: asks for the commit after the last one known, again and again. The server
// holds each question until there is one, or for half a minute. A page that nobody sees does not ask: browsers allow a
// server six connections in all, which as many tabs would use up.

import { get, ApiError } from "./api.js";

/** What has been committed since the page read the store. */
export class News {
  #known;
  #tell;

  constructor(commit, tell) {
    this.#known = commit;
    this.#tell = tell;
  }

  /** How many commits there are that the page does not show. */
  behind(commit) {
    return commit - this.#known;
  }

  /** The page shows the state of this commit now. */
  know(commit) {
    this.#known = Math.max(this.#known, commit);
    this.#tell(this.#known);
  }

  /** Asks until the studio has ended. */
  async follow() {
    let last = this.#known;
    for (;;) {
      await inView();
      const asking = new AbortController();
      const hide = () => document.hidden && asking.abort();
      document.addEventListener("visibilitychange", hide);
      try {
        const { commit } = await get("news", { after: last }, { signal: asking.signal });
        if (commit > last) {
          last = commit;
          this.#tell(commit);
        }
      } catch (error) {
        if (error.name === "AbortError") continue;
        if (!(error instanceof ApiError)) {
          this.#tell(null);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 5000));
      } finally {
        document.removeEventListener("visibilitychange", hide);
      }
    }
  }
}

// Waits until somebody sees the page.
const inView = () => new Promise((resolve) => {
  if (!document.hidden) resolve();
  else document.addEventListener("visibilitychange", () => resolve(inView()), { once: true });
});
