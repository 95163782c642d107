import {
  HASH_SIZE,
  PACK_FILES,
  type PackHeader,
  plural,
  ProofError,
  sha256,
  UnknownFormat,
} from "@attestore/proof";
import { ZipError } from "../../zip/zip-error.ts";
import type { ZipReader } from "../../zip/zip-reader.ts";
import type { Findings, PackCheckId } from "../findings.ts";
import { type Listed, readManifest } from "./read-manifest.ts";

/** The size limit for files that nothing here parses. */
const MAX_OTHER = 64 * 1024 * 1024;

/**
 * The files of a pack. Each is compared with the manifest whenever it is read, so that what is read
 * twice is the same. In memory a file takes the 32 bytes of its digest besides what the ZIP's
 * reader has of it.
 */
export class PackFiles {
  readonly manifest: PackHeader;
  readonly manifestSha256: string;
  readonly #zip: ZipReader;
  readonly #findings: Findings;
  readonly #listed: Listed;
  readonly #isRead: Uint8Array;
  readonly #isReported: Uint8Array;
  #isOfLaterVersion = false;

  private constructor(zip: ZipReader, findings: Findings, header: PackHeader, listed: Listed) {
    this.#zip = zip;
    this.#findings = findings;
    this.manifest = header;
    this.manifestSha256 = listed.manifestSha256;
    this.#listed = listed;
    this.#isRead = new Uint8Array(zip.count);
    this.#isReported = new Uint8Array(zip.count);
  }

  /** Null, with a finding, if there is no readable manifest. */
  static async open(zip: ZipReader, findings: Findings): Promise<PackFiles | null> {
    try {
      const { header, listed, findings: found } = await readManifest(zip);
      findings.takeOver(found);
      return new PackFiles(zip, findings, header, listed);
    } catch (error) {
      if (error instanceof UnknownFormat) findings.leaveOpen("manifest", error.message);
      else findings.fail("manifest", reasonOf(error));
      return null;
    }
  }

  /** How many files the pack has. Each has a number below that, in the order of the paths. */
  get count(): number {
    return this.#zip.count;
  }

  /** Numbers of the files whose paths begin like this. */
  below(prefix: string): Iterable<number> {
    return this.#zip.below(prefix);
  }

  pathAt(file: number): string {
    return this.#zip.pathAt(file);
  }

  /** -1 if there is no such file. */
  find(path: string): number {
    return this.#zip.find(path);
  }

  has(path: string): boolean {
    return this.#zip.has(path);
  }

  /** Throws ZipError. Adds a finding if the file differs from the manifest. */
  async read(path: string, limit: number): Promise<Uint8Array> {
    const file = this.#zip.find(path);
    if (file !== -1) this.#isRead[file] = 1;
    const bytes = await this.#zip.read(path, limit);
    if (path !== PACK_FILES.manifestNote && this.#differs(file, bytes) && this.#isReported[file] === 0) {
      this.#isReported[file] = 1;
      this.#findings.fail("manifest", `${path} differs from the file in the manifest`);
    }
    return bytes;
  }

  /**
   * Whether something was read whose version this program does not know. Then nobody can tell what
   * follows from it.
   */
  get isOfLaterVersion(): boolean {
    return this.#isOfLaterVersion;
  }

  /**
   * Leaves `check` open if a later version may know more; fails it if something is wrong. Errors
   * that the pack's bytes did not cause are thrown again.
   */
  refuse(findings: Findings, check: PackCheckId, what: string, error: unknown): void {
    const why = what === "" ? reasonOf(error) : `${what}: ${reasonOf(error)}`;
    if (error instanceof ProofError && error.code === "unknown_version") {
      this.#isOfLaterVersion = true;
      findings.leaveOpen(check, why);
    } else findings.fail(check, why);
  }

  /**
   * Reads and parses a file. Returns null and adds a finding of `check` if the file is missing,
   * malformed or of a later version.
   */
  async parsed<T>(
    check: PackCheckId,
    path: string,
    limit: number,
    parse: (bytes: Uint8Array) => T | Promise<T>,
  ): Promise<T | null> {
    try {
      return await parse(await this.read(path, limit));
    } catch (error) {
      this.refuse(this.#findings, check, path, error);
      return null;
    }
  }

  /** Also compares the files that nobody read. */
  async compareRest(): Promise<void> {
    for (let file = 0; file < this.count; file += 1)
      if (this.#isRead[file] === 0 && this.#listed.isListed[file] === 1)
        await this.parsed("manifest", this.pathAt(file), MAX_OTHER, () => null);
    this.#findings.hold(
      "manifest",
      `${plural(this.#listed.count, "file matches", "files match")} the manifest's SHA-256`,
    );
  }

  /** What the manifest does not list is another finding. */
  #differs(file: number, bytes: Uint8Array): boolean {
    const { isListed, hasOtherSize, digests } = this.#listed;
    if (isListed[file] !== 1) return false;
    if (hasOtherSize[file] === 1) return true;
    const digest = sha256(bytes);
    for (let at = 0; at < HASH_SIZE; at += 1) if (digest[at] !== digests[file * HASH_SIZE + at]) return true;
    return false;
  }
}

/** Errors that a pack's own bytes caused. Any other error is a bug and is thrown again. */
export function reasonOf(error: unknown): string {
  if (error instanceof ProofError || error instanceof ZipError) return error.message;
  throw error;
}
