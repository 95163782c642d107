import { afterAll, describe, expect, it } from "vitest";
import { formatPublicKeyWire, formatSshLine, sshFingerprint } from "@attestore/proof";
import { restoreTestStatement } from "../../proof/test/receipt-fixture.ts";
import { attestoreVerify, checksOf, report } from "./cli.ts";
import { agent, otherAgent, otherVkey, signed, usualEvidence, vkey } from "./evidence.ts";

const { files, passed, envelope, backup, key, ciphertext, bundle } = await usualEvidence();
afterAll(() => {
  files.remove();
});

const failing = restoreTestStatement();
failing.predicate.result = "failed";
failing.predicate.reason = "the check has-orders did not hold";
const failed = files.writeJson("failed.json", (await signed(failing)).bundle);
const keys = ["--key", key, "--log-key", vkey];

describe("a true receipt", () => {
  it("is true with everything checked, in text", async () => {
    const { code, stdout, stderr } = await attestoreVerify([passed, ...keys, "--ciphertext", ciphertext]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TRUE {2}.*passed\.json\n/);
    expect(stdout).toContain("the restore test PASSED");
    expect(stdout).toContain('check has-orders passed: expected n >= 1000, observed {"n":20000}');
    for (const id of [
      "signature",
      "keyid",
      "statement",
      "ciphertext",
      "public_key",
      "leaf",
      "log_key",
      "checkpoint",
      "inclusion",
    ])
      expect(stdout).toMatch(new RegExp(`^ {2}held {9}${id} `, "m"));
    expect(stdout).not.toContain("\u001b");
  });

  it("names what a check would not notice, as the host has tried", async () => {
    const statement = restoreTestStatement();
    const [check = expect.unreachable()] = statement.predicate.checks;
    const not_noticed = ["an empty public.orders", "public.orders.placed_at a year older\n  held"];
    check.negative_control = { at: "2026-11-20T02:00:40.000Z", noticed: [], not_noticed, not_tried: [] };
    const file = files.writeJson("blind.json", (await signed(statement)).bundle);
    const { code, stdout } = await attestoreVerify([file, ...keys]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      "      would not notice an empty public.orders; public.orders.placed_at a year older\\u000a  held\n",
    );
  });

  it("is true in JSON, with the whole statement", async () => {
    const answer = await report([passed, ...keys]);
    expect(answer).toMatchObject({
      verdict: "true",
      exit_code: 0,
      expect_passed: null,
      receipts: [
        {
          receipt: passed,
          verdict: "true",
          kind: "restore_test",
          result: "passed",
          statement: restoreTestStatement(),
          error: null,
        },
      ],
    });
    expect(checksOf(answer, "not_checked")).toEqual(["ciphertext"]);
    expect(answer.receipts[0]?.checks.find(({ id }) => id === "ciphertext")?.hint).toBe("--ciphertext FILE");
  });

  it.each([
    ["OpenSSH", `${formatSshLine(agent.publicKey)} agent@host\n`],
    ["base64", formatPublicKeyWire(agent.publicKey)],
  ])("is true with the key as %s and the log's in a file", async (_form, text) => {
    const other = files.write("other-form.pub", text);
    const { code } = await attestoreVerify([
      passed,
      "--key",
      other,
      "--log-key",
      files.write("log.vkey", `${vkey}\n`),
    ]);
    expect(code).toBe(0);
  });

  it("is read from standard input", async () => {
    const { code, stdout } = await attestoreVerify(["-", ...keys], { stdin: JSON.stringify(bundle) });
    expect(stdout).toMatch(/^TRUE {2}-\n/);
    expect(code).toBe(0);
  });

  it("as a bare envelope is true by its signature, and says that the log was not checked", async () => {
    const { code, stdout } = await attestoreVerify([envelope, "--key", key]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/not checked {2}inclusion .*\(give its bundle, or its id with --prove URL\)/);
    expect((await attestoreVerify([envelope, "--key", key, "--require-log"])).code).toBe(2);
  });
});

