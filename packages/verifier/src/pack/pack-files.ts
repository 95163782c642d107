import {
  type Manifest,
  PACK_FILES,
  parseManifest,
  type PackFileEntry,
  ProofError,
  UnknownFormat,
  plural,
  sha256,
  toHex,
} from "@attestore/proof";
import { ZipError } from "../zip/zip-error.ts";
import type { ZipReader } from "../zip/zip-reader.ts";
import type { Findings, PackCheckId } from "./findings.ts";

/** A line of the manifest: a path of at most 200 characters, a size and a digest. */
const MAX_LINE = 400;
/** The JSON around the lines. */
const MAX_HEADER = 4096;
/** The size limit for files that nothing here parses. */
const MAX_OTHER = 64 * 1024 * 1024;

/** The files of a pack. Each is compared with the manifest when it is read. */
export class PackFiles {
  readonly manifest: Manifest;
  readonly manifestSha256: string;
  readonly #zip: ZipReader;
  readonly #findings: Findings;
  readonly #entries: ReadonlyMap<string, PackFileEntry>;
  readonly #read = new Set<string>();
  #isOfLaterVersion = false;

  private constructor(zip: ZipReader, findings: Findings, bytes: Uint8Array) {
    this.#zip = zip;
    this.#findings = findings;
    this.manifest = parseManifest(bytes);
    this.manifestSha256 = toHex(sha256(bytes));
    this.#entries = new Map(this.manifest.files.map((entry) => [entry.path, entry]));
  }

  /** Null, with a finding, if there is no readable manifest. */
  static async open(zip: ZipReader, findings: Findings): Promise<PackFiles | null> {
    try {
      // No more than the pack's files need: hundreds of kilobytes may unpack to hundreds of
      // megabytes, and as JSON these take gigabytes.
      const limit = MAX_HEADER + MAX_LINE * zip.paths().length;
      const files = new PackFiles(zip, findings, await zip.read(PACK_FILES.manifest, limit));
      files.#compareNames();
      return files;
    } catch (error) {
      if (error instanceof UnknownFormat) findings.leaveOpen("manifest", error.message);
      else findings.fail("manifest", reasonOf(error));
      return null;
    }
  }

  /** In the order of the ZIP. */
  paths(): string[] {
    return this.#zip.paths();
  }

  has(path: string): boolean {
    return this.#zip.has(path);
  }

  /** Throws ZipError. Adds a finding if the file differs from the manifest. */
  async read(path: string, limit: number): Promise<Uint8Array> {
    this.#read.add(path);
    const bytes = await this.#zip.read(path, limit);
    const entry = this.#entries.get(path);
    if (path === PACK_FILES.manifestNote) return bytes;
    if (entry !== undefined && (entry.size_bytes !== bytes.length || entry.sha256 !== toHex(sha256(bytes))))
      this.#findings.fail("manifest", `${path} differs from the file in the manifest`);
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
    for (const path of this.#entries.keys())
      if (!this.#read.has(path) && this.#zip.has(path))
        await this.parsed("manifest", path, MAX_OTHER, () => null);
    this.#findings.hold(
      "manifest",
      `${plural(this.#entries.size, "file matches", "files match")} the manifest's SHA-256`,
    );
  }

  #compareNames(): void {
    const besides: string[] = [PACK_FILES.manifest, PACK_FILES.manifestNote];
    if (this.#entries.size !== this.manifest.files.length)
      this.#findings.fail("manifest", "it lists a file twice");
    for (const path of this.#entries.keys())
      if (besides.includes(path) || !this.#zip.has(path))
        this.#findings.fail("manifest", `${path} is in the manifest but not in the pack`);
    for (const path of this.#zip.paths())
      if (!besides.includes(path) && !this.#entries.has(path))
        this.#findings.fail("manifest", `${path} is in the pack but not in the manifest`);
  }
}

/** Errors that a pack's own bytes caused. Any other error is a bug and is thrown again. */
export function reasonOf(error: unknown): string {
  if (error instanceof ProofError || error instanceof ZipError) return error.message;
  throw error;
}
