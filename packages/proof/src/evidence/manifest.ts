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
import { sha256Hex, timestamp, typeId } from "../shapes.ts";
import { EVIDENCE_FORMAT } from "./files.ts";

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

const MANIFEST = members({
  format: oneOf(EVIDENCE_FORMAT),
  generator: nonEmptyText,
  org_id: typeId("org"),
  period: members({ from: timestamp, to: timestamp }),
  exported_at: timestamp,
  log: members({ origin: nonEmptyText, tree_size: wholeNumber, root_hash: sha256Hex }),
  files: listOf(
    members({
      path: matching((value) => typeof value === "string" && isPackPath(value), "is not a file's path"),
      size_bytes: wholeNumber,
      sha256: sha256Hex,
    }),
    { max: 2_000_000 },
  ),
});

/** Thrown for a pack of a later, unknown version. */
export class UnknownFormat extends Error {
  constructor(format: string) {
    super(`the pack's format is ${format.slice(0, 100)}, and this program knows ${EVIDENCE_FORMAT}`);
    this.name = "UnknownFormat";
  }
}

/**
 * Throws `malformed_evidence`, `malformed_json` or `malformed_utf8`, and UnknownFormat for a pack
 * of a later version.
 */
export function parseManifest(source: Uint8Array): Manifest {
  const value = parseJson(source);
  const format = isObject(value) ? value["format"] : undefined;
  if (typeof format === "string" && format !== "" && format !== EVIDENCE_FORMAT)
    throw new UnknownFormat(format);
  requireKnownShape(value, MANIFEST, "malformed_evidence", "the manifest");
  return value as unknown as Manifest;
}

/**
 * The manifest's text before its files. The files follow, one manifestLine each, and then
 * MANIFEST_END.
 */
export function manifestBegin(header: PackHeader): string {
  return `${JSON.stringify(header).slice(0, -1)},"files":[`;
}

export function manifestLine(file: PackFileEntry, isFirst: boolean): string {
  return `${isFirst ? "" : ","}\n${JSON.stringify(file)}`;
}

export const MANIFEST_END = "\n]}\n";
