import {
  agentKeyFile,
  earlierKeyFile,
  encodeEntryBundle,
  entriesFile,
  EvidenceTally,
  EVIDENCE_FORMAT,
  formatControls,
  formatPublicKeyPem,
  formatRuns,
  formatSummary,
  formatVerifierKey,
  GENERATIONS_FILE,
  indexPage,
  type LogRange,
  PACK_FILES,
  type PackHeader,
  parsePublicKeyWire,
  type Predecessor,
  predecessorFile,
  runsFile,
  TILE_WIDTH,
  toHex,
  type TimedCheckpoint,
} from "@attestore/proof";
import packageJson from "../../../package.json" with { type: "json" };
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { logVerifier, timeVerifier } from "../../log/checkpoints/log-keys.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { bundleFile, jsonFile, placed, proofInPack, readEntries, tallyEntry } from "./entries.ts";
import { summarize } from "./pack-generations.ts";
import { readme } from "./readme.ts";
import { readRuns, type RunPosition } from "./runs.ts";
import type { Snapshot } from "./snapshot.ts";
import { type PublishedCheckpoint, readLeaves, readLeavesAt } from "./store.ts";
import { TreeReader } from "./tree-reader.ts";
import type { PackFile } from "./zip/zip-writer.ts";

export interface PackDeps {
  db: Database;
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
}

export function packHeader({ orgId, period, exportedAt, head }: Snapshot): PackHeader {
  return {
    format: EVIDENCE_FORMAT,
    generator: `attestore-server ${packageJson.version}`,
    org_id: orgId,
    period: { from: period.from.toISOString(), to: period.to.toISOString() },
    exported_at: exportedAt.toISOString(),
    log: { origin: head.origin, tree_size: head.size, root_hash: toHex(head.rootHash) },
  };
}

/** Reads something of the organisation in a transaction of its own. */
type Read = <T>(of: (tx: DatabaseTransaction) => Promise<T>) => Promise<T>;

/**
 * All files of a pack except its manifest, in the order in which they are made. Each page is read
 * in a transaction of its own, which ends before the page's files are handed on. Memory holds one
 * page at most.
 */
export async function* packFiles(deps: PackDeps, snapshot: Snapshot): AsyncGenerator<PackFile> {
  const { signer, envelopes } = deps;
  const { head, policy, agents, generations } = snapshot;
  const header = packHeader(snapshot);
  const tree = new TreeReader(snapshot.orgId, head.size);
  const tally = new EvidenceTally(header, policy, await summarize(generations, signer, head));
  const read: Read = (of) => readInOrg(deps.db, snapshot.orgId, of);

  yield textFile(PACK_FILES.readme, readme(header));
  yield jsonFile(PACK_FILES.policy, policy);
  yield jsonFile(PACK_FILES.agents, { v: 1, agents });
  for (const { id, public_key, earlier_keys } of agents) {
    yield keyFile(agentKeyFile(id), public_key);
    for (const [n, key] of earlier_keys.entries()) yield keyFile(earlierKeyFile(id, n + 1), key.public_key);
  }
  yield textFile(PACK_FILES.logKey, `${formatVerifierKey(logVerifier(signer.identity, head.origin))}\n`);
  yield textFile(PACK_FILES.timeKey, `${formatVerifierKey(timeVerifier(signer.identity))}\n`);
  yield textFile(PACK_FILES.checkpoint, head.checkpoint);
  if (generations !== null) yield jsonFile(GENERATIONS_FILE, generations);
  yield jsonFile(PACK_FILES.range, await read((tx) => logRange(tx, tree, snapshot)));

  yield* predecessorLeaves(read, { signer, tree }, snapshot);
  yield* earlierEntries(read, { signer, envelopes, tree, tally }, snapshot);
  for (let from = snapshot.range.from; from < snapshot.range.to; from += TILE_WIDTH)
    yield* logPage(read, { signer, envelopes, tree, tally }, snapshot, from);

  let position: RunPosition | null = null;
  for (let number = 0; number === 0 || position !== null; number += 1) {
    const page = await read((tx) => readRuns(tx, snapshot, position));
    position = page.next;
    for (const run of page.runs) tally.addRun(run);
    if (page.runs.length > 0) yield textFile(runsFile(number), formatRuns(page.runs));
  }

  const summary = tally.finish();
  yield textFile(PACK_FILES.controls, formatControls());
  yield textFile(PACK_FILES.summary, formatSummary(summary));
  yield textFile(PACK_FILES.index, indexPage(summary, header.generator));
}

