import { encodeEntryBundle, entriesFile, eventFile, formatLeaf, type LogRange, utf8 } from "@attestore/proof";
import { expect, test } from "vitest";
import { packOf } from "../../../test/pack-of.ts";
import { CannotTell } from "../../cannot-tell.ts";
import { Findings } from "../findings.ts";
import { leavesAgain } from "../files/range-leaves.ts";
import { ReadAgain } from "./read-again.ts";

const event = "evt_01jd3gqq8zb14p1s0a5r2h0y8h";
const leaf = {
  v: 1,
  kind: "agent_silent",
  org_id: "org_01jd3gqq8zb14p1s0a5r2h0y8j",
  id: event,
  actor_id: "service",
  recorded_at: "2026-11-20T00:00:00.000Z",
  body_sha256: "00".repeat(32),
} as const;
const tile = entriesFile(0, 2);
const range = { from_index: 0, to_index: 2 } as LogRange;
const known = formatLeaf(leaf);
/** Changes as many bytes as CRC-32's polynomial has, so that the CRC stays the same. */
const SAME_CRC = [0x41, 0x06, 0x71, 0xdb, 0x01];

async function indexesIn(leaves: readonly Uint8Array[], change: (zip: Buffer) => void = () => undefined) {
  const { files, zip } = await packOf({ [tile]: encodeEntryBundle(leaves) }, new Findings());
  change(zip);
  const found: number[] = [];
  for await (const { index } of leavesAgain(files, range)) found.push(index);
  return found;
}

test("a file that changed between two reads is a finding, even if its CRC is the same", async () => {
  const findings = new Findings();
  const { files, zip } = await packOf({ "policy.json": utf8("a policy that is long enough") }, findings);
  const first = await files.read("policy.json", 100);
  const at = zip.indexOf("a policy");
  for (const [n, bits] of SAME_CRC.entries()) zip[at + n] = (zip[at + n] ?? 0) ^ bits;
  expect(await files.read("policy.json", 100)).not.toEqual(first);
  expect(findings.lines().find(({ id }) => id === "manifest")).toMatchObject({
    result: "failed",
    detail: "policy.json differs from the file in the manifest",
  });
});

test("an entry or a leaf that changed so that it cannot be read again leaves the answer open", async () => {
  const { files, zip } = await packOf({ [eventFile(event)]: utf8("{}") }, new Findings());
  zip.fill(0, zip.indexOf("{}"), zip.indexOf("{}") + 2);
  await expect(new ReadAgain(files).eventAt(files.find(eventFile(event)))).rejects.toThrow(CannotTell);
  const change = (bytes: Buffer): void => void bytes.fill(0x20, bytes.indexOf("agent_silent"));
  await expect(indexesIn([known, known], change)).rejects.toThrow(CannotTell);
});

test("a leaf of a later version is left out of the leaves that are read again", async () => {
  const later = utf8(new TextDecoder().decode(known).replace('"v":1', '"v":2'));
  expect(await indexesIn([known, known])).toEqual([0, 1]);
  expect(await indexesIn([later, known])).toEqual([1]);
});
