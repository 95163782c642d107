import {
  listOf,
  matching,
  members,
  nonEmptyText,
  oneOf,
  requireKnownShape,
  wholeNumber,
} from "../json/shape.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { ListSplitter } from "../json/list-splitter.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex, timestamp, typeId } from "../shapes.ts";
import { EVIDENCE_FORMAT } from "./pack-files.ts";

/** The subject of a pack. `to` is exclusive. */
export interface PackHeader {
  format: typeof EVIDENCE_FORMAT;
  /** Name and version of the program that made the pack. */
  generator: string;
  org_id: string;
  period: { from: string; to: string };
  exported_at: string;
  log: { origin: string; tree_size: number; root_hash: string };
}

export interface PackFileEntry {
  path: string;
  size_bytes: number;
  sha256: string;
}

/** manifest.json: every file of the pack except itself and its signed note, in ZIP order. */
export interface Manifest extends PackHeader {
  files: PackFileEntry[];
}

const PATH = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;

/** Whether this may be the path of a file in a pack: relative, plain ASCII, and without `..`. */
export function isPackPath(path: string): boolean {
  return path.length <= 200 && PATH.test(path);
}

const FILE = members({
  path: matching((value) => typeof value === "string" && isPackPath(value), "is not a file's path"),
  size_bytes: wholeNumber,
  sha256: sha256Hex,
});

const MANIFEST = members({
  format: oneOf(EVIDENCE_FORMAT),
  generator: nonEmptyText,
  org_id: typeId("org"),
  period: members({ from: timestamp, to: timestamp }),
  exported_at: timestamp,
  log: members({ origin: nonEmptyText, tree_size: wholeNumber, root_hash: sha256Hex }),
  // Those that the reader has taken out.
  files: listOf(FILE, { max: 0 }),
});

const MAX_FILES = 2_000_000;
/** Of all that is not in the list of files. */
const MAX_REST = 1024 * 1024;
const MAX_FILE = 64 * 1024;

/** Thrown for a pack of a later, unknown version. */
export class UnknownFormat extends Error {
  constructor(format: string) {
    super(`the pack's format is ${format.slice(0, 100)}, and this program knows ${EVIDENCE_FORMAT}`);
    this.name = "UnknownFormat";
  }
}

/**
 * Parses a manifest whose bytes come some at a time, and keeps none of its files: a manifest has a
 * line for each file of a pack. What it returns counts only after `end`.
 */
export class ManifestReader {
  readonly #parts = new ListSplitter("files", { item: MAX_FILE, rest: MAX_REST });
  #files = 0;
  /** What was wrong in a file, which does not matter in a pack of a later version. */
  #wrong: unknown = null;

  /** The files whose lines end in these bytes. Throws `malformed_evidence`. */
  add(bytes: Uint8Array): PackFileEntry[] {
    return this.#parts.add(bytes).flatMap((item) => {
      try {
        return this.#wrong === null ? [this.#parsed(item)] : [];
      } catch (error) {
        this.#wrong = error;
        return [];
      }
    });
  }

  /**
   * Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`, and UnknownFormat for a pack
   * of a later version.
   */
  end(): PackHeader {
    const value = parseJson(this.#parts.end());
    const format = isObject(value) ? value["format"] : undefined;
    if (typeof format === "string" && format !== "" && format !== EVIDENCE_FORMAT)
      throw new UnknownFormat(format);
    if (this.#wrong !== null) throw this.#wrong;
    requireKnownShape(value, MANIFEST, "malformed_evidence", "the manifest");
    const { files: _, ...header } = value as unknown as Manifest;
    return header;
  }

  #parsed(item: Uint8Array): PackFileEntry {
    this.#files += 1;
    if (this.#files > MAX_FILES)
      throw new ProofError("malformed_evidence", "the manifest has too many files");
    const value = parseJson(item);
    requireKnownShape(value, FILE, "malformed_evidence", "a file of the manifest");
    return value as unknown as PackFileEntry;
  }
}

/**
 * Parses a whole manifest. Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`, and
 * UnknownFormat for a pack of a later version.
 */
export function parseManifest(source: Uint8Array): Manifest {
  const reader = new ManifestReader();
  const files = reader.add(source);
  return { ...reader.end(), files };
}

/**
 * The manifest's text before its files. The files follow, one manifestLine each, and then
 * MANIFEST_END.
 */
export function manifestBegin(header: PackHeader): string {
  return `${JSON.stringify(header).slice(0, -1)},"files":[`;
}

/** A file's line between manifestBegin and MANIFEST_END. */
export function manifestLine(file: PackFileEntry, isFirst: boolean): string {
  return `${isFirst ? "" : ","}\n${JSON.stringify(file)}`;
}

export const MANIFEST_END = "\n]}\n";