interface Making {
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
  tree: TreeReader;
  tally: EvidenceTally;
}

/**
 * How many receipts and events are in memory at once. A receipt may have 256 KiB, and takes several
 * times that on its way into the pack.
 */
const AT_ONCE = 32;

/**
 * Records that the period's entries refer to: the backup before each source's first, agents that
 * attached earlier, the policy at that time.
 */
async function* earlierEntries(
  read: Read,
  { signer, envelopes, tree, tally }: Making,
  snapshot: Snapshot,
): AsyncGenerator<PackFile> {
  const indexes = [...new Set([...snapshot.earlier.backups, ...snapshot.earlier.events])].toSorted(
    (a, b) => a - b,
  );
  for (let at = 0; at < indexes.length; at += AT_ONCE) {
    const page = indexes.slice(at, at + AT_ONCE);
    yield* await read(async (tx) => {
      const leaves = await readLeavesAt(tx, snapshot.orgId, page);
      const files: PackFile[] = [];
      for (const entry of await readEntries(tx, envelopes, snapshot.orgId, leaves.map(placed))) {
        if ("receipt" in entry) tally.addBackupBefore(entry.statement);
        files.push(await bundleFile(tx, signer, tree, snapshot, entry));
      }
      return files;
    });
  }
}

const LEAVES_AT_ONCE = 200;

/** The leaves that agents' first receipts in the period follow on, without the receipts. */
async function* predecessorLeaves(
  read: Read,
  { signer, tree }: Pick<Making, "signer" | "tree">,
  snapshot: Snapshot,
): AsyncGenerator<PackFile> {
  const indexes = snapshot.predecessors.toSorted((a, b) => a - b);
  for (let at = 0; at < indexes.length; at += LEAVES_AT_ONCE)
    yield* await read(async (tx) => {
      const files: PackFile[] = [];
      for (const row of await readLeavesAt(tx, snapshot.orgId, indexes.slice(at, at + LEAVES_AT_ONCE))) {
        const { logIndex, leaf } = placed(row);
        const proof: Predecessor = await proofInPack(tx, signer, tree, snapshot, { logIndex, leaf });
        files.push(jsonFile(predecessorFile(leaf.id), proof));
      }
      return files;
    });
}

/** 256 leaves of the log, with the entries that were recorded in the period. */
async function* logPage(
  read: Read,
  { signer, envelopes, tree, tally }: Making,
  snapshot: Snapshot,
  from: number,
): AsyncGenerator<PackFile> {
  const { orgId, range, period, bodiesUntil } = snapshot;
  const rows = await read((tx) => readLeaves(tx, orgId, from, Math.min(from + TILE_WIDTH, range.to)));
  const bundle = Buffer.from(encodeEntryBundle(rows.map(({ leaf }) => leaf)));
  yield { path: entriesFile(from, rows.length), bytes: bundle };
  const [first, end] = [period.from.toISOString(), bodiesUntil.toISOString()];
  const wanted = rows.map(placed).filter(({ leaf }) => leaf.recorded_at >= first && leaf.recorded_at < end);
  for (let at = 0; at < wanted.length; at += AT_ONCE)
    yield* await read(async (tx) => {
      const files: PackFile[] = [];
      for (const entry of await readEntries(tx, envelopes, orgId, wanted.slice(at, at + AT_ONCE))) {
        tallyEntry(tally, entry);
        files.push(await bundleFile(tx, signer, tree, snapshot, entry));
      }
      return files;
    });
}

async function logRange(
  tx: DatabaseTransaction,
  tree: TreeReader,
  { range, start, end, bodiesUntil }: Snapshot,
): Promise<LogRange> {
  const session = transactionSession(tx);
  const timed = async (published: PublishedCheckpoint | null): Promise<TimedCheckpoint | null> =>
    published === null
      ? null
      : {
          checkpoint: published.checkpoint,
          tree_size: published.size,
          hashes: (await tree.consistency(session, published.size)).map(toHex),
        };
  return {
    v: 1,
    from_index: range.from,
    to_index: range.to,
    bodies_until: bodiesUntil.toISOString(),
    left_edge: (await tree.edge(session, range.from)).map(toHex),
    to_head: (await tree.consistency(session, range.to)).map(toHex),
    start: await timed(start),
    end: await timed(end),
  };
}

function keyFile(path: string, wire: string): PackFile {
  return textFile(path, formatPublicKeyPem(parsePublicKeyWire(wire)));
}

function textFile(path: string, text: string): PackFile {
  return { path, bytes: Buffer.from(text) };
}
