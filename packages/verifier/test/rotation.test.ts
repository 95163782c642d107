import { formatPublicKeyPem } from "@attestore/proof";
import { afterAll, describe, expect, it } from "vitest";
import { ids, restoreTestStatement } from "../../proof/test/receipt-fixture.ts";
import { ed25519Key } from "../../proof/test/signing-keys.ts";
import { keyRotation, rotationStatement, signedByBoth } from "../../proof/test/rotation-fixture.ts";
import { attestoreVerify, checksOf, report } from "./cli.ts";
import { agent as first, Evidence, otherAgent as second, signed, vkey } from "./evidence.ts";

const files = new Evidence();
afterAll(() => {
  files.remove();
});

const { finished_at: END } = restoreTestStatement().predicate;
const later = (ms: number): string => new Date(Date.parse(END) + ms).toISOString();

const byFirst = files.writeJson("by-first.json", (await signed(restoreTestStatement(), first)).bundle);
const bySecond = files.writeJson("by-second.json", (await signed(restoreTestStatement(), second)).bundle);
const [firstKey, secondKey] = [first, second].map(({ publicKey }, n) =>
  files.write(`${n}.pub`, formatPublicKeyPem(publicKey)),
) as [string, string];
const inTime = files.writeJson("0001-signing.json", { v: 1, ...(await keyRotation(first, second, END)) });
const tooEarly = files.writeJson("early.json", await keyRotation(first, second, later(-1)));
const ask = (receipt: string, key: string, ...rotations: string[]) =>
  report([receipt, "--key", key, "--log-key", vkey, ...rotations.flatMap((file) => ["--rotation", file])]);

describe("a rotation leads from the trusted key to the other key", () => {
  it.each([
    ["forwards", bySecond, firstKey],
    ["back", byFirst, secondKey],
  ])("%s", async (_what, receipt, key) => {
    const without = await ask(receipt, key);
    expect(without.verdict).toBe("false");
    // Whoever has only the host's present key is not to take its earlier receipts for forged.
    const keyid = without.receipts[0]?.checks.find(({ id }) => id === "keyid");
    expect(keyid?.hint).toContain("--rotation FILE");
    const answer = await ask(receipt, key, inTime);
    expect(answer.verdict).toBe("true");
    expect(checksOf(answer, "held")).toContain("rotation");
  });
});

it("a replaced key does not count for a run that ended later", async () => {
  const answer = await ask(byFirst, firstKey, tooEarly);
  expect([answer.verdict, checksOf(answer, "failed")]).toEqual(["false", ["rotation"]]);
  expect((await ask(bySecond, firstKey, tooEarly)).verdict).toBe("true");
});

it("another agent's rotation leads to no key", async () => {
  const statement = rotationStatement(first, second, END);
  const predicate = { ...(statement["predicate"] as object), agent_id: `${ids.agent.slice(0, -1)}d` };
  const other = files.writeJson("other.json", await signedByBoth({ ...statement, predicate }, first, second));
  const answer = await ask(bySecond, firstKey, other);
  expect([answer.verdict, checksOf(answer, "failed")]).toEqual(["false", ["rotation"]]);
});

it("a rotation that begins at another key does not affect this key's receipts", async () => {
  const [third, fourth] = [await ed25519Key(7), await ed25519Key(8)];
  const statement = rotationStatement(third, fourth, END);
  const predicate = { ...(statement["predicate"] as object), agent_id: `${ids.agent.slice(0, -1)}d` };
  const others = files.writeJson(
    "others.json",
    await signedByBoth({ ...statement, predicate }, third, fourth),
  );
  expect((await ask(bySecond, firstKey, inTime, others)).verdict).toBe("true");
  expect((await ask(byFirst, firstKey, others)).verdict).toBe("true");
});

it("a rotation that one of the two keys did not sign is refused", async () => {
  const { by_old } = await keyRotation(first, second, END);
  const forged = files.writeJson("forged.json", { by_old, by_new: by_old });
  const { code, stdout, stderr } = await attestoreVerify([bySecond, "--key", firstKey, "--rotation", forged]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("forged.json");
});

it("a rotation of the key that decrypts leads to no key and is ignored, as all of a host's are given", async () => {
  const statement = rotationStatement(first, second, END);
  const of = async (key: string, name: string): Promise<string> => {
    const predicate = { ...(statement["predicate"] as object), key, before: ["age1old"], after: ["age1new"] };
    const { by_old } = await signedByBoth({ ...statement, predicate }, first, second);
    return files.writeJson(name, { v: 1, by_old, by_new: null });
  };
  const encryption = await of("encryption", "0002-encryption.json");
  expect((await ask(bySecond, firstKey, inTime, encryption)).verdict).toBe("true");
  expect((await ask(bySecond, firstKey, encryption)).verdict).toBe("false");
  const unsigned = await of("signing", "unsigned.json");
  const { code } = await attestoreVerify([bySecond, "--key", firstKey, "--rotation", unsigned]);
  expect(code).toBe(2);
});

it("a rotation file cannot be given for an evidence pack", async () => {
  const pack = files.write("pack.zip", Uint8Array.of(0x50, 0x4b, 3, 4));
  const { code, stderr } = await attestoreVerify([pack, "--key", firstKey, "--rotation", inTime]);
  expect(code).toBe(2);
  expect(stderr).toContain("--rotation applies to receipts");
});
