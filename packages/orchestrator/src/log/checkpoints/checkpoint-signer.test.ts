import { generateKeyPairSync, randomBytes } from "node:crypto";
import { openCheckpoint } from "@attestore/proof";
import { expect, test } from "vitest";
import { heldSigningKey } from "../../platform/keys/signing-key.ts";
import { CheckpointSigner } from "./checkpoint-signer.ts";
import { LogCorruption } from "../log-corruption.ts";
import { logOrigin, logVerifier, timeVerifier } from "./log-keys.ts";

const keys = {
  note: heldSigningKey(generateKeyPairSync("ed25519").privateKey),
  time: heldSigningKey(generateKeyPairSync("ed25519").privateKey),
};
const HOST = "log.example.test";
const origin = logOrigin(HOST, "org_01h455vb4pex5vsknk084sn02q");
const head = (size: number) => ({ origin, size, rootHash: new Uint8Array(randomBytes(32)) });

test("the signer signs a checkpoint that the log's verifier key opens", async () => {
  const signer = new CheckpointSigner(HOST, keys);
  const signed = head(7);
  const opened = await openCheckpoint(await signer.sign(signed), logVerifier(signer.identity, origin));
  expect(opened.size).toBe(7n);
  expect(opened.rootHash).toEqual(signed.rootHash);
  expect(opened.extensions).toEqual([]);
});

test("the hourly head carries the time's cosignature besides", async () => {
  const signer = new CheckpointSigner(HOST, keys);
  const note = await signer.signWithTime(head(7), 1_700_000_000);
  const time = timeVerifier(signer.identity);
  const opened = await openCheckpoint(note, logVerifier(signer.identity, origin), [time]);
  expect(opened.cosignatures).toEqual([{ verifier: time, timestamp_s: 1_700_000_000 }]);
});

test("the signer refuses another root for the newest size, and a log that continues from a smaller one", async () => {
  const signer = new CheckpointSigner(HOST, keys);
  const newest = head(10);
  await signer.sign(newest);
  expect(() => signer.sign(head(10))).toThrow(LogCorruption);
  expect(() => signer.requireExtends(head(10))).toThrow(expect.objectContaining({ code: "head_forked" }));
  expect(() => signer.requireExtends(head(9))).toThrow(expect.objectContaining({ code: "head_regressed" }));
  expect(() => signer.requireExtends(newest)).not.toThrow();
  expect(() => signer.requireExtends(head(11))).not.toThrow();
  // Another organisation's log is another log.
  expect(() => signer.requireExtends({ ...head(3), origin: `${origin}x` })).not.toThrow();
});

test("signing an older head again gives the same bytes and does not set the newest back", async () => {
  const signer = new CheckpointSigner(HOST, keys);
  const [older, newest] = [head(4), head(9)];
  const first = await signer.sign(older);
  await signer.sign(newest);
  expect(await signer.sign(older)).toBe(first);
  expect(await new CheckpointSigner(HOST, keys).sign(older)).toBe(first);
  expect(() => signer.requireExtends(head(8))).toThrow(LogCorruption);
});
