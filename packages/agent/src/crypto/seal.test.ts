import { createHash } from "node:crypto";
import fc from "fast-check";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { beforeAll, describe, expect, test } from "vitest";
import { collect } from "../../test/pieces.ts";
import { RunError } from "../errors/run-error.ts";
import { findHeaderEnd, makeHeader } from "./age-header.ts";
import { encryptPayload } from "./age-payload.ts";
import { holdToDigest } from "./ciphertext.ts";
import { DamagedCiphertext } from "./damaged.ts";
import { seal } from "./seal.ts";
import { unseal } from "./unseal.ts";

const CHUNK = 64 * 1024;
const SEALED_CHUNK = CHUNK + 16;

let identity = "";
let recipient = "";
beforeAll(async () => {
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
});

async function* inPieces(bytes: Uint8Array, ...sizes: number[]): AsyncGenerator<Buffer> {
  const own = Buffer.from(bytes);
  for (let at = 0, index = 0; at < own.length; index++) {
    const size = sizes[index % sizes.length] ?? own.length;
    yield own.subarray(at, at + size);
    at += size;
  }
}

const open = (ciphertext: Uint8Array): Promise<Buffer> =>
  collect(unseal(inPieces(ciphertext, 50_000), [identity]));

/** An age file whose plaintext need not be zstd. */
async function sealAsIs(plaintext: Uint8Array): Promise<Buffer> {
  const header = await makeHeader([recipient]);
  return Buffer.concat([
    header.bytes,
    await collect(encryptPayload(inPieces(plaintext, 10_000), header.payloadKey)),
  ]);
}

async function damageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error("it was accepted"),
    (reason: unknown) => reason,
  );
  if (error instanceof DamagedCiphertext) return error.code;
  throw error;
}

