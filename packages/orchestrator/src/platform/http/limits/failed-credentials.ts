import { plural } from "@attestore/proof";
import { clientNetwork } from "./client-network.ts";
import { ApiError } from "../../errors/api-error.ts";

/**
 * How many unknown credentials an address may send in a minute before its next calls are refused
 * without a look.
 */
export const MOST_FAILURES = 600;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 100_000;

/**
 * Counts refused credentials by address, in this process. Each costs a look into the database,
 * which an address that keeps guessing does not get. The refusal comes before the body is read.
 */
export class FailedCredentials {
  readonly #most: number;
  readonly #addresses = new Map<string, { failures: number; ends: number }>();

  constructor(most = MOST_FAILURES) {
    this.#most = most;
  }

  /** @throws ApiError `rate_limited` */
  require(address: string): void {
    const found = this.#running(clientNetwork(address));
    if (found === null || found.failures < this.#most) return;
    const wait_s = Math.max(1, Math.ceil((found.ends - performance.now()) / 1000));
    throw new ApiError(
      "rate_limited",
      `Too many credentials from this address were refused. Try again in ${plural(wait_s, "second")}.`,
      { retry_after_s: wait_s },
      { "retry-after": String(wait_s) },
    );
  }

  count(address: string): void {
    const network = clientNetwork(address);
    const found = this.#running(network);
    if (found !== null) {
      found.failures += 1;
      return;
    }
    if (this.#addresses.size >= MAX_ADDRESSES) this.#addresses.clear();
    this.#addresses.set(network, { failures: 1, ends: performance.now() + WINDOW_MS });
  }

  #running(network: string): { failures: number; ends: number } | null {
    const found = this.#addresses.get(network);
    return found === undefined || found.ends <= performance.now() ? null : found;
  }
}
