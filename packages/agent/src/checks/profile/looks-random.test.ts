import { createCipheriv, createHash, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import fc from "fast-check";
import { looksRandom, looksRandomBytes } from "./looks-random.ts";

/** The text as somebody leaves it who encrypts in place. */
function encrypted(text: string, index: number): Buffer {
  const key = createHash("sha256").update("the attacker's").digest();
  const iv = createHash("md5").update(String(index)).digest();
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  return Buffer.concat([cipher.update(text), cipher.final()]);
}

const ORDINARY = [
  "Please leave the parcel with the neighbours if nobody answers the door.",
  "Bitte klingeln Sie zweimal; der Hund ist harmlos. Tür links, 2. Stock, c/o Müller-Lüdenscheidt",
  "配達は午後にお願いします。玄関の前に置いてください。よろしくお願いします。",
  "anna.maria.schmidt-muster+newsletter@verwaltung.example.com",
  "https://shop.example.com/products/garden/chairs?colour=green&size=L&page=2",
  "/var/lib/attachments/2026/11/23/Invoice_2026-11-23_0001.pdf",
  "how-to-write-a-really-long-blog-post-title-in-2026",
  "getUserByIdFromCacheOrDatabase2AndStoreIt",
  "INV-2026-000123-CUSTOMER-000045",
  "DE89 3704 0044 0532 0130 00",
  "2026-11-23T20:31:45.123456+00:00",
  "123456789012345678901234567890",
  "0000000000000000000000000000000000000000",
  '{"event":"login","user":4711,"ip":"192.0.2.17","ok":true,"agent":"Mozilla/5.0 (X11; Linux x86_64)"}',
  '<p>The <b>new</b> version has <a href="/docs">documents</a>.</p>',
  "SELECT id, name FROM customers WHERE created_at > now() - interval '1 day'",
  "ACME GmbH & Co. KG, Musterstraße 17, 12345 Musterstadt",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)",
];

test.each(ORDINARY)("%s does not look encrypted", (text) => {
  expect(looksRandom(text)).toBe(false);
});

test("UUIDs and texts of words do not look encrypted", () => {
  for (let i = 0; i < 200; i += 1) expect(looksRandom(randomUUID())).toBe(false);
  const word = fc.stringMatching(/^[A-Z]?[a-z]{1,9}[,.]?$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 4, maxLength: 30 }), (words) => {
      expect(looksRandom(words.join(" "))).toBe(false);
    }),
    { numRuns: 50 },
  );
});

test.each(["base64", "base64url", "hex", "latin1"] as const)(
  "at least 9 of 10 texts look encrypted after encryption, as %s, alone or behind a mark",
  (encoding) => {
    for (const mark of ["", "enc:", "v1:"]) {
      const found = Array.from({ length: 300 }, (_, index) =>
        looksRandom(mark + encrypted(`text ${index} of somebody`, index).toString(encoding)),
      );
      expect(found.filter(Boolean).length, `${mark}${encoding}`).toBeGreaterThanOrEqual(270);
    }
  },
);

test("bytes look encrypted after encryption, and not as a file or as text", () => {
  const long = ORDINARY.join("\n");
  expect(looksRandomBytes(encrypted(long, 1).toString("hex"))).toBe(true);
  expect(looksRandomBytes(encrypted("a text of 40 bytes, or a few more of them", 1).toString("hex"))).toBe(
    true,
  );
  expect(looksRandomBytes(Buffer.from(long).toString("hex"))).toBe(false);
  expect(looksRandomBytes(`ffd8ff${encrypted(long, 1).toString("hex")}`)).toBe(false);
});

test("any text gets an answer, also half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
      expect(typeof looksRandom(text)).toBe("boolean");
      expect(typeof looksRandomBytes(Buffer.from(text).toString("hex").slice(1))).toBe("boolean");
    }),
    { numRuns: 30 },
  );
});