/** Repeatable bytes that do not compress, so that there are as many age chunks as the size says. */
function noise(size: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(size / 64) }, (_, index) =>
    createHash("sha512").update(`${size}/${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, size);
}

test("sealed bytes come back unchanged, whatever pieces they are read and written in", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 3_000_000 }),
      fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 5 }),
      async (size, there, back) => {
        const dump = Buffer.alloc(size, "0123456789 believable line\n");
        noise(Math.min(size, 200_000)).copy(dump);
        const ciphertext = await collect(seal(inPieces(dump, ...there), [recipient]));
        const restored = await collect(unseal(inPieces(ciphertext, ...back), [identity]));
        expect(restored.equals(dump)).toBe(true);
      },
    ),
    { numRuns: 25 },
  );
});

describe("damage", () => {
  test("a cut between two chunks is found, and distinguished from other damage", async () => {
    const ciphertext = await collect(seal(inPieces(noise(5 * CHUNK)), [recipient]));
    const payload = findHeaderEnd(ciphertext) + 16;
    const borders: number[] = [];
    for (let at = payload; at < ciphertext.length; at += SEALED_CHUNK) borders.push(at);
    expect(borders.length).toBeGreaterThan(5);
    for (const border of borders) {
      expect(await damageOf(open(ciphertext.subarray(0, border))), `cut at ${border}`).toBe("truncated");
    }
  });

  test("a cut at any byte of a small ciphertext is found", async () => {
    const ciphertext = await collect(seal(inPieces(Buffer.from("a small dump")), [recipient]));
    expect((await open(ciphertext)).toString()).toBe("a small dump");
    for (let length = 0; length < ciphertext.length; length++) {
      const code = await damageOf(open(ciphertext.subarray(0, length)));
      expect(["not_age", "header_damaged", "truncated", "payload_damaged"]).toContain(code);
    }
  });

  test("any changed bit of a short ciphertext is found, or no identity fits", async () => {
    const ciphertext = await collect(seal(inPieces(Buffer.from("a small dump")), [recipient]));
    for (let bit = 0; bit < ciphertext.length * 8; bit++) {
      const changed = Buffer.from(ciphertext);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const error: unknown = await open(changed).then(
        () => "accepted",
        (reason: unknown) => reason,
      );
      const isTyped =
        error instanceof DamagedCiphertext ||
        (error instanceof RunError && error.code === "identity_missing");
      expect(isTyped, `bit ${bit}: ${String(error)}`).toBe(true);
    }
  });

  test("a change anywhere in many chunks is found", async () => {
    const ciphertext = await collect(seal(inPieces(noise(20 * CHUNK)), [recipient]));
    const payload = findHeaderEnd(ciphertext);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: payload, max: ciphertext.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const changed = Buffer.from(ciphertext);
          changed[at] = (changed[at] ?? 0) ^ mask;
          expect(["payload_damaged", "truncated", "trailing_data"]).toContain(await damageOf(open(changed)));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("chunks in another order, left out or twice are found", async () => {
    const ciphertext = await collect(seal(inPieces(noise(4 * CHUNK)), [recipient]));
    const payload = findHeaderEnd(ciphertext) + 16;
    const chunk = (index: number): Buffer =>
      ciphertext.subarray(payload + index * SEALED_CHUNK, payload + (index + 1) * SEALED_CHUNK);
    const head = ciphertext.subarray(0, payload);
    const rest = ciphertext.subarray(payload + 2 * SEALED_CHUNK);
    for (const order of [
      [chunk(1), chunk(0)],
      [chunk(0)],
      [chunk(0), chunk(0), chunk(1)],
      [chunk(1), chunk(1)],
    ]) {
      expect(await damageOf(open(Buffer.concat([head, ...order, rest])))).toBe("payload_damaged");
    }
  });

  test("bytes after the end are found", async () => {
    for (const size of [0, 10, 3 * CHUNK]) {
      const ciphertext = await collect(seal(inPieces(noise(size)), [recipient]));
      for (const more of [Buffer.alloc(1), Buffer.alloc(16), Buffer.alloc(SEALED_CHUNK), ciphertext]) {
        expect(["payload_damaged", "trailing_data"]).toContain(
          await damageOf(open(Buffer.concat([ciphertext, more]))),
        );
      }
    }
    // Where the end is a full chunk, the two can be told apart.
    const full = await sealAsIs(noise(CHUNK));
    expect(await damageOf(open(Buffer.concat([full, Buffer.alloc(5)])))).toBe("trailing_data");
  });

  test("an empty last chunk after others is found, as the format wants", async () => {
    const { bytes, payloadKey } = await makeHeader([recipient]);
    const first = (await collect(encryptPayload(inPieces(noise(CHUNK + 1)), payloadKey))).subarray(
      0,
      SEALED_CHUNK,
    );
    const { createCipheriv } = await import("node:crypto");
    const nonce = Buffer.from("000000000000000000000101", "hex");
    const cipher = createCipheriv("chacha20-poly1305", payloadKey, nonce, { authTagLength: 16 });
    cipher.final();
    expect(await damageOf(open(Buffer.concat([bytes, first, cipher.getAuthTag()])))).toBe("payload_damaged");
  });

  test("arbitrary bytes give typed errors only", async () => {
    const { bytes } = await makeHeader([recipient]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("", "age-encryption.org/v1\n", bytes.toString("latin1")),
        fc.uint8Array({ maxLength: 70_000 }),
        async (start, rest) => {
          const code = await damageOf(open(Buffer.concat([Buffer.from(start, "latin1"), rest])));
          expect(["not_age", "header_damaged", "truncated", "payload_damaged"]).toContain(code);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("arbitrary headers give typed errors only", async () => {
    const line = fc.oneof(
      fc.constantFrom(
        "-> X25519 abc",
        "-> scrypt AAAAAAAAAAAAAAAAAAAAAA 30",
        "-> a b c",
        "->",
        "--- ",
        "--- AAAA",
        "",
      ),
      fc.base64String({ maxLength: 70 }),
      fc.string({ maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
        const file = Buffer.from(
          `age-encryption.org/v1\n${lines.join("\n")}\n--- ${"A".repeat(43)}\n${"n".repeat(40)}`,
        );
        const error: unknown = await open(file).catch((reason: unknown) => reason);
        expect(
          error instanceof DamagedCiphertext ||
            (error instanceof RunError && error.code === "identity_missing"),
        ).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("an endless header does not fill the memory", async () => {
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from("age-encryption.org/v1\n");
      for (;;) yield Buffer.alloc(10_000, "-> stanza\nAAAA\n");
    }
    expect(await damageOf(collect(unseal(endless(), [identity])))).toBe("header_damaged");
  });

  test("a file that decrypts but is not zstd is refused", async () => {
    expect(await damageOf(sealAsIs(Buffer.from("plain text")).then(open))).toBe("zstd_damaged");
    expect(await damageOf(sealAsIs(Buffer.alloc(0)).then(open))).toBe("zstd_damaged");
  });
});

describe("the digest", () => {
  test("of the whole ciphertext is compared at its end", async () => {
    const bytes = noise(100_000);
    const digest = createHash("sha256").update(bytes).digest("hex");
    expect((await collect(holdToDigest(inPieces(bytes, 7_000), digest))).equals(bytes)).toBe(true);
    expect(await damageOf(collect(holdToDigest(inPieces(bytes.subarray(1), 7_000), digest)))).toBe(
      "digest_mismatch",
    );
    expect(await damageOf(collect(holdToDigest(inPieces(bytes, 7_000), digest.toUpperCase())))).toBe(
      "digest_mismatch",
    );
  });
});

describe("keys", () => {
  test("another person's identity is not reported as damage", async () => {
    const ciphertext = await collect(seal(inPieces(noise(100)), [recipient]));
    const other = await generateX25519Identity();
    await expect(collect(unseal(inPieces(ciphertext), [other]))).rejects.toMatchObject({
      name: "RunError",
      code: "identity_missing",
    });
    await expect(collect(unseal(inPieces(ciphertext), []))).rejects.toMatchObject({
      name: "RunError",
      code: "identity_missing",
    });
    expect((await collect(unseal(inPieces(ciphertext), [other, identity]))).equals(noise(100))).toBe(true);
  });

  test("a mistyped identity is distinguished from damage", async () => {
    const ciphertext = await collect(seal(inPieces(noise(100)), [recipient]));
    const mistyped = `${identity.slice(0, -1)}${identity.endsWith("Q") ? "P" : "Q"}`;
    const error: unknown = await collect(unseal(inPieces(ciphertext), [mistyped])).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: "RunError", code: "identity_invalid" });
    expect(String(error)).not.toContain(mistyped.slice(20, 40));
  });

  test.each([
    "",
    "age1",
    "AGE-SECRET-KEY-1",
    "age1pq1qqqq",
    "ssh-ed25519 AAAA",
    "age1q7srl72adqk0m74z5t0dvcyk2gh2knlzm3yd3vmrkvtgarkr3vvq43lzrg",
  ])("%j is no recipient", async (invalid) => {
    await expect(collect(seal(inPieces(noise(1)), [recipient, invalid]))).rejects.toMatchObject({
      code: "recipient_invalid",
    });
  });

  test("a backup without recipients is refused", async () => {
    await expect(collect(seal(inPieces(noise(1)), []))).rejects.toMatchObject({ code: "recipient_invalid" });
  });
});
