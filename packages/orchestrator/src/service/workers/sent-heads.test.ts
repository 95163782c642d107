import { mkdtemp, readFile, rm } from "node:fs/promises";
import { generateKeyPairSync, hash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { CheckpointSigner, type Head } from "../../log/checkpoints/checkpoint-signer.ts";
import { SignedHeads } from "../../log/checkpoints/signed-heads.ts";
import { heldSigningKey } from "../../platform/keys/signing-key.ts";
import { Peer } from "../../platform/workers/peer.ts";
import type { SentHead } from "./protocol.ts";
import { HeadsOfWorkers, SentHeads } from "./sent-heads.ts";

const key = () => heldSigningKey(generateKeyPairSync("ed25519").privateKey);
const keys = { note: key(), time: key() };
const head = (size: number, content = "log", origin = "log.test/org_1"): Head => ({
  origin,
  size,
  rootHash: hash("sha256", `${content} ${size}`, "buffer"),
});

let directory: string;
let signed: SignedHeads;
let primary: HeadsOfWorkers;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attestore-heads-"));
  signed = await SignedHeads.open(join(directory, "signed-heads"));
  primary = new HeadsOfWorkers(signed);
});
afterAll(async () => {
  await signed.close();
  await rm(directory, { recursive: true });
});

interface TestWorker {
  heads: SentHeads;
  signer: CheckpointSigner;
}

/** Over a channel that carries texts, as one between processes. */
async function addWorker(): Promise<TestWorker> {
  const pass = (other: () => Peer) => (message: object) => {
    const text = JSON.stringify(message);
    setImmediate(() => other().take(JSON.parse(text)));
  };
  const heads = new SentHeads(() => toPrimary);
  const toPrimary: Peer = new Peer(
    pass(() => peer),
    heads.procedures,
  );
  const peer: Peer = new Peer(
    pass(() => toPrimary),
    { record: (some: readonly SentHead[]) => primary.record(some, peer) },
  );
  primary.add(peer);
  await heads.load(join(directory, "signed-heads"));
  const signer = new CheckpointSigner("log.test", keys, {
    signed: heads,
    committedRoot: () => Promise.resolve(null),
    signedSize: () => Promise.resolve(null),
    standbyHasHeads: () => Promise.resolve(),
  });
  heads.follow((some) => signer.learn(some));
  return { heads, signer };
}

const refusal = (code: string): unknown => expect.objectContaining({ code }) as unknown;

test("no worker contradicts a head that another has signed, and neither does one that starts later", async () => {
  const [first, second] = [await addWorker(), await addWorker()];
  await first.signer.signGrown(head(5));
  expect(await readFile(join(directory, "signed-heads"), "utf8")).toContain("log.test/org_1 5 ");
  await vi.waitFor(() => expect(second.signer.newestOf("log.test/org_1")?.size).toBe(5));
  for (const { signer } of [second, await addWorker()]) {
    expect(() => signer.requireExtends(head(4))).toThrow(refusal("head_regressed") as Error);
    expect(() => signer.requireExtends(head(5, "fork"))).toThrow(refusal("head_forked") as Error);
    signer.requireExtends(head(6));
  }
});

test("of two roots of one size that workers sign at once, one leaves", async () => {
  const workers = [await addWorker(), await addWorker()];
  const origin = "log.test/org_2";
  const notes = await Promise.allSettled(
    workers.map(({ signer }, n) => signer.signGrown(head(7, `history ${n}`, origin))),
  );
  expect(notes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(notes.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { name: "HeadNotRecorded", cause: expect.stringContaining("another root") as unknown },
  });
});

test("a head that the primary could not write is not signed, until it can", async () => {
  const { heads, signer } = await addWorker();
  const full = vi.spyOn(signed, "record").mockRejectedValueOnce(new Error("no space left"));
  await expect(signer.signGrown(head(8))).rejects.toMatchObject({ name: "HeadNotRecorded" });
  full.mockRestore();
  await signer.signGrown(head(8));
  expect(heads.newest()).toContainEqual(head(8));
});
