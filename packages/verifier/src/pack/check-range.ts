import {
  CompactRange,
  decodeEntryBundle,
  DRAW_DECLARED,
  entriesFile,
  equalBytes,
  hashFromHex,
  type Leaf,
  leafHash,
  type LogRange,
  type Manifest,
  PACK_FILES,
  parseLeaf,
  parseLogRange,
  ProofError,
  TILE_WIDTH,
  toHex,
  verifyConsistency,
} from "@attestore/proof";
import type { PackLog } from "./pack-log.ts";
import { requireNamed } from "./check-generations.ts";
import { checkPeriod } from "./check-period.ts";
import { EntryTimes, readClockEvents } from "./entry-times.ts";
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./pack-files.ts";

const MAX_RANGE = 1024 * 1024;
/** 256 leaves of the largest size. */
const MAX_ENTRIES = TILE_WIDTH * (65_535 + 2);

export interface RangeLeaf {
  index: number;
  leaf: Leaf;
}

export interface CheckedRange {
  range: LogRange;
  /** Everything recorded from the period's beginning to bodies_until, by id, in log order. */
  leaves: Map<string, RangeLeaf>;
  /** What the range's other leaves cover. */
  otherBodies: Set<string>;
  /**
   * Hex root of the log at the requested sizes that the range reaches, and at the checkpoint's
   * size.
   */
  roots: Map<number, string>;
  /** The hex root of the tree that ends with a draw's declaration, by its index. */
  drawRoots: Map<number, string>;
}

/**
 * Checks that the pack has every leaf of its range. The leaves and the left edge give a root, which
 * must be the checkpoint's or the beginning of its tree. A leaf that was removed, added or changed
 * would give another root.
 */
export async function checkRange(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  sizes: ReadonlySet<number> = new Set(),
): Promise<CheckedRange | null> {
  const range = await files.parsed("range", PACK_FILES.range, MAX_RANGE, (bytes) => {
    const parsed = parseLogRange(bytes);
    requireBounds(parsed, log);
    return parsed;
  });
  if (range === null) return null;
  const leaves = new Map<string, RangeLeaf>();
  const otherBodies = new Set<string>();
  const roots = new Map([[log.size, toHex(log.rootHash)]]);
  const drawRoots = new Map<number, string>();
  try {
    const tree = CompactRange.from(range.from_index, range.left_edge.map(hashFromHex));
    const times = new EntryTimes(range, files.manifest);
    for (let first = range.from_index; first < range.to_index; first += TILE_WIDTH) {
      const count = Math.min(TILE_WIDTH, range.to_index - first);
      const path = entriesFile(first, count);
      const entries = decodeEntryBundle(await files.read(path, MAX_ENTRIES), count);
      for (const [n, bytes] of entries.entries()) {
        tree.append(leafHash(bytes));
        if (sizes.has(first + n + 1)) roots.set(first + n + 1, toHex(tree.root()));
        const leaf = knownLeaf(bytes, first + n, files, findings);
        if (leaf === null) continue;
        if (leaf.kind === DRAW_DECLARED) drawRoots.set(first + n, toHex(tree.root()));
        const placed = { index: first + n, leaf };
        requireOfOrg(placed, files.manifest);
        requireNamed(findings, log.generations, placed);
        times.look(placed);
        if (isRecordedWithin(placed.leaf, range, files.manifest)) add(leaves, placed);
        else otherBodies.add(placed.leaf.body_sha256);
      }
    }
    requireExpectedTiles(files, range);
    requireRoot(tree, range, log);
    findings.hold(
      "range",
      `leaves ${range.from_index} to ${range.to_index - 1} give root ${toHex(tree.root())}${range.to_index === log.size ? "" : ", the beginning of the log"}`,
    );
    await checkPeriod(
      files,
      findings,
      log,
      range,
      times.judge(await readClockEvents(files, times.clockEvents)),
    );
    return { range, leaves, otherBodies, roots, drawRoots };
  } catch (error) {
    files.refuse(findings, "range", "", error);
    return null;
  }
}

/**
 * Null for a leaf of a later version: it counts for the root, but its meaning is unknown. Throws
 * ProofError.
 */
function knownLeaf(bytes: Uint8Array, index: number, files: PackFiles, findings: Findings): Leaf | null {
  try {
    return parseLeaf(bytes);
  } catch (error) {
    if (!(error instanceof ProofError) || error.code !== "unknown_version") throw error;
    files.refuse(findings, "complete", `leaf ${index}`, error);
    return null;
  }
}

function requireBounds({ from_index, to_index, bodies_until }: LogRange, { size }: PackLog): void {
  if (from_index % TILE_WIDTH !== 0 || from_index > to_index || to_index > size)
    refuse(`leaves ${from_index} to ${to_index} are not a range of a log of ${size}`);
  if (bodies_until === "") refuse("it does not say up to when the pack has bodies");
}

function requireOfOrg({ index, leaf }: RangeLeaf, { org_id }: Manifest): void {
  if (leaf.org_id !== org_id) refuse(`leaf ${index} belongs to ${leaf.org_id}`);
}

export function isRecordedWithin(leaf: Leaf, { bodies_until }: LogRange, { period }: Manifest): boolean {
  return leaf.recorded_at >= period.from && leaf.recorded_at < bodies_until;
}

function add(leaves: Map<string, RangeLeaf>, placed: RangeLeaf): void {
  if (leaves.has(placed.leaf.id)) refuse(`${placed.leaf.id} appears in two leaves`);
  leaves.set(placed.leaf.id, placed);
}

/** Checks that the pack has no other tile, which somebody might take for part of the log. */
function requireExpectedTiles(files: PackFiles, { from_index, to_index }: LogRange): void {
  const expected = Math.ceil((to_index - from_index) / TILE_WIDTH);
  const found = files.paths().filter((path) => path.startsWith("log/tile/")).length;
  if (found !== expected) refuse(`the pack has ${found} tiles, but the range needs ${expected}`);
}

function requireRoot(tree: CompactRange, { to_index, to_head }: LogRange, { size, rootHash }: PackLog): void {
  if (to_index === size) {
    if (!equalBytes(tree.root(), rootHash))
      refuse(`the leaves give root ${toHex(tree.root())}, but the checkpoint has ${toHex(rootHash)}`);
    return;
  }
  // Every tree extends the tree without leaves.
  if (to_index === 0) return;
  verifyConsistency({
    from: BigInt(to_index),
    to: BigInt(size),
    fromRoot: tree.root(),
    toRoot: rootHash,
    hashes: to_head.map(hashFromHex),
  });
}

function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}
