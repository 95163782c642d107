import fc from "fast-check";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { readPublicKey } from "./agent-public-key.ts";

function newKey(): Buffer {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

test("the service takes every Ed25519 key that Node makes", () => {
  for (let n = 0; n < 200; n++) expect(readPublicKey(newKey().toString("base64")).algorithm).toBe("ed25519");
});

test("the service takes every P-256 key that Node makes", () => {
  for (let n = 0; n < 50; n++) {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const wire = publicKey.export({ format: "der", type: "spki" });
    const read = readPublicKey(wire.toString("base64"));
    expect(
      createPublicKey({ key: Buffer.from(read.bytes), format: "der", type: "spki" }).equals(publicKey),
    ).toBe(true);
  }
});

test("the service refuses 32 bytes that are not a point of the curve, about half of all", () => {
  let points = 0;
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32, size: "max" }), (bytes) => {
      try {
        readPublicKey(Buffer.from(bytes).toString("base64"));
        points += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_request" });
      }
    }),
    { numRuns: 400, seed: 1, examples: [] },
  );
  expect(points).toBeGreaterThan(120);
  expect(points).toBeLessThan(280);
});

test("the check of a key throws only invalid_request, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      ),
      (text) => {
        try {
          readPublicKey(text);
        } catch (error) {
          expect(error).toMatchObject({
            code: "invalid_request",
            details: { issues: [{ path: "/public_key" }] },
          });
        }
      },
    ),
  );
});
