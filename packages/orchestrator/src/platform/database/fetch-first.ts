import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What a reading transaction needs is not in the database. `readInOrg` ends the transaction, so
 * that none of the few connections waits for another server, fetches it, and reads again.
 */
export class FetchFirst extends Error {
  readonly fetch: () => Promise<void>;

  constructor(fetch: () => Promise<void>) {
    super("something has to be fetched first");
    this.name = "FetchFirst";
    this.fetch = fetch;
  }
}

const kept = new AsyncLocalStorage<Map<string, Buffer>>();

/** While this runs, `fetched()` is one map: what was fetched for it, until all of it is there. */
export function keepingFetched<T>(run: () => Promise<T>): Promise<T> {
  return kept.run(new Map(), run);
}

/** What was fetched for the present transaction, by name. */
export function fetched(): Map<string, Buffer> | undefined {
  return kept.getStore();
}
