import { sign } from "node:crypto";
import {
  encodeEntryBundle,
  formatNote,
  formatVerifierKey,
  noteSignatureLine,
  noteVerifier,
  parsePublicKeyWire,
  parseVerifierKey,
  type EventBundle,
  type Manifest,
  type PackAgents,
  type ReceiptBundle,
} from "@attestore/proof";
import { describe, expect, test } from "vitest";
import { leafHash, rootOf } from "../harness/merkle.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import { makeHistory } from "../../../packages/orchestrator/test/history.ts";
import { newKeyPair } from "../../../packages/orchestrator/test/service.ts";
import { signedRotation } from "../../../packages/orchestrator/test/log/signed-rotation.ts";
import { runsOf, setRuns, tileOf } from "../harness/forgeries.ts";
import { editJson, type Files, save, withManifest, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack } from "./good-pack.ts";

const { organisation, good, file, verify, verifyChanged, verifyForged } = await makeGoodPack();

describe("a pack of a later version", () => {
  const after = async (change: (files: Files) => void): Promise<PackOutcome> => {
    const files = new Map(good);
    change(files);
    return verifyForged(files);
  };
  const FILES = [
    "summary.json",
    "policy.json",
    "keys/agents.json",
    "log/range.json",
    "manifest.json",
    "controls.json",
  ];

  test("is true with unknown members, wherever they are", async () => {
    for (const path of FILES) {
      const outcome = await after((files) =>
        editJson<object>(files, path, (value) => Object.assign(value, { more: { n: 1 } })),
      );
      expect(idsOf(outcome, "failed"), path).toEqual([]);
      expect(outcome.verdict, path).toBe("true");
    }
    const deeper = await after((files) => {
      editJson<{ sources: object[]; totals: object }>(files, "summary.json", ({ sources, totals }) => {
        for (const each of [...sources, totals]) Object.assign(each, { later: [1] });
      });
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const agent of agents) Object.assign(agent, { hardware: "tpm" });
      });
      setRuns(
        files,
        runsOf(files).map((run) => ({ ...run, attempts: 2 })),
      );
    });
    expect(deeper.verdict).toBe("true");
    expect(deeper.checks.find(({ id }) => id === "summary")?.detail).toMatch(
      /unknown to this verifier and not counted: .*later/,
    );
  });

  test("is compared in its known members all the same", async () => {
    const outcome = await after((files) =>
      editJson<{ sources: { backups: number }[] }>(files, "summary.json", ({ sources }) => {
        for (const source of sources) Object.assign(source, { later: 1, backups: source.backups + 1 });
      }),
    );
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["summary"]]);
  });

  test.each<[string, (files: Files) => void]>([
    ...FILES.slice(1, 4).map((path): [string, (files: Files) => void] => [
      `version 2 of ${path}`,
      (files) => editJson<{ v: number }>(files, path, (value) => (value.v = 2)),
    ]),
    [
      "another status of a run",
      (files) =>
        setRuns(
          files,
          runsOf(files).map((run, n) => (n === 5 ? { ...run, status: "postponed" as never } : run)),
        ),
    ],
    [
      "another format",
      (files) => {
        const changed = String(files.get("manifest.json")).replace("evidence/v1", "evidence/v2");
        files.set("manifest.json", Buffer.from(changed));
      },
    ],
  ])('is "cannot tell" with %s', async (what, change) => {
    const files = new Map(good);
    change(files);
    const outcome = what === "another format" ? await verifyChanged(files) : await verifyForged(files);
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(outcome.verdict).toBe("cannot_tell");
  });

  test('counts a leaf of another version for the root, and its content is "cannot tell"', async () => {
    const files = new Map(good);
    const { path, leaves } = tileOf(files);
    const index = leaves.length - 1;
    const known = JSON.parse(Buffer.from(leaves[index] ?? []).toString()) as { id: string };
    leaves[index] = Buffer.from(JSON.stringify({ ...known, v: 2, more: "of which nothing is known here" }));
    const hashes = leaves.map(leafHash);
    // A log of its own: the service signs no head of what is not committed.
    const { log } = JSON.parse(String(files.get("manifest.json"))) as Manifest;
    const keys = newKeyPair();
    const own = noteVerifier(log.origin, "ed25519", parsePublicKeyWire(keys.publicKeyWire).bytes);
    const signText = async (_origin: string, text: string): Promise<string> =>
      Promise.resolve(
        formatNote(text, [noteSignatureLine(own, sign(null, Buffer.from(text), keys.privateKey))]),
      );
    files.set("keys/log.vkey", Buffer.from(`${formatVerifierKey(own)}\n`));
    const root = rootOf(hashes);
    const checkpoint = await signText(
      log.origin,
      `${log.origin}\n${leaves.length}\n${Buffer.from(root, "hex").toString("base64")}\n`,
    );
    files.set(path, Buffer.from(encodeEntryBundle(leaves)));
    files.set("log/checkpoint", Buffer.from(checkpoint));
    for (const each of good.keys())
      if (/^(receipts|events)\//.test(each))
        editJson<ReceiptBundle | EventBundle>(files, each, (bundle) => {
          bundle.checkpoint = checkpoint;
          bundle.log.verifier_key = formatVerifierKey(own);
          bundle.inclusion_proof.hashes = proofOf(hashes, bundle.inclusion_proof.log_index);
          if (bundle.leaf.id === known.id) Object.assign(bundle.leaf, { v: 2 });
        });
    editJson<Manifest>(files, "manifest.json", (manifest) => {
      manifest.log.root_hash = root;
    });
    await writeZip(file("later-leaf.zip"), await withManifest(files, signText));
    const outcome = await verify(file("later-leaf.zip"), own);
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(idsOf(outcome, "held")).toEqual(expect.arrayContaining(["checkpoint", "range"]));
    expect([outcome.verdict, outcome.checks.find(({ id }) => id === "complete")?.detail]).toEqual([
      "cannot_tell",
      `leaf ${index}: the leaf is of version 2, and 1 is known here`,
    ]);
  });

  test("has rotations with unknown members checked like others", async () => {
    const { service } = organisation;
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const from = new Date().toISOString();
    const { agent } = await makeHistory(service, org);
    const next = newKeyPair();
    const asked = signedRotation(agent, agent, next, undefined, { hardware: "tpm" });
    expect((await agent.post("/v1/agent/key", asked)).status).toBe(200);
    await save(file("rotated.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
    const outcome = await verify(file("rotated.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
  });
});

/** The hashes of an inclusion proof (RFC 9162 section 2.1.3.1). */
function proofOf(hashes: readonly string[], index: number): string[] {
  if (hashes.length <= 1) return [];
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  const [left, right] = [hashes.slice(0, split), hashes.slice(split)];
  return index < split
    ? [...proofOf(left, index), rootOf(right)]
    : [...proofOf(right, index - split), rootOf(left)];
}
