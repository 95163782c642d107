import { randomUUID } from "node:crypto";
import { errorMessage } from "@attestore/host/errno";
import type { Head, CheckpointSigner, SignedHeadStore } from "../../log/checkpoints/checkpoint-signer.ts";
import { stopSetBackLogs } from "../../log/heads/stop-set-back-logs.ts";
import { unavailable } from "../../platform/errors/api-error.ts";
import { standbyWait } from "../../platform/database/standby.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { type LogHead, type Marker, MARKER, mergeHeads, printMarker } from "./marker.ts";
import { comparePair, type DatabaseOfLogs, type Pairing } from "./pairing.ts";
import { nameInstallation, readLogHeads, setPaired } from "./store.ts";

export interface InstallationOptions extends DatabaseOfLogs {
  objects: ObjectStore;
  signed: Pick<SignedHeadStore, "newest">;
  signer: CheckpointSigner;
  logger: Logger;
  /** False for a worker beside the one that pairs them and keeps the marker: it only looks. */
  isKeeper?: boolean;
  /** Names a head that an ended generation of a log had signed and lost, unless it is named. */
  nameLost?: (head: Head) => Promise<unknown>;
  /** Called with each result. */
  onState?: (state: InstallationState) => void;
}

export interface InstallationState {
  pairing: Pairing;
  /** Organisations whose logs lack a head that was signed. */
  setBack: string[];
}

/** How long deletions rely on the last comparison. */
const FRESH_MS = 30_000;
export const NOT_CHECKED: Pairing = {
  is: "held",
  reason: "not_checked",
  message: "It is not known yet whether the object store belongs to this database.",
};

/**
 * Keeps the database and the object store together. Each names the other, and the store knows how
 * far the logs had come. If they do not fit, nothing is deleted. A log that lacks a signed head
 * accepts nothing more.
 */
export class Installation {
  readonly #options: InstallationOptions;
  #state: InstallationState = { pairing: NOT_CHECKED, setBack: [] };
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<Pairing> | null = null;
  readonly #standbyHasAll: () => Promise<void>;

  constructor(options: InstallationOptions) {
    this.#options = options;
    this.#standbyHasAll = standbyWait(options.pool);
  }

  get state(): InstallationState {
    return this.#state;
  }

  /**
   * Compares the logs with the signed heads that this machine knows. Runs before anything is signed
   * or served; needs only the database.
   */
  async checkLogs(more: ReadonlyMap<string, LogHead> = new Map()): Promise<void> {
    const { pool, signed, signer, logger } = this.#options;
    const heads = headsOf(mergeHeads(logHeads(signed.newest()), more));
    const { setBack, unknown, lost } = await stopSetBackLogs(pool, heads);
    await this.#name(lost);
    signer.learn(heads);
    if (setBack.join() !== this.#state.setBack.join()) {
      if (setBack.length > 0)
        logger.error(
          { org_ids: setBack.slice(0, 20), logs: setBack.length },
          "the database was set back: it lacks signed heads of these logs, so they are read-only. Restore the newest database; see docs/operate.md",
        );
      else logger.info({}, "the logs have all their signed heads again");
    }
    if (unknown.length > 0)
      logger.warn(
        { org_ids: unknown.slice(0, 20), logs: unknown.length },
        "there are signed heads of logs that this database does not know",
      );
    this.#become({ ...this.#state, setBack });
  }

  /** Somebody else may hold such a head, and follows the log only if it is named. */
  async #name(lost: readonly Head[]): Promise<void> {
    const { nameLost, logger } = this.#options;
    if (nameLost === undefined) return;
    for (const head of lost)
      await nameLost(head).catch((error: unknown) =>
        logger.warn(
          { log: head.origin, tree_size: head.size, reason: errorMessage(error) },
          "a lost head of an ended generation is not named yet",
        ),
      );
  }

  /** The newest result of the worker that keeps the marker. */
  learn(state: InstallationState): void {
    this.#state = state;
  }

  #become(state: InstallationState): void {
    this.#state = state;
    this.#options.onState?.(state);
  }

  /**
   * Compares the database with the object store, pairs them if they are new and fit, and keeps the
   * marker up to date. Never rejects.
   */
  check(): Promise<Pairing> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  /** @throws ApiError `unavailable` unless the objects are known to belong to this database */
  async requireDeletable(): Promise<void> {
    const pairing = performance.now() - this.#checkedAt < FRESH_MS ? this.#state.pairing : await this.check();
    if (pairing.is !== "paired")
      throw unavailable(
        "Nothing is deleted, because the object store does not seem to belong to this database.",
      );
    // A failover must not bring back the record of an object that is gone.
    await this.#standbyHasAll();
  }

  async #check(): Promise<Pairing> {
    const pairing = await this.#compare().catch((error: unknown): Pairing => ({
      is: "held",
      reason: "not_checked",
      message: `The service could not find out whether the objects belong to this database: ${errorMessage(error)}`,
    }));
    this.#tell(pairing);
    this.#become({ ...this.#state, pairing });
    this.#checkedAt = performance.now();
    return pairing;
  }

  async #compare(): Promise<Pairing> {
    const { db, pool, objects, isKeeper = true } = this.#options;
    const { pairing, marker, named } = await comparePair({ db, pool }, objects);
    await this.checkLogs(marker?.signed);
    if (pairing.is === "held") return pairing;
    if (!isKeeper) return pairing.is === "paired" ? pairing : NOT_CHECKED;
    const { id } = named ?? (await nameInstallation(db, randomUUID()));
    await this.#write(id, marker);
    if (named?.paired !== true) await setPaired(db, id);
    return { is: "paired" };
  }

  async #write(installationId: string, before: Marker | null): Promise<void> {
    const { db, objects, signed } = this.#options;
    const heads = await readLogHeads(db);
    await this.#standbyHasAll();
    const marker = printMarker({
      installationId,
      heads: mergeHeads(before?.heads ?? new Map(), heads),
      signed: mergeHeads(before?.signed ?? new Map(), logHeads(signed.newest())),
    });
    if (before === null || marker !== printMarker(before)) await objects.notes.write(MARKER, marker);
  }

  #tell(pairing: Pairing): void {
    const { logger } = this.#options;
    const before = this.#state.pairing;
    if (pairing.is === "held") {
      if (before.is === "held" && before.reason === pairing.reason && before !== NOT_CHECKED) return;
      logger.error(
        { reason: pairing.reason },
        `${pairing.message} Nothing is deleted until this is fixed. Check DATABASE_URL and the bucket or objects/; "attestore-server objects adopt" shows more`,
      );
    } else if (before.is === "held" && before !== NOT_CHECKED)
      logger.info({}, "the object store belongs to this database; deletions resume");
  }
}

export function logHeads(heads: readonly Head[]): Map<string, LogHead> {
  return new Map(
    heads.map(({ origin, size, rootHash }) => [
      origin,
      { size, root: Buffer.from(rootHash).toString("hex") },
    ]),
  );
}

function headsOf(heads: ReadonlyMap<string, LogHead>): Head[] {
  return [...heads].map(([origin, { size, root }]) => ({
    origin,
    size,
    rootHash: new Uint8Array(Buffer.from(root, "hex")),
  }));
}
