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
} from "@attestore/proof";
import { LogCorruption } from "./log-corruption.ts";
import { logIdentity, logVerifier, timeVerifier, type LogIdentity, type LogKeys } from "./log-keys.ts";

/** A state of one log. Only ever one that is committed in log_heads. */
export interface Head {
  origin: string;
  size: number;
  rootHash: Hash;
}

/** What outlasts the process: see signed-heads.ts. */
export interface SignedHeadStore {
  newest(): Head[];
  /** Resolves when it is durable. */
  record(head: Head): Promise<void>;
}

export interface HeadMemory {
  signed: SignedHeadStore;
  /** The root that log_heads has for a size, or null: how a database that was set back under a running service is found. */
  committedRoot: (origin: string, size: number) => Promise<Uint8Array | null>;
  /** The size of the newest hourly head that the database has, or null: it and all before it were signed, or may be. */
  emittedSize: (origin: string) => Promise<number | null>;
}

interface Signed {
  size: number;
  rootHash: Hash;
  /** Undefined after signing failed: the next one who asks tries again. */
  note: Promise<string> | undefined;
}

/**
 * Signs heads, and refuses to fork: it keeps the newest head that was signed of each log, across restarts, and throws LogCorruption rather
 * than sign another root for that size, or any head of a log that does not have that head (any more). A head is on the disk
 * before its signature leaves. Nothing but what log_heads records is to be given to it. An older head may be signed
 * again, since an Ed25519 signature is a function of key and text: the bytes are the first time's.
 */
export class CheckpointSigner {
  readonly identity: LogIdentity;
  readonly #keys: LogKeys;
  readonly #memory: HeadMemory | null;
  readonly #timeVerifier: NoteVerifier;
  readonly #newest = new Map<string, Signed>();
  readonly #verifiers = new Map<string, NoteVerifier>();

  /** Without a memory it knows of nothing that was signed before it. */
  constructor(host: string, keys: LogKeys, memory: HeadMemory | null = null) {
    this.#keys = keys;
    this.#memory = memory;
    this.learn(memory?.signed.newest() ?? []);
    this.identity = logIdentity(host, keys);
    this.#timeVerifier = timeVerifier(this.identity);
  }

  /** Heads that somebody else says were signed: another replica, or one of the log's witnesses. */
  learn(heads: readonly Head[]): void {
    for (const { origin, size, rootHash } of heads)
      if ((this.#newest.get(origin)?.size ?? -1) < size)
        this.#newest.set(origin, { size, rootHash, note: undefined });
  }

  /** The newest head that was signed of a log, as far as is known here. */
  newestOf(origin: string): Head | null {
    const newest = this.#newest.get(origin);
    return newest === undefined ? null : { origin, size: newest.size, rootHash: newest.rootHash };
  }

  /** Throws LogCorruption if a log that stands like this is not the one whose heads were signed, grown or as it was. */
  requireExtends({ origin, size, rootHash }: Head): void {
    const newest = this.#newest.get(origin);
    if (newest === undefined || size > newest.size) return;
    if (size < newest.size) throw setBack({ origin, size }, newest);
    this.#requireSameRoot(newest, { origin, size, rootHash });
  }

  /**
   * The signed checkpoint of a head that is committed in log_heads: the newest, or any other. Throws or rejects with LogCorruption if the log
   * does not have the newest head that was signed.
   */
  sign(head: Head): Promise<string> {
    const newest = this.#newest.get(head.origin);
    if (newest === undefined || newest.size === head.size || this.#memory === null)
      return this.signGrown(head);
    return this.#signAfterLookingBack(head, newest, this.#memory);
  }

  /** The same for a log that was locked, found to extend what was signed, and grew by what is committed now. */
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

  async #signAfterLookingBack(head: Head, newest: Signed, memory: HeadMemory): Promise<string> {
    const root = await memory.committedRoot(head.origin, newest.size);
    if (root !== null && equalBytes(root, newest.rootHash)) return this.signGrown(head);
    // What came before an hourly head is in the history that was signed, and can still be proven.
    if (head.size <= ((await memory.emittedSize(head.origin)) ?? -1)) return this.#sign(head);
    throw setBack(head, newest);
  }

  /** The checkpoint with a line of `cosignature/v1` besides: that this head was there at `time_s` (POSIX seconds). */
  async signWithTime(head: Head, time_s: number): Promise<string> {
    const note = await this.sign(head);
    const message = cosignatureMessage(time_s, formatCheckpoint(head));
    const signature = await this.#keys.time.sign(message);
    return note + cosignatureLine(this.#timeVerifier, time_s, signature);
  }

  /**
   * A signed note of another text under a log's key. Refused for what could be read as a checkpoint of that log: those are signed for
   * committed heads alone.
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

  /** Its key id is a hash over name and key: worth keeping, as long as the log's newest head is. */
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
        `${origin} has two roots at ${size} leaves, and one of them is signed`,
      );
  }
}

function setBack({ origin, size }: Pick<Head, "origin" | "size">, newest: Signed): LogCorruption {
  return new LogCorruption(
    "head_regressed",
    `${origin} has ${size} leaves, but lacks the signed head of ${newest.size}: was the database set back?`,
  );
}
