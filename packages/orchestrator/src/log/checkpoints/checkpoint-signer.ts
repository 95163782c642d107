import {
  cosignatureLine,
  cosignatureMessage,
  equalBytes,
  formatCheckpoint,
  formatNote,
  noteSignatureLine,
  utf8,
  type Hash,
  type NoteVerifier,
  plural,
} from "@attestore/proof";
import { LogCorruption } from "../log-corruption.ts";
import { logIdentity, logVerifier, timeVerifier, type LogIdentity, type LogKeys } from "./log-keys.ts";

/** A state of one log that is committed in log_heads. */
export interface Head {
  origin: string;
  size: number;
  rootHash: Hash;
}

/** Survives the process: see signed-heads.ts. */
export interface SignedHeadStore {
  newest(): Head[];
  /** Resolves when it is durable. */
  record(head: Head): Promise<void>;
}

export interface HeadMemory {
  signed: SignedHeadStore;
  /**
   * The root that log_heads has for a size, or null. This detects a database that was set back
   * under a running service.
   */
  committedRoot: (origin: string, size: number) => Promise<Uint8Array | null>;
  /**
   * The size of a committed head that was certainly signed, or null; all earlier ones may have been
   * signed too. For a generation that has ended it is the remaining size, for the present one the
   * newest hourly head in the database.
   */
  signedSize: (origin: string) => Promise<number | null>;
  /** Resolves once the standby has every head that was committed when it was called. */
  standbyHasHeads: () => Promise<void>;
}

interface Signed {
  size: number;
  rootHash: Hash;
  /** Undefined after signing failed, so that the next caller tries again. */
  note: Promise<string> | undefined;
}

/**
 * Signs heads, and refuses to fork. It keeps the newest signed head of each log across restarts. It
 * throws LogCorruption rather than sign another root for that size, or any head of a log that lacks
 * that head. A head is on disk before its signature is sent. Callers pass only heads that log_heads
 * records. An older head may be signed again: an Ed25519 signature depends only on key and text, so
 * the bytes are the same.
 */
export class CheckpointSigner {
  readonly identity: LogIdentity;
  readonly #keys: LogKeys;
  readonly #memory: HeadMemory | null;
  readonly #timeVerifier: NoteVerifier;
  readonly #newest = new Map<string, Signed>();
  readonly #verifiers = new Map<string, NoteVerifier>();

  /** Without `memory` it does not know which heads were signed before it started. */
  constructor(host: string, keys: LogKeys, memory: HeadMemory | null = null) {
    this.#keys = keys;
    this.#memory = memory;
    this.learn(memory?.signed.newest() ?? []);
    this.identity = logIdentity(host, keys);
    this.#timeVerifier = timeVerifier(this.identity);
  }

  /** Takes over heads that another replica or a witness of the log has seen signed. */
  learn(heads: readonly Head[]): void {
    for (const { origin, size, rootHash } of heads)
      if ((this.#newest.get(origin)?.size ?? -1) < size)
        this.#newest.set(origin, { size, rootHash, note: undefined });
  }

  /** The newest signed head of a log that this process knows. */
  newestOf(origin: string): Head | null {
    const newest = this.#newest.get(origin);
    return newest === undefined ? null : { origin, size: newest.size, rootHash: newest.rootHash };
  }

  /**
   * Throws LogCorruption unless a log in this state extends, or equals, the log whose heads were
   * signed.
   */
  requireExtends({ origin, size, rootHash }: Head): void {
    const newest = this.#newest.get(origin);
    if (newest === undefined || size > newest.size) return;
    if (size < newest.size) throw setBack({ origin, size }, newest);
    this.#requireSameRoot(newest, { origin, size, rootHash });
  }

  /**
   * The signed checkpoint of any head that is committed in log_heads. A head that nobody is known
   * to have signed is signed once the standby has it, so that no failover contradicts the
   * signature. Throws or rejects with LogCorruption if the log lacks the newest signed head.
   */
  sign(head: Head): Promise<string> {
    const newest = this.#newest.get(head.origin);
    if (newest?.size === head.size || this.#memory === null) return this.signGrown(head);
    return this.#signFound(head, this.#memory);
  }

  /**
   * The same for a log that was locked, was found to extend the signed heads, and has just
   * committed more.
   */
  signGrown(head: Head): Promise<string> {
    const newest = this.#newest.get(head.origin);
    if (newest?.size === head.size) {
      this.#requireSameRoot(newest, head);
      if (newest.note !== undefined) return newest.note;
    }
    const note = this.#sign(head);
    if (newest === undefined || head.size >= newest.size) {
      const signed: Signed = { size: head.size, rootHash: head.rootHash, note };
      this.#newest.set(head.origin, signed);
      note.catch(() => {
        signed.note = undefined;
      });
    }
    return note;
  }

  async #signFound(head: Head, memory: HeadMemory): Promise<string> {
    if (head.size > (this.#newest.get(head.origin)?.size ?? -1)) await memory.standbyHasHeads();
    const newest = this.#newest.get(head.origin);
    if (newest === undefined || newest.size === head.size) return this.signGrown(head);
    const root = await memory.committedRoot(head.origin, newest.size);
    if (root !== null && equalBytes(root, newest.rootHash)) return this.signGrown(head);
    // A head before that one is part of the signed history and can still be proven.
    if (head.size <= ((await memory.signedSize(head.origin)) ?? -1)) return this.#sign(head);
    throw setBack(head, newest);
  }

  /** The checkpoint with a `cosignature/v1` line: this head existed at `time_s` (POSIX seconds). */
  async signWithTime(head: Head, time_s: number): Promise<string> {
    const note = await this.sign(head);
    const message = cosignatureMessage(time_s, formatCheckpoint(head));
    const signature = await this.#keys.time.sign(message);
    return note + cosignatureLine(this.#timeVerifier, time_s, signature);
  }

  /**
   * Signs a note with another text under a log's key. Refuses a text that could be read as a
   * checkpoint of that log, because checkpoints are signed only for committed heads.
   */
  async signText(origin: string, text: string): Promise<string> {
    if (text.startsWith(`${origin}\n`)) throw new TypeError("heads are signed by sign() alone");
    const signature = await this.#keys.note.sign(utf8(text));
    return formatNote(text, [noteSignatureLine(this.#verifierOf(origin), signature)]);
  }

  async #sign(head: Head): Promise<string> {
    const text = formatCheckpoint(head);
    const [signature] = await Promise.all([
      this.#keys.note.sign(utf8(text)),
      this.#memory?.signed.record(head),
    ]);
    return `${text}\n${noteSignatureLine(this.#verifierOf(head.origin), signature)}`;
  }

  /** Kept with the log's newest head, because the key id is a hash over name and key. */
  #verifierOf(origin: string): NoteVerifier {
    const known = this.#verifiers.get(origin);
    if (known !== undefined) return known;
    const verifier = logVerifier(this.identity, origin);
    this.#verifiers.set(origin, verifier);
    return verifier;
  }

  #requireSameRoot(newest: Signed, { origin, size, rootHash }: Head): void {
    if (!equalBytes(newest.rootHash, rootHash))
      throw new LogCorruption(
        "head_forked",
        `${origin} has two roots at ${plural(size, "leaf", "leaves")}, and one of them is signed`,
      );
  }
}

function setBack({ origin, size }: Pick<Head, "origin" | "size">, newest: Signed): LogCorruption {
  return new LogCorruption(
    "head_regressed",
    `${origin} has ${plural(size, "leaf", "leaves")}, but lacks the signed head of ${newest.size}: was the database set back?`,
  );
}
