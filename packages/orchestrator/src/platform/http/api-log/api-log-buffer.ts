import type { Database } from "../../database/schema.ts";
import type { Logger } from "../../logging/logger.ts";
import { writeApiLogRows, type ApiLogRow } from "./api-log-row.ts";

const MAX_WAITING = 20_000;
const BATCH = 500;
const FLUSH_MS = 1000;

/**
 * The API log rows of calls that changed nothing: collected and written a few hundred at a time, up
 * to a second later. A crash loses that second. This is allowed here and nowhere else: a call with
 * an effect has its row in the effect's transaction.
 */
export class ApiLogBuffer {
  readonly #db: Database;
  readonly #logger: Logger;
  #waiting: ApiLogRow[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  record(row: ApiLogRow): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(row);
    if (this.#waiting.length >= BATCH) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes the waiting rows. Never rejects: rows that cannot be written wait for the next time. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        await writeApiLogRows(this.#db, batch);
      } catch (error) {
        this.#waiting.unshift(...batch);
        this.#logger.warn(
          { err: error, waiting: this.#waiting.length },
          "rows of the API log could not be written; trying again",
        );
        this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
        return;
      }
    }
    if (this.#dropped > 0) {
      this.#logger.error(
        { dropped: this.#dropped },
        "rows of the API log for reads were dropped while the database was away",
      );
      this.#dropped = 0;
    }
  }
}
