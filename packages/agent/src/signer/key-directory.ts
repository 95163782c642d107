import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory, moveFile, removeFile, replaceFile } from "@attestore/host/durable-files";
import { readText } from "../state/read-json.ts";
import { ensureSigningKeyFile, readSigningKeyFile } from "./signing-key-file.ts";
import type { SigningKey, SigningKeys } from "./signing-key.ts";

/** The keys as files in a directory: the root's `keys/`, or the signing process's own. */
export class KeyDirectory implements SigningKeys {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  current(): Promise<SigningKey> {
    return readSigningKeyFile(this.#current);
  }

  ensure(): Promise<SigningKey> {
    return ensureSigningKeyFile(this.#current);
  }

  next(): Promise<SigningKey> {
    return ensureSigningKeyFile(this.#next);
  }

  /** Null before a rotation begins. */
  async preparedNext(): Promise<SigningKey | null> {
    return existsSync(this.#next) ? readSigningKeyFile(this.#next) : null;
  }

  /**
   * The old half is on disk under its other name before the rename, which is the one moment at
   * which the key in use changes.
   */
  async takeNext(old: SigningKey, next: SigningKey): Promise<void> {
    const current = await this.current();
    if (current.fingerprint === next.fingerprint) return;
    const prepared = await this.preparedNext();
    if (current.fingerprint !== old.fingerprint || prepared?.fingerprint !== next.fingerprint)
      throw new Error("these are not the key in use and the next one");
    await makeDirectory(join(this.#directory, "retired"));
    const privateHalf = await readText(this.#current);
    if (privateHalf !== null) await replaceFile(this.#retired(old.fingerprint), privateHalf);
    await moveFile(this.#next, this.#current);
  }

  async takeBack(fingerprint: string): Promise<void> {
    if ((await this.current()).fingerprint === fingerprint) return;
    await moveFile(this.#retired(fingerprint), this.#current);
  }

  forget(fingerprint: string): Promise<void> {
    return removeFile(this.#retired(fingerprint));
  }

  get #current(): string {
    return join(this.#directory, "agent.key");
  }

  get #next(): string {
    return join(this.#directory, "agent.next.key");
  }

  #retired(fingerprint: string): string {
    return join(this.#directory, "retired", `${retiredName(fingerprint)}.key`);
  }
}

/** The files of both halves. */
export function retiredName(fingerprint: string): string {
  return fingerprint.replace("SHA256:", "").replaceAll("/", "_");
}
