import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CompactRange,
  cosignatureLine,
  cosignatureMessage,
  formatVerifierKey,
  fromBase64,
  leafHash,
  openCheckpoint,
  parseVerifierKey,
  proveConsistency,
  proveInclusion,
  toBase64,
  utf8,
  verifyConsistency,
  verifyInclusion,
  type Hash,
} from "@attestore/proof";
import { afterAll, describe, expect, it } from "vitest";
import { LOG_NAME, signedCheckpoint } from "../../packages/proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../packages/proof/test/signing-keys.ts";
import { buildGo } from "./go/build.ts";

/** golang.org/x/mod/sumdb/note and tlog (Debian's) against our log, and ours against theirs. */
interface Inclusion {
  index: number;
  size: number;
  root: string;
  leaf: string;
  proof: string[] | null;
}

interface Consistency {
  from: number;
  to: number;
  from_root: string;
  to_root: string;
  proof: string[] | null;
}

interface Document {
  notes: { verifier_key: string; note: string }[];
  inclusion: Inclusion[];
  consistency: Consistency[];
}

interface Verdicts {
  notes: string[];
  texts: string[];
  inclusion: string[];
  consistency: string[];
}

const scratch = mkdtempSync(join(tmpdir(), "attestore-go-"));
const program = buildGo(scratch, fileURLToPath(new URL("go/tlog/main.go", import.meta.url)));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

function go<T>(command: string, input: unknown): T {
  const { status, stdout, stderr } = spawnSync(program, [command], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

const SIZE = 300;
const leaf = (index: number): Uint8Array => utf8(`leaf ${index}`);
const nodes = new Map<string, Hash>();
const range = CompactRange.empty();
const roots = [range.root()];
for (let i = 0; i < SIZE; i++) {
  range.append(leafHash(leaf(i)), (level, index, hash) => nodes.set(`${level}/${index}`, hash));
  roots.push(range.root());
}
const read = (level: number, index: number): Hash => nodes.get(`${level}/${index}`) ?? new Uint8Array(0);
const root = (size: number): Hash => roots[size] ?? new Uint8Array(0);

const inclusionOf = (index: number, size: number): Inclusion => ({
  index,
  size,
  root: toBase64(root(size)),
  leaf: toBase64(leaf(index)),
  proof: proveInclusion(index, size, read).map(toBase64),
});

const consistencyOf = (from: number, to: number): Consistency => ({
  from,
  to,
  from_root: toBase64(root(from)),
  to_root: toBase64(root(to)),
  proof: proveConsistency(from, to, read).map(toBase64),
});

/** Every pair up to 80, and all that lead to the last tree, which spans two tiles. */
const pairs: [number, number][] = [];
for (let to = 1; to <= SIZE; to++)
  if (to <= 80 || to === SIZE) for (let from = 1; from <= to; from++) pairs.push([from, to]);

const key = await ed25519Key(1);
const log = verifierOf(key, LOG_NAME);
const checkpoint = await signedCheckpoint(key, SIZE, root(SIZE));

describe("Go's tlog", () => {
  it("checks our inclusion and consistency proofs", () => {
    const answer = go<Verdicts>("check", {
      notes: [],
      inclusion: pairs.map(([place, size]) => inclusionOf(place - 1, size)),
      consistency: pairs.map(([from, to]) => consistencyOf(from, to)),
    } satisfies Document);
    expect(answer.inclusion).toEqual(pairs.map(() => ""));
    expect(answer.consistency).toEqual(pairs.map(() => ""));
  });

  it("refuses them for another leaf, index, tree or root", () => {
    const good = inclusionOf(70, SIZE);
    const grown = consistencyOf(70, SIZE);
    const answer = go<Verdicts>("check", {
      notes: [],
      inclusion: [
        { ...good, leaf: toBase64(leaf(71)) },
        { ...good, index: 71 },
        { ...good, root: toBase64(root(299)) },
        { ...good, proof: good.proof?.slice(1) ?? [] },
      ],
      consistency: [
        { ...grown, from: 71 },
        { ...grown, from_root: toBase64(root(71)) },
        { ...grown, to_root: toBase64(root(299)) },
      ],
    } satisfies Document);
    expect(answer.inclusion.filter((verdict) => verdict === "")).toEqual([]);
    expect(answer.consistency.filter((verdict) => verdict === "")).toEqual([]);
  });

  it("makes proofs that we accept", () => {
    for (const count of [1, 2, 7, 64, 129, 257]) {
      const made = go<Document>("make", {
        name: LOG_NAME,
        leaves: Array.from({ length: count }, (_, i) => toBase64(leaf(i))),
      });
      expect(made.inclusion).toHaveLength(count);
      for (const each of made.inclusion) {
        expect(each.root).toBe(toBase64(root(count)));
        verifyInclusion({
          leafIndex: BigInt(each.index),
          treeSize: BigInt(each.size),
          leafHash: leafHash(fromBase64(each.leaf)),
          rootHash: fromBase64(each.root),
          hashes: (each.proof ?? []).map(fromBase64),
        });
        expect(each.proof ?? []).toEqual(inclusionOf(each.index, count).proof);
      }
      for (const each of made.consistency) {
        verifyConsistency({
          from: BigInt(each.from),
          to: BigInt(each.to),
          fromRoot: fromBase64(each.from_root),
          toRoot: fromBase64(each.to_root),
          hashes: (each.proof ?? []).map(fromBase64),
        });
        expect(each.proof ?? []).toEqual(consistencyOf(each.from, count).proof);
      }
    }
  });
});

describe("Go's note", () => {
  it("opens our checkpoint, alone and with a cosignature that it does not know", async () => {
    const witnessKey = await ed25519Key(2);
    const witness = verifierOf(witnessKey, "witness.example.com/w", "cosignature/v1");
    const text = checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1);
    const time = 1_795_000_000;
    const line = cosignatureLine(witness, time, await witnessKey.sign(cosignatureMessage(time, text)));
    const verifier_key = formatVerifierKey(log);
    const answer = go<Verdicts>("check", {
      notes: [
        { verifier_key, note: checkpoint },
        { verifier_key, note: checkpoint + line },
      ],
      inclusion: [],
      consistency: [],
    } satisfies Document);
    expect(answer.notes).toEqual(["", ""]);
    expect(answer.texts).toEqual([text, text]);
  });

  it("refuses a changed checkpoint, and one under another key", async () => {
    const verifier_key = formatVerifierKey(log);
    const other = formatVerifierKey(verifierOf(await ed25519Key(2), LOG_NAME));
    const answer = go<Verdicts>("check", {
      notes: [
        { verifier_key, note: checkpoint.replace("\n300\n", "\n301\n") },
        { verifier_key: other, note: checkpoint },
      ],
      inclusion: [],
      consistency: [],
    } satisfies Document);
    expect(answer.notes.filter((verdict) => verdict === "")).toEqual([]);
  });

  it("makes keys and checkpoints that we accept", async () => {
    const made = go<Document>("make", { name: LOG_NAME, leaves: [toBase64(leaf(0)), toBase64(leaf(1))] });
    const [signed] = made.notes;
    if (!signed) throw new Error("a checkpoint was asked for");
    const opened = await openCheckpoint(signed.note, parseVerifierKey(signed.verifier_key));
    expect(opened).toMatchObject({ origin: LOG_NAME, size: 2n, rootHash: root(2) });
  });
});
