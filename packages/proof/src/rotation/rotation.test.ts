import { describe, expect, it } from "vitest";
import { everyMemberRemoved, everyObjectExtended, everyTypeChanged } from "../../test/changes.ts";
import { ids } from "../../test/receipt-fixture.ts";
import { keyRotation, rotationStatement, signedByBoth } from "../../test/rotation-fixture.ts";
import { ed25519Key, p256Key, type TestKey } from "../../test/signing-keys.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { ProofError } from "../proof-error.ts";
import {
  keyRotationFromJson,
  parseKeyRotation,
  verifyKeyRotation,
  type KeyRotationJson,
} from "./key-rotation.ts";
import { countsAt, keysLedTo } from "./trusted-keys.ts";

const [first, second, third, other] = await Promise.all([1, 2, 3, 4].map(ed25519Key));
if (first === undefined || second === undefined || third === undefined || other === undefined)
  throw new Error("no keys");
const AT = "2026-11-21T12:00:00.000Z";

const statementOf = (before: TestKey, after: TestKey): Record<string, unknown> =>
  rotationStatement(before, after, AT);
const rotation = (before: TestKey, after: TestKey, at = AT): Promise<KeyRotationJson> =>
  keyRotation(before, after, at);

describe("a rotation", () => {
  it("returns the statement that both keys signed, for both kinds of key", async () => {
    const next = await p256Key();
    const file = JSON.stringify({ v: 1, ...(await rotation(first, next)) });
    const said = await verifyKeyRotation(parseKeyRotation(file));
    expect(said).toMatchObject({ rotatedAt: AT, agentId: ids.agent });
    expect([said.before, said.after]).toEqual([first.publicKey, next.publicKey]);
  });

  it.each([
    [
      "signed by another old key",
      () => signedByBoth(statementOf(first, second), other, second),
      "envelope_signature_invalid",
    ],
    [
      "signed by another new key",
      () => signedByBoth(statementOf(first, second), first, other),
      "envelope_signature_invalid",
    ],
    ["to the same key", () => rotation(first, first), "malformed_rotation"],
    [
      "whose subject is another key",
      () =>
        signedByBoth(
          { ...statementOf(first, second), subject: statementOf(first, third)["subject"] },
          first,
          second,
        ),
      "malformed_rotation",
    ],
    [
      "of another type",
      () => signedByBoth(statementOf(first, second), first, second, "text/plain"),
      "malformed_rotation",
    ],
    [
      "with two statements",
      async () => ({
        ...(await rotation(first, second)),
        by_new: (await rotation(first, second, "2026-11-22T12:00:00.000Z")).by_new,
      }),
      "malformed_rotation",
    ],
  ])("is refused %s", async (_, made, code) => {
    await expect(made().then(verifyKeyRotation)).rejects.toMatchObject({ code });
  });

  it("is refused if any member of its statement is missing or of another type", async () => {
    const statement = statementOf(first, second);
    for (const { value: changed, path, how } of [
      ...everyMemberRemoved(statement),
      ...everyTypeChanged(statement),
    ])
      await expect(
        signedByBoth(changed, first, second).then(verifyKeyRotation),
        `${path} ${how}`,
      ).rejects.toBeInstanceOf(ProofError);
  });

  it('is read with unknown members, and is "cannot tell" in another version', async () => {
    const statement = statementOf(first, second);
    for (const { value: changed, path } of everyObjectExtended(statement)) {
      const made = await signedByBoth(changed, first, second);
      expect(await verifyKeyRotation(keyRotationFromJson({ ...made, more: 1 })), path).toMatchObject({
        rotatedAt: AT,
      });
    }
    const made = await rotation(first, second);
    expect(() => keyRotationFromJson({ ...made, v: 2 })).toThrow(
      expect.objectContaining({ code: "unknown_version" }) as Error,
    );
    const later = { ...statement, predicateType: "https://attestore.dev/key-rotation/v2" };
    await expect(signedByBoth(later, first, second).then(verifyKeyRotation)).rejects.toMatchObject({
      code: "unknown_version",
    });
  });

  it("is refused if any member of its file is missing or of another type", async () => {
    const file = await rotation(first, second);
    for (const { value: changed, path, how } of [...everyMemberRemoved(file), ...everyTypeChanged(file)]) {
      // Without a keyid an envelope is one still, that names no key.
      const read = async () => verifyKeyRotation(keyRotationFromJson(changed));
      await expect(read(), `${path} ${how}`).rejects.toBeInstanceOf(ProofError);
    }
    expect(() => parseKeyRotation(" ".repeat(33_000))).toThrow(ProofError);
  });
});

describe("the keys that a trusted one leads to", () => {
  const names = (keys: { fingerprint: string; replacedAt: string | null }[]): string[] =>
    keys.map(({ fingerprint, replacedAt }) => `${fingerprint} ${replacedAt}`);
  const LATER = "2026-12-21T12:00:00.000Z";

  it("are all keys of its chain, starting from any of them, each until it was replaced", async () => {
    const rotations = await Promise.all(
      [
        await rotation(second, third, LATER),
        await rotation(first, second),
        await rotation(other, await ed25519Key(5)),
      ].map(verifyKeyRotation),
    );
    const expected = [
      `${sshFingerprint(first.publicKey)} ${AT}`,
      `${sshFingerprint(second.publicKey)} ${LATER}`,
      `${sshFingerprint(third.publicKey)} ${null}`,
    ];
    for (const trusted of [first, second, third])
      expect(names(keysLedTo(trusted.publicKey, rotations)).toSorted()).toEqual(expected.toSorted());
    expect(keysLedTo(first.publicKey, [])).toMatchObject([{ replacedAt: null }]);
  });

  it("count for runs that ended before the key was replaced", () => {
    expect(countsAt({ replacedAt: null }, LATER)).toBe(true);
    expect(countsAt({ replacedAt: AT }, AT)).toBe(true);
    expect(countsAt({ replacedAt: AT }, "2026-11-21T12:00:00.001Z")).toBe(false);
  });
});