describe("a receipt that says that the restore test failed", () => {
  it("is true, says so prominently, and exits 0", async () => {
    const { code, stdout } = await attestoreVerify([failed, ...keys]);
    expect(code).toBe(0);
    expect(stdout).toContain("the restore test FAILED: the check has-orders did not hold");
    expect(stdout).toContain("The receipt is true. It says that the restore test FAILED.");
  });

  it("exits 1 where a pass was expected", async () => {
    const answer = await report([failed, ...keys, "--expect-passed"]);
    expect(answer).toMatchObject({ verdict: "true", exit_code: 1, expect_passed: "not_met" });
    expect(await report([backup, passed, failed, ...keys, "--expect-passed"])).toMatchObject({
      exit_code: 1,
    });
    expect((await attestoreVerify([failed, ...keys, "--expect-passed"])).stdout).toContain("NOT PASSED");
  });

  it('is not needed for an answer; without a restore test the result is "cannot tell"', async () => {
    expect(await report([backup, ...keys, "--expect-passed"])).toMatchObject({
      verdict: "true",
      exit_code: 2,
      expect_passed: "cannot_tell",
    });
    expect(await report([backup, passed, ...keys, "--expect-passed"])).toMatchObject({
      exit_code: 0,
      expect_passed: "met",
    });
  });
});

describe("without a key from outside the file", () => {
  it("nothing is true, and the claimed fingerprint is named", async () => {
    const { code, stdout } = await attestoreVerify([passed, "--log-key", vkey]);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^CANNOT TELL/);
    expect(stdout).toContain(sshFingerprint(agent.publicKey));
    expect(stdout).toMatch(/not checked {2}signature .*\(--key FILE\)/);
    expect(stdout).not.toContain("PASSED");
  });

  it("of the log, a bundle is not true either, unless it was asked for less", async () => {
    const answer = await report([passed, "--key", key]);
    expect(answer).toMatchObject({ verdict: "cannot_tell", exit_code: 2 });
    expect(answer.receipts[0]?.checks.find(({ id }) => id === "inclusion")?.hint).toBe("--log-key VKEY");
    expect((await attestoreVerify([passed, "--key", key])).stdout).toContain("what it claims: backup");
    expect((await report([passed, "--key", key, "--no-require-log"])).exit_code).toBe(0);
  });
});

describe("several receipts", () => {
  const forged = structuredClone(bundle);
  forged.leaf.recorded_at = "2020-01-01T00:00:00.000Z";
  const forgedFile = files.writeJson("forged.json", forged);
  const nowhere = `${files.directory}/nowhere.json`;

  it.each([
    ["all true", [passed, backup, failed], 0, "true"],
    ["one unreadable", [passed, nowhere], 2, "cannot_tell"],
    ["one false", [passed, forgedFile, backup], 1, "false"],
    ["one false and one unreadable", [nowhere, forgedFile], 1, "false"],
  ])("%s", async (_what, receipts, code, verdict) => {
    const answer = await report([...receipts, ...keys]);
    expect(answer).toMatchObject({ exit_code: code, verdict });
    expect(answer.receipts.map(({ receipt }) => receipt)).toEqual(receipts);
  });

  it("are counted at the end", async () => {
    const { stdout } = await attestoreVerify([passed, forgedFile, nowhere, ...keys]);
    expect(stdout).toMatch(/\nFALSE {2}3 receipts: 1 true, 1 false, 1 cannot tell\n$/);
  });
});

