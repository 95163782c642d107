import { cosignatureLine, cosignatureMessage, formatVerifierKey, parseNote } from "@attestore/proof";
import { describe, expect, test } from "vitest";
import {
  bundleOf,
  LOG_NAME,
  restoreTestStatement,
  signStatement,
} from "../../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../../proof/test/signing-keys.ts";
import { chooseCiphertext, namedCiphertext } from "../verification/choose-ciphertext.ts";
import { chooseKeys } from "../verification/choose-keys.ts";
import { NO_TEXTS, readTexts } from "../verification/key-texts.ts";
import { type KeyOrigin, verifyInBrowser } from "./verify-in-browser.ts";

const agent = await ed25519Key(1);
const other = await ed25519Key(2);
const log = await ed25519Key(3);
const statement = restoreTestStatement();
const envelope = await signStatement(statement, agent);
const bundle = await bundleOf({ statement, envelope, agent, log });
const logKey = verifierOf(log, LOG_NAME);
const witness = verifierOf(agent, "agent_1", "cosignature/v1");
const silent = verifierOf(other, "agent_2", "cosignature/v1");

const keysOf = (origin: KeyOrigin, witnesses = [witness]) => ({
  agent: { key: agent.publicKey, origin },
  log: { key: logKey, origin },
  witnesses: witnesses.map((key) => ({ key, origin })),
});

describe("a verdict", () => {
  test(`is "cannot tell" with the service's own keys, and true with the reader's or the browser's`, async () => {
    for (const [origin, verdict, heldByServed] of [
      ["served", "cannot_tell", true],
      ["given", "true", false],
      ["remembered", "true", false],
    ] as const)
      expect(await verifyInBrowser({ bundle }, keysOf(origin, []))).toMatchObject({
        verdict,
        heldByServed,
        independent: !heldByServed,
      });
    const mixed = { ...keysOf("given", []), log: { key: logKey, origin: "served" as const } };
    expect((await verifyInBrowser({ bundle }, mixed)).verdict).toBe("cannot_tell");
    expect((await verifyInBrowser({ envelope }, mixed)).verdict).toBe("true");
    const wrong = { ...keysOf("served", []), agent: { key: other.publicKey, origin: "served" as const } };
    expect(await verifyInBrowser({ bundle }, wrong)).toMatchObject({ verdict: "false", heldByServed: false });
  });

  test("needs every witness that the reader names, and none that the service names", async () => {
    const { text } = parseNote(bundle.checkpoint);
    const signature = await agent.sign(cosignatureMessage(1_795_000_000, text));
    const line = cosignatureLine(witness, 1_795_000_000, signature);
    const seen = { ...bundle, checkpoint: bundle.checkpoint + line };
    const verdictOf = async (...keys: Parameters<typeof keysOf>) =>
      (await verifyInBrowser({ bundle: seen }, keysOf(...keys))).verdict;
    expect(await verdictOf("given", [witness])).toBe("true");
    expect(await verdictOf("given", [witness, witness])).toBe("true");
    expect(await verdictOf("given", [witness, silent])).toBe("cannot_tell");
    expect(await verifyInBrowser({ bundle: seen }, keysOf("served", [witness, silent]))).toMatchObject({
      heldByServed: true,
    });
    const forged = { ...bundle, checkpoint: bundle.checkpoint + line.replace("agent_1", "agent_3") };
    const named = verifierOf(agent, "agent_3", "cosignature/v1");
    expect((await verifyInBrowser({ bundle: forged }, keysOf("served", [named]))).heldByServed).toBe(true);
  });
});

test("uses a receipt's own key among several agents' keys, and only from those given", () => {
  const chosen = chooseKeys(
    { bundle },
    {
      agents: [other.publicKey, agent.publicKey],
      logs: [verifierOf(other, "elsewhere"), logKey],
      witnesses: [],
    },
  );
  expect(chosen.agent?.key).toBe(agent.publicKey);
  expect(chosen.log?.key).toBe(logKey);
  const wrong = chooseKeys({ bundle }, { agents: [other.publicKey], logs: [], witnesses: [] });
  expect(wrong).toMatchObject({ agent: { key: other.publicKey }, log: null });
});

test("compares a receipt with its own ciphertext among several, or else with one that no receipt names", () => {
  const [own] = statement.subject.map(({ digest }) => digest.sha256);
  const [others, strange] = ["aa".repeat(32), "bb".repeat(32)];
  const choose = (files: string[], pasted?: string) =>
    chooseCiphertext({ bundle }, { pasted, files, named: new Set([own ?? "", others]) });
  expect(namedCiphertext({ bundle })).toBe(own);
  expect(choose([others, strange, own ?? ""])).toBe(own);
  expect(choose([others, strange])).toBe(strange);
  expect(choose([others])).toBeUndefined();
  expect(choose([own ?? ""], strange)).toBe(strange);
});

describe("pasted text", () => {
  test("gives keys, and the digest from sha256sum's output", () => {
    const digest = "ab".repeat(32);
    const read = readTexts({
      agent: bundle.public_key,
      log: ` ${formatVerifierKey(logKey)}\n`,
      witnesses: `${formatVerifierKey(witness)}\n\n${formatVerifierKey(silent)}\n`,
      ciphertext: `${digest.toUpperCase()}  backup.age`,
    });
    expect(read.errors).toEqual({});
    expect(read.ciphertextSha256).toBe(digest);
    expect(read.keys.witnesses).toHaveLength(2);
    expect(read.keys.agent?.origin).toBe("given");
  });

  test("of the wrong kind shows an error at its field", () => {
    const { errors, keys } = readTexts({
      agent: formatVerifierKey(logKey),
      log: formatVerifierKey(witness),
      witnesses: "noise",
      ciphertext: "abc",
    });
    expect(errors).toEqual({
      agent: "This is a log's key.",
      log: "This is a witness's key.",
      witnesses: expect.stringContaining("Nothing to verify") as string,
      ciphertext: "Not 64 hexadecimal digits.",
    });
    expect(keys).toEqual({ agent: null, log: null, witnesses: [] });
    expect(readTexts(NO_TEXTS)).toEqual({ keys, ciphertextSha256: undefined, errors: {} });
  });
});
