import { errorMessage } from "@attestore/host/errno";
import type { Logger } from "./logger.ts";

/**
 * For work that is done again and again: logs once that it fails, and once that it works again.
 * Without a database it fails every second, and a log full of that hides the reason, or fills the
 * disk that the database has to have.
 */
export class TroubleLog {
  readonly #logger: Logger;
  readonly #messages: { readonly fails: string; readonly works: string };
  #isFailing = false;

  constructor(logger: Logger, messages: { readonly fails: string; readonly works: string }) {
    this.#logger = logger;
    this.#messages = messages;
  }

  failed(error: unknown): void {
    if (!this.#isFailing) this.#logger.warn({ reason: errorMessage(error) }, this.#messages.fails);
    this.#isFailing = true;
  }

  worked(): void {
    if (this.#isFailing) this.#logger.info({}, this.#messages.works);
    this.#isFailing = false;
  }
}