describe("one thing changed", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const payload = Buffer.from(bundle.envelope.payload, "base64").toString();
  const changes: [string, (json: typeof bundle) => void, string[]][] = [
    [
      "the result",
      (json) => (json.envelope.payload = base64(payload.replaceAll('"passed"', '"failed"'))),
      ["signature", "leaf"],
    ],
    [
      "an observation",
      (json) => (json.envelope.payload = base64(payload.replace("20000", "20001"))),
      ["signature", "leaf"],
    ],
    [
      "the signature",
      (json) => (json.envelope.signatures[0].sig = Buffer.alloc(64).toString("base64")),
      ["signature", "leaf"],
    ],
    [
      "the keyid",
      (json) => (json.envelope.signatures[0].keyid = sshFingerprint(otherAgent.publicKey)),
      ["keyid"],
    ],
    ["the key", (json) => (json.public_key = formatPublicKeyWire(otherAgent.publicKey)), ["public_key"]],
    ["the leaf", (json) => (json.leaf.recorded_at = "2026-11-20T02:00:42.001Z"), ["inclusion"]],
    ["the index", (json) => (json.inclusion_proof.log_index += 1), ["inclusion"]],
    ["a hash", (json) => (json.inclusion_proof.hashes[0] = "00".repeat(32)), ["inclusion"]],
    ["the log's key", (json) => (json.log.verifier_key = otherVkey), ["log_key"]],
    [
      "the checkpoint",
      (json) => (json.checkpoint = json.checkpoint.replace("\n11\n", "\n12\n")),
      ["checkpoint", "inclusion"],
    ],
  ];
  it.each(changes)("%s: refused, and named", async (_what, change, failedChecks) => {
    const changed = structuredClone(bundle);
    change(changed);
    const file = files.writeJson("changed.json", changed);
    const answer = await report([file, ...keys, "--ciphertext", ciphertext]);
    expect(answer).toMatchObject({ verdict: "false", exit_code: 1 });
    expect(checksOf(answer, "failed")).toEqual(failedChecks);
  });

  it("the ciphertext: refused, and named", async () => {
    const other = files.write("other.age", "other bytes");
    const { code, stdout } = await attestoreVerify([passed, ...keys, "--ciphertext", other]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAILED {7}ciphertext/);
  });

  it("the trusted keys: refused, and named", async () => {
    const otherKey = files.write("other.pub", formatPublicKeyWire(otherAgent.publicKey));
    const wrongAgent = await report([passed, "--key", otherKey, "--log-key", vkey]);
    expect(wrongAgent.exit_code).toBe(1);
    expect(checksOf(wrongAgent, "failed")).toEqual(["signature", "keyid", "public_key"]);
    const wrongLog = await report([passed, "--key", key, "--log-key", otherVkey]);
    expect(checksOf(wrongLog, "failed")).toEqual(["log_key", "checkpoint"]);
    expect(wrongLog.exit_code).toBe(1);
  });

  it("the form of a receipt: false, and the place is named", async () => {
    const changed = structuredClone(bundle);
    changed.inclusion_proof.hashes[0] = "zz";
    const answer = await report([files.writeJson("malformed.json", changed), ...keys]);
    expect(answer.exit_code).toBe(1);
    expect(answer.receipts[0]?.error).toMatchObject({ code: "malformed_bundle" });
    expect(answer.receipts[0]?.error?.message).toContain("/inclusion_proof/hashes/0");
  });
});

describe("foreign text in a receipt", () => {
  it("cannot add lines to the report or move the cursor", async () => {
    const sly = restoreTestStatement();
    sly.predicate.result = "failed";
    sly.predicate.reason = "\u001b[2K\rTRUE  every receipt\n\u202edessap";
    const file = files.writeJson("sly.json", (await signed(sly)).bundle);
    const { stdout } = await attestoreVerify([file, ...keys]);
    expect(stdout).toContain("\\u001b[2K\\u000dTRUE  every receipt\\u000a\\u202edessap");
    for (const character of ["\u001b", "\r", "\u202e"]) expect(stdout).not.toContain(character);
  });

  it("cannot do so in the JSON report, which has the same content", async () => {
    const sly = restoreTestStatement();
    sly.predicate.result = "failed";
    sly.predicate.reason = "\u009b2K\u007f\u202edessap\u2028\u{e0001}";
    const file = files.writeJson("sly.json", (await signed(sly)).bundle);
    const { stdout } = await attestoreVerify([file, ...keys, "--json"]);
    expect(stdout).not.toMatch(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(stdout)).toMatchObject({ receipts: [{ statement: sly }] });
  });

  it("cannot do so from the keyid", async () => {
    const changed = structuredClone(bundle);
    changed.envelope.signatures[0].keyid = "\u001b[31mSHA256";
    const { stdout, code } = await attestoreVerify([files.writeJson("sly.json", changed), ...keys]);
    expect(code).toBe(1);
    expect(stdout).not.toContain("\u001b");
  });
});
