import {
  EVIDENCE_FORMAT,
  GENERATIONS_FILE,
  type ServiceEventBundle,
  PACK_FILES,
  type PackGenerations,
  sha256,
  toHex,
  utf8,
} from "@attestore/proof";
import { expect, test } from "vitest";
import { GenerationsLog, otherRoot } from "../../../../proof/test/generations-fixture.ts";
import { ids, LOG_NAME } from "../../../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../../../proof/test/signing-keys.ts";
import { storedZip } from "../../../test/stored-zip.ts";
import { blobSource } from "../../zip/blob-source.ts";
import { ZipReader } from "../../zip/zip-reader.ts";
import { checkGenerations, requireNamed } from "./check-generations.ts";
import { Findings } from "../findings.ts";
import { PackFiles } from "../files/pack-files.ts";

const key = await ed25519Key(3);

/** What a pack of this log's newest head says of its generations. */
async function saidOf(log: GenerationsLog, lost: ServiceEventBundle[] = []): Promise<PackGenerations> {
  const proven = async (event: ServiceEventBundle): Promise<ServiceEventBundle> => ({
    ...event,
    inclusion_proof: {
      log_index: event.inclusion_proof.log_index,
      tree_size: log.size,
      hashes: log.inclusion(event.inclusion_proof.log_index).map(toHex),
    },
    checkpoint: await log.checkpoint(),
    log: { ...event.log },
  });
  return {
    v: 1,
    began: log.events.map((event) => ({
      event,
      hashes: log.inclusion(event.inclusion_proof.log_index).map(toHex),
    })),
    lost: await Promise.all(lost.map(proven)),
  };
}

/** Checks a pack of this log's newest head with that file, or without it. */
async function check(log: GenerationsLog, said: PackGenerations | null) {
  const files: Record<string, Uint8Array> =
    said === null ? {} : { [GENERATIONS_FILE]: utf8(JSON.stringify(said)) };
  const manifest = {
    format: EVIDENCE_FORMAT,
    generator: "a test",
    org_id: ids.org,
    period: { from: "2026-11-01T00:00:00.000Z", to: "2026-12-01T00:00:00.000Z" },
    exported_at: "2026-12-01T00:00:00.000Z",
    log: { origin: log.origin, tree_size: log.size, root_hash: toHex(log.root()) },
    files: Object.entries(files).map(([path, bytes]) => ({
      path,
      size_bytes: bytes.length,
      sha256: toHex(sha256(bytes)),
    })),
  };
  const archive = storedZip({ ...files, [PACK_FILES.manifest]: utf8(JSON.stringify(manifest)) });
  const zip = await ZipReader.open(blobSource(new Blob([new Uint8Array(archive)])));
  const findings = new Findings();
  const opened = await PackFiles.open(zip, findings);
  if (opened === null) throw new Error("the pack has no manifest");
  const generations = await checkGenerations(opened, findings, {
    key: verifierOf(key, log.origin),
    checkpoint: await log.checkpoint(),
    size: log.size,
    rootHash: log.root(),
  });
  const line = () => findings.lines().find(({ id }) => id === "generations");
  return { generations, findings, line };
}

/** A log in its third generation, and a lost head that came to light later. */
async function third() {
  const log = new GenerationsLog(key, 12);
  const first = { size: 12, rootHash: log.root() };
  await log.rollBack(7, [first]);
  log.append(sha256(utf8("one more")));
  await log.rollBack(9);
  const later = await log.lose(LOG_NAME, { size: 11, rootHash: otherRoot(first.rootHash) });
  return { log, first, later };
}

test("a pack of a later generation names each generation, its event and the heads that came to light later", async () => {
  const { log, later } = await third();
  const { generations, line } = await check(log, await saidOf(log, [later]));
  expect(generations?.rollbacks.map(({ size }) => size)).toEqual([7, 9]);
  expect(generations?.lost).toHaveLength(1);
  expect(line()).toMatchObject({ result: "held" });
  for (const part of ["generation 3", ...log.events.map(({ leaf }) => leaf.id), "1 lost head named later"])
    expect(line()?.detail).toContain(part);
});

test("a pack of the first generation has no line and no file about generations", async () => {
  const log = new GenerationsLog(key, 5);
  const { generations, line } = await check(log, null);
  expect(generations?.rollbacks).toEqual([]);
  expect(line()).toBeUndefined();
  const other = await third();
  expect((await check(log, await saidOf(other.log))).line()?.result).toBe("failed");
});

test("a pack without a generation's event, or with one that its tree lacks, is false", async () => {
  const { log, first, later } = await third();
  const said = await saidOf(log, [later]);
  const [two, three] = said.began;
  if (two === undefined || three === undefined) throw new Error("the log has no generations");
  const cases: [string, PackGenerations | null][] = [
    ["no file", null],
    ["generation 3 without 2", { ...said, began: [three] }],
    ["generation 2 alone", { ...said, began: [two] }],
    ["another order", { ...said, began: [three, two] }],
    ["a proof in another tree", { ...said, began: [{ ...two, hashes: three.hashes }, three] }],
    [
      "a lost head proven in another checkpoint",
      { ...said, lost: [later].map((event) => ({ ...event, checkpoint: "" })) },
    ],
  ];
  for (const [what, changed] of cases)
    expect((await check(log, changed)).line()?.result, what).toBe("failed");
  const fork = await log.lose(LOG_NAME, { size: 12, rootHash: otherRoot(first.rootHash) });
  expect((await check(log, await saidOf(log, [fork]))).line()).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("was forked"),
  });
});

test("an event about a generation or a lost head that the pack's range has must be named", async () => {
  const { log, later } = await third();
  const { generations, findings, line } = await check(log, await saidOf(log));
  if (generations === null) throw new Error("the generations did not hold");
  const [event] = log.events;
  if (event === undefined) throw new Error("the log has no generation");
  requireNamed(findings, generations, { leaf: event.leaf, index: 7 });
  requireNamed(findings, generations, { leaf: { ...later.leaf, actor_id: ids.agent }, index: 8 });
  expect(line()?.result).toBe("held");
  requireNamed(findings, generations, { leaf: later.leaf, index: 11 });
  expect(line()).toMatchObject({ result: "failed", detail: expect.stringContaining("leaf 11") });
});
