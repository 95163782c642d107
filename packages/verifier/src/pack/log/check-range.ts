import {
  CLOCK_WENT_BACK,
  CompactRange,
  DRAW_DECLARED,
  equalBytes,
  hashFromHex,
  isServiceLeaf,
  type Leaf,
  leafHash,
  type LogRange,
  PACK_FILES,
  type PackHeader,
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
import { type ClockLeaf, EntryTimes, readClockEvents } from "../files/entry-times.ts";
import { Findings } from "../findings.ts";
import type { PackFiles } from "../files/pack-files.ts";
import { fileOfLeaf, Placement, RootsByIndex } from "../files/placement.ts";
import { leafBytes, leavesAgain, type RangeLeaf } from "../files/range-leaves.ts";

const MAX_RANGE = 1024 * 1024;

export interface CheckedRange {
  range: LogRange;
  /** The files of everything recorded from the period's beginning to bodies_until. */
  placement: Placement;
  /** How many leaves that is. */
  count: number;
  /** Those of these leaves whose files are missing. */
  missing: Findings;
  /** These leaves by id, in log order; null if no other pack is compared with this one. */
  leaves: Map<string, RangeLeaf> | null;
  /** The range's other leaves, except the service's own; none if no other pack is compared. */
  otherLeaves: RangeLeaf[];
  /**
   * Hex root of the log at the requested sizes that the range reaches, and at the checkpoint's
   * size.
   */
  roots: Map<number, string>;
  /** Whether the log has a change of a policy after these: policy.json may have it too. */
  hasLaterChange: boolean;
  /** The tree that ends with a draw's declaration. */
  drawRoots: RootsByIndex;
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
  const checked: CheckedRange = {
    range,
    placement: new Placement(files.count, range.from_index),
    count: 0,
    missing: new Findings(),
    leaves: sizes.size > 0 ? new Map() : null,
    otherLeaves: [],
    hasLaterChange: false,
    roots: new Map([[log.size, toHex(log.rootHash)]]),
    drawRoots: new RootsByIndex(),
  };
  try {
    requireExpectedTiles(files, range);
    const tree = CompactRange.from(range.from_index, range.left_edge.map(hashFromHex));
    const times = new EntryTimes(range, files.manifest);
    const clockLeaves: ClockLeaf[] = [];
    for await (const { index, bytes } of leafBytes(files, range)) {
      const hash = leafHash(bytes);
      tree.append(hash);
      if (sizes.has(index + 1)) checked.roots.set(index + 1, toHex(tree.root()));
      const leaf = knownLeaf(bytes, index, files, findings);
      if (leaf === null) continue;
      if (leaf.kind === DRAW_DECLARED) checked.drawRoots.add(index, tree.root());
      requireOfOrg({ index, leaf }, files.manifest);
      requireNamed(findings, log.generations, { index, leaf });
      times.look({ index, leaf });
      if (leaf.kind === CLOCK_WENT_BACK && isServiceLeaf(leaf))
        clockLeaves.push({ index, id: leaf.id, leafHash: toHex(hash) });
      if (leaf.kind === "source_configured" && leaf.recorded_at >= range.bodies_until)
        checked.hasLaterChange = true;
      if (isRecordedWithin(leaf, range, files.manifest)) add(checked, files, { index, leaf });
      else if (checked.leaves !== null && !isServiceLeaf(leaf)) checked.otherLeaves.push({ index, leaf });
    }
    requireRoot(tree, range, log);
    findings.hold(
      "range",
      `leaves ${range.from_index} to ${range.to_index - 1} give root ${toHex(tree.root())}${range.to_index === log.size ? "" : ", the beginning of the log"}`,
    );
    await checkPeriod(files, findings, log, range, await judged(files, range, times, clockLeaves));
    return checked;
  } catch (error) {
    files.refuse(findings, "range", "", error);
    return null;
  }
}

/**
 * What an event explains lies before it. So the leaves are read again if there is such an event.
 */
async function judged(
  files: PackFiles,
  range: LogRange,
  times: EntryTimes,
  clockLeaves: readonly ClockLeaf[],
): Promise<EntryTimes> {
  const events = await readClockEvents(files, clockLeaves);
  if (events.length === 0) return times;
  const explained = new EntryTimes(range, files.manifest, events);
  for await (const placed of leavesAgain(files, range)) explained.look(placed);
  return explained;
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

function requireOfOrg({ index, leaf }: RangeLeaf, { org_id }: Pick<PackHeader, "org_id">): void {
  if (leaf.org_id !== org_id) refuse(`leaf ${index} belongs to ${leaf.org_id}`);
}

/**
 * Whether the pack has to have what this leaf covers: it was recorded in the pack's period, and
 * before the export.
 */
export function isRecordedWithin(
  leaf: Leaf,
  { bodies_until }: LogRange,
  { period }: Pick<PackHeader, "period">,
): boolean {
  return leaf.recorded_at >= period.from && leaf.recorded_at < bodies_until;
}

function add(checked: CheckedRange, files: PackFiles, placed: RangeLeaf): void {
  const { index, leaf } = placed;
  const path = fileOfLeaf(leaf.id);
  const file = path === null ? -1 : files.find(path);
  checked.count += 1;
  if (file === -1)
    checked.missing.fail(
      "complete",
      `leaf ${index} (${leaf.kind}, ${leaf.id}) of ${leaf.recorded_at} is missing`,
    );
  else if (!checked.placement.add(file, index)) refuse(`${leaf.id} appears in two leaves`);
  checked.leaves?.set(leaf.id, placed);
}

/** Checks that the pack has no other tile, which somebody might take for part of the log. */
function requireExpectedTiles(files: PackFiles, { from_index, to_index }: LogRange): void {
  const expected = Math.ceil((to_index - from_index) / TILE_WIDTH);
  const found = [...files.below("log/tile/")].length;
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
