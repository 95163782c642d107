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
