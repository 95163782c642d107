/**
 * An evidence pack with as many receipts as asked for, made without a service.
 */
import { sign } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import {
  agentKeyFile,
  CompactRange,
  encodeEntryBundle,
  entriesFile,
  EVIDENCE_FORMAT,
  EvidenceTally,
  formatCheckpoint,
  formatControls,
  formatLeaf,
  formatNote,
  formatPublicKeyPem,
  formatPublicKeyWire,
  formatRuns,
  formatSummary,
  formatVerifierKey,
  type Hash,
  indexPage,
  leafHash,
  noteSignatureLine,
  noteVerifier,
  PACK_FILES,
  proveInclusion,
  publicKeyFromBytes,
  runsFile,
  RUNS_IN_FILE,
  sha256,
  sshFingerprint,
  TILE_WIDTH,
  toHex,
  utf8,
} from "@attestore/proof";
import { packStream } from "../../../packages/orchestrator/src/features/evidence/pack-stream.ts";
import type { CheckpointSigner } from "../../../packages/orchestrator/src/log/checkpoints/checkpoint-signer.ts";
import verifier from "../../../packages/verifier/package.json" with { type: "json" };
import { AGENT, at, largeHistory, newKey, ORG, ORIGIN } from "./large-history.ts";

export interface LargePack {
  logKey: string;
  agentPub: string;
}

/** Writes the pack to `path`. */
export async function writeLargePack(path: string, receipts: number): Promise<LargePack> {
  const [agent, log] = [newKey(), newKey()];
  const logKey = noteVerifier(ORIGIN, "ed25519", log.raw);
  const { policy, entries, runs } = largeHistory(agent, receipts);
  const publicKey = publicKeyFromBytes(agent.raw);
  const key_fingerprint = sshFingerprint(publicKey);
  const exported_at = at(receipts + 1);
  const levels: Hash[][] = [];
  const tree = CompactRange.empty();
  for (const { leaf } of entries)
    tree.append(leafHash(formatLeaf(leaf)), (level, index, hash) => {
      (levels[level] ??= [])[index] = hash;
    });
  const size = entries.length;
  const rootHash = tree.root();
  const signText = (text: string): string =>
    formatNote(text, [noteSignatureLine(logKey, sign(null, utf8(text), log.privateKey))]);
  const checkpoint = signText(formatCheckpoint({ origin: ORIGIN, size, rootHash }));
  const header = {
    format: EVIDENCE_FORMAT,
    generator: `attestore-server ${verifier.version}`,
    org_id: ORG,
    period: { from: at(0), to: exported_at },
    exported_at,
    log: { origin: ORIGIN, tree_size: size, root_hash: toHex(rootHash) },
  } as const;

  async function* files() {
    const json = (name: string, content: object) => ({
      path: name,
      bytes: Buffer.from(`${JSON.stringify(content)}\n`),
    });
    const text = (name: string, content: string) => ({ path: name, bytes: Buffer.from(content) });
    const tally = new EvidenceTally(header, policy);
    yield json(PACK_FILES.policy, policy);
    yield json(PACK_FILES.agents, {
      v: 1,
      agents: [
        {
          id: AGENT,
          name: "host",
          hostname: "host",
          public_key: formatPublicKeyWire(publicKey),
          key_fingerprint,
          valid_from: at(0),
          valid_until: null,
          attached_event_id: entries[0]?.leaf.id,
          revoked_event_id: null,
          earlier_keys: [],
        },
      ],
    });
    yield text(agentKeyFile(AGENT), formatPublicKeyPem(publicKey));
    yield text(PACK_FILES.logKey, `${formatVerifierKey(logKey)}\n`);
    yield text(
      PACK_FILES.timeKey,
      `${formatVerifierKey(noteVerifier("time.example.com", "cosignature/v1", log.raw))}\n`,
    );
    yield text(PACK_FILES.checkpoint, checkpoint);
    yield json(PACK_FILES.range, {
      v: 1,
      from_index: 0,
      to_index: size,
      bodies_until: exported_at,
      left_edge: [],
      to_head: [],
      start: null,
      end: null,
    });
    for (let from = 0; from < size; from += TILE_WIDTH) {
      const page = entries.slice(from, from + TILE_WIDTH);
      yield {
        path: entriesFile(from, page.length),
        bytes: Buffer.from(encodeEntryBundle(page.map(({ leaf }) => formatLeaf(leaf)))),
      };
      for (const [n, entry] of page.entries()) {
        entry.tally(tally);
        const log_index = from + n;
        const hashes = proveInclusion(
          log_index,
          size,
          (level, index) => levels[level]?.[index] ?? sha256(utf8("")),
        );
        yield json(entry.path, {
          ...entry.content,
          ...("envelope" in entry.content ? { public_key: formatPublicKeyWire(publicKey) } : {}),
          leaf: entry.leaf,
          inclusion_proof: { log_index, tree_size: size, hashes: hashes.map(toHex) },
          checkpoint,
          log: { origin: ORIGIN, verifier_key: formatVerifierKey(logKey) },
        });
      }
    }
    for (let from = 0; from < runs.length; from += RUNS_IN_FILE) {
      const page = runs.slice(from, from + RUNS_IN_FILE);
      for (const run of page) tally.addRun(run);
      yield text(runsFile(from / RUNS_IN_FILE), formatRuns(page));
    }
    const summary = tally.finish();
    yield text(PACK_FILES.controls, formatControls());
    yield text(PACK_FILES.summary, formatSummary(summary));
    yield text(PACK_FILES.index, indexPage(summary, header.generator));
  }
  // Of the service's signer a pack needs only this.
  const asSigner = { signText: (_origin: string, of: string) => Promise.resolve(signText(of)) };
  await pipeline(
    packStream(files(), header, asSigner as unknown as CheckpointSigner),
    createWriteStream(path),
  );
  return { logKey: formatVerifierKey(logKey), agentPub: formatPublicKeyPem(publicKey) };
}
