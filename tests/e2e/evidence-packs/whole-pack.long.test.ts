import { execFileSync, spawnSync } from "node:child_process";
import { sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  cosignatureLine,
  cosignatureMessage,
  formatPublicKeyPem,
  noteVerifier,
  parseNote,
  parsePublicKeyWire,
  parseVerifierKey,
  type EventBundle,
  type LogRange,
  type Manifest,
  type NoteVerifier,
  type ReceiptBundle,
} from "@attestore/proof";
import { beforeAll, describe, expect, test } from "vitest";
import type { PinnedKey } from "../../../packages/verifier/src/pinned-key.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import { ZipReader } from "../../../packages/verifier/src/zip/zip-reader.ts";
import { newKeyPair } from "../../../packages/orchestrator/test/service.ts";
import { editJson, emit, type Files, filesOf, save, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack, pinned } from "./good-pack.ts";

const { organisation, good, logKey, vkey, file, verify, verifyForged } = await makeGoodPack();

describe("an unchanged pack", () => {
  test("is true, with every check made and the right numbers", async () => {
    const outcome = await verify(file("good.zip"));
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(idsOf(outcome, "not_checked")).toEqual([]);
    expect(outcome.verdict).toBe("true");
    const { totals, sources, exceptions, policy_changes } = outcome.summary ?? expect.unreachable();
    expect(totals).toMatchObject({ receipts: 8, backups: 4, restore_tests: { passed: 3, failed: 1 } });
    const { total, passed, missed, failed } = totals.scheduled_restore_tests;
    expect([total, failed]).toEqual([passed + missed, 0]);
    expect(missed).toBeGreaterThan(15);
    expect(passed).toBeGreaterThan(0);
    expect(sources[0]).toMatchObject({
      restore_failed: 1,
      rpo: { met: true },
      rto: { achieved_s: 42, met: true },
    });
    expect(exceptions.items.filter(({ what }) => what === "restore_test_missed")).toHaveLength(missed);
    expect(policy_changes.items.map(({ changed }) => changed)).toEqual([
      ["objectives", "schedule"],
      ["retention"],
    ]);
  });

  test(`is "cannot tell" without the log's key, and false under another key`, async () => {
    const without = await verify(file("good.zip"), null);
    expect([without.verdict, idsOf(without, "not_checked")]).toEqual(["cannot_tell", ["log_key"]]);
    const stranger = await organisation.service.attach(await organisation.service.addOrg());
    const other = await verify(file("good.zip"), parseVerifierKey(stranger.log.verifier_key));
    expect(other.verdict).toBe("false");
    expect(idsOf(other, "failed")).toEqual(
      expect.arrayContaining(["log_key", "checkpoint", "manifest_signature"]),
    );
  });

  test("is checked with keys from hosts, which are compared with those in the pack", async () => {
    const { agent, rotated } = organisation;
    const [first, second, other] = [agent, rotated, newKeyPair()].map(pinned) as [
      PinnedKey,
      PinnedKey,
      PinnedKey,
    ];
    const [older, newer] = [first.fingerprint, second.fingerprint];
    // The key that was given leads to the other one by the rotation that both signed, forwards and
    // back.
    for (const [key, expected] of [
      [first, { [older]: ["file", 6], [newer]: ["rotation", 2] }],
      [second, { [older]: ["rotation", 6], [newer]: ["file", 2] }],
    ] as const) {
      const { verdict, basis } = await verifyPackFile(file("good.zip"), { logKey, keys: [key] });
      expect(verdict).toBe("true");
      const told = basis?.agent_keys.map(({ fingerprint, from, receipts }) => [
        fingerprint,
        [from, receipts],
      ]);
      expect(Object.fromEntries(told ?? [])).toEqual(expected);
      expect(basis).toMatchObject({
        log_key: { verifier_key: vkey, from: "given" },
        clock: { entries: "service", witnessed_by: null },
        witnesses: [],
      });
    }
    const forged = await verifyPackFile(file("good.zip"), { logKey, keys: [first, other] });
    expect([forged.verdict, idsOf(forged, "failed")]).toEqual(["false", ["agent_keys"]]);
    const asOther = { ...first, agentId: agent.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")) };
    const swapped = await verifyPackFile(file("good.zip"), { logKey, keys: [asOther] });
    expect([swapped.verdict, idsOf(swapped, "failed")]).toEqual(["false", ["agent_keys"]]);
  });

  test("shows an organisation's name as text, whatever the name contains", () => {
    const page = String(good.get("index.html"));
    expect(page).toContain("Example &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; Sons");
    expect(page).not.toMatch(/<script|javascript:|<(img|link|iframe)|(src|href)=|@import|url\(/i);
  });

  test("is true for a period before the last entries too, between two hourly checkpoints", async () => {
    const { service, org, agent, pack } = organisation;
    const report = (n: number) =>
      agent.post("/v1/events", {
        kind: "backup_failed",
        occurred_at: new Date().toISOString(),
        detail: { n },
      });
    for (let n = 0; n < 260; n += 20) await Promise.all(Array.from({ length: 20 }, (_, m) => report(n + m)));
    const hour = (hours: number) => new Date(Math.floor(Date.now() / 3_600_000 + hours) * 3_600_000);
    await emit(service, hour(0));
    const from = new Date();
    await report(1000);
    await report(1001);
    const to = new Date();
    await emit(service, hour(1));
    await report(1002);
    await save(file("between.zip"), await pack(`from=${from.toISOString()}&to=${to.toISOString()}`));
    const outcome = await verify(file("between.zip"));
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(outcome.summary?.totals).toMatchObject({ receipts: 0, events: 2 });
    const files = await filesOf(file("between.zip"));
    const range = JSON.parse(String(files.get("log/range.json"))) as LogRange;
    expect(range.from_index).toBe(256);
    expect([range.start, range.end]).toEqual([expect.anything(), expect.anything()]);
    // The last backup from before the period is there, and the agents' entries.
    expect([...files.keys()].filter((path) => path.startsWith("receipts/"))).toHaveLength(1);
    expect([...files.keys()].filter((path) => path.startsWith("events/")).length).toBeGreaterThan(4);

    const widened = new Map(files);
    editJson<Manifest>(widened, "manifest.json", ({ period }) => {
      period.from = new Date(from.getTime() - 5000).toISOString();
    });
    expect(idsOf(await verifyForged(widened), "failed")).toContain("period");
    editJson<LogRange>(files, "log/range.json", (each) => {
      each.start = null;
    });
    expect(idsOf(await verifyForged(files), "failed")).toEqual(["period"]);
    const { rows } = await service.pool.query("select 1 from log_leaves where org_id = $1", [org.id]);
    expect(rows.length).toBeGreaterThan(260);
  });
});

test("an agent that cosigned the checkpoint counts once, however many lines it has", async () => {
  const { rotated } = organisation;
  const files = new Map(good);
  const { text } = parseNote(good.get("log/checkpoint") ?? "");
  const { bytes } = parsePublicKeyWire(rotated.publicKeyWire);
  const line = cosignatureLine(
    noteVerifier(rotated.id, "cosignature/v1", bytes),
    1_795_000_000,
    sign(null, cosignatureMessage(1_795_000_000, text), rotated.privateKey),
  );
  const checkpoint = `${String(good.get("log/checkpoint"))}${line.repeat(3)}`;
  files.set("log/checkpoint", Buffer.from(checkpoint));
  for (const path of good.keys())
    if (/^(receipts|events)\//.test(path))
      editJson<ReceiptBundle | EventBundle>(files, path, (bundle) => {
        bundle.checkpoint = checkpoint;
      });
  const outcome = await verifyForged(files);
  expect(outcome.verdict).toBe("true");
  expect(outcome.checks.find(({ id }) => id === "checkpoint")?.detail).toMatch(
    /; 1 agent cosigned it, 1 of them with keys that you gave$/,
  );
  expect(outcome.basis).toMatchObject({
    clock: { witnessed_by: "2026-11-18T11:06:40Z" },
    witnesses: [{ name: rotated.id, at: "2026-11-18T11:06:40Z" }],
  });
  // Asked for, a witness has to have seen it; one that did not leaves the question open.
  const witnessKeys = [rotated, newKeyPair()].map(({ publicKeyWire }) =>
    noteVerifier(rotated.id, "cosignature/v1", parsePublicKeyWire(publicKeyWire).bytes),
  );
  const ask = async (keys: NoteVerifier[], requireWitnesses?: number, path = "changed.zip") => {
    const given = { logKey, keys: [pinned(organisation.agent)], witnessKeys: keys, requireWitnesses };
    const { verdict, checks } = await verifyPackFile(file(path), given);
    return [verdict, checks.find(({ id }) => id === "witnesses")?.result];
  };
  expect(await ask(witnessKeys.slice(0, 1))).toEqual(["true", "held"]);
  expect(await ask(witnessKeys)).toEqual(["cannot_tell", "not_checked"]);
  expect(await ask(witnessKeys, 1)).toEqual(["true", "held"]);
  expect(await ask(witnessKeys.slice(0, 1), undefined, "good.zip")).toEqual(["cannot_tell", "not_checked"]);
});

describe("attestore-verify", () => {
  const agentPub = file("agent.pub");
  beforeAll(() => save(agentPub, Buffer.from(formatPublicKeyPem(pinned(organisation.agent).publicKey))));
  const run = (...args: string[]) => {
    const main = join(import.meta.dirname, "../../../packages/verifier/src/main.ts");
    return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  };

  test("prints text for people, and exits with 0, 1 or 2", async () => {
    const { status, stdout } = run(file("good.zip"), "--log-key", vkey, "--key", agentPub);
    expect(stdout).toMatch(/^TRUE {2}.*good\.zip\n/);
    expect(stdout).toContain("not proven:");
    expect(status).toBe(0);
    for (const words of [
      `given by you (--key ${agentPub}), signed 6`,
      "by a rotation from SHA256:",
      `log key    ${vkey}: given by you`,
      "clock      the service's",
      "witnesses  none",
    ])
      expect(stdout).toContain(words);
    expect(run(file("good.zip"), "--key", agentPub).status).toBe(2);
    const unknown = run(file("good.zip"), "--log-key", vkey, "--expect-passed");
    expect([unknown.status, unknown.stdout.slice(0, 11)]).toEqual([2, "CANNOT TELL"]);
    expect(unknown.stdout).toContain("not given: known only from the operator, signed 6");
    await save(file("cut.zip"), readFileSync(file("good.zip")).subarray(0, -1));
    const cut = run(file("cut.zip"), "--log-key", vkey, "--key", agentPub);
    expect([cut.status, cut.stdout.slice(0, 5)]).toEqual([1, "FALSE"]);
  });

  test("prints JSON for programs, and counts failed and missed tests if asked", () => {
    const { status, stdout } = run(
      file("good.zip"),
      "--log-key",
      vkey,
      "--key",
      agentPub,
      "--json",
      "--expect-passed",
    );
    const answer = JSON.parse(stdout) as { packs: object[] };
    expect(answer).toMatchObject({ verdict: "true", exit_code: 1, expect_passed: "not_met" });
    expect(answer.packs[0]).toMatchObject({
      org_id: organisation.org.id,
      totals: { receipts: 8 },
      error: null,
    });
    expect(status).toBe(1);
  });

  test("refuses options that do not apply to a pack", () => {
    for (const option of [["--ciphertext", file("good.zip")], ["--require-log"], [file("no-pack.json")]])
      expect(run(file("good.zip"), ...option).status, option.join(" ")).toBe(2);
  });
});

describe("a pack opened without our programs", () => {
  test("opens with unzip and Python's zipfile, which find nothing wrong", () => {
    expect(execFileSync("unzip", ["-tq", file("good.zip")], { encoding: "utf8" })).toContain(
      "No errors detected",
    );
    const script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()))";
    expect(execFileSync("python3", ["-c", script, file("good.zip")], { encoding: "utf8" })).toBe(
      `None ${good.size}\n`,
    );
  });

  test("has a README.txt whose commands verify it, and refuse a changed pack", () => {
    const unpacked = file("unpacked");
    execFileSync("unzip", ["-q", file("good.zip"), "-d", unpacked]);
    const commands = [...String(good.get("README.txt")).matchAll(/^ {4}(\S.*)$/gm)]
      .map(([, command]) => command ?? "")
      .filter((command) => !command.startsWith("attestore-verify"));
    expect(commands).toHaveLength(6);
    const shell = () =>
      spawnSync("bash", ["-euo", "pipefail", "-c", ["cp keys/log.vkey .", ...commands].join("\n")], {
        cwd: unpacked,
        encoding: "utf8",
        // From a socket bash would take this for a login over the network, and read what people
        // have for those.
        stdio: ["ignore", "pipe", "pipe"],
      });
    const { status, stdout, stderr } = shell();
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain("Signature Verified Successfully");
    const [digest] = /[0-9a-f]{64}/.exec(stdout) ?? [];
    expect(stdout.split(digest ?? "none")).toHaveLength(3);
    execFileSync("sed", ["-i", "s/passed/PASSED/", join(unpacked, "summary.json")]);
    expect(shell()).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("summary.json: FAILED") as string,
    });
  });
});

test("the verifier reads a pack of more than 65,535 files", async () => {
  const many: Files = new Map(
    Array.from({ length: 65_540 }, (_, n) => [`receipts/${n}`, Buffer.from(String(n))]),
  );
  await writeZip(file("many.zip"), many);
  const reader = await ZipReader.open(await openFileSource(file("many.zip")));
  expect(reader.paths()).toHaveLength(65_540);
  expect(String(await reader.read("receipts/65539", 10))).toBe("65539");
  await reader.close();
});
