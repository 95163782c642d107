import { sha256, Sha256 } from "#sha256";
import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.ts";
import { toHex } from "../hex.ts";
import { sha256 as written, Sha256 as Written } from "./sha256.browser.ts";

/** FIPS 180-2 appendix B, and the empty message. */
const vectors: [string, string][] = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
  ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
];

describe.each([
  ["the platform's", sha256],
  ["the written out", written],
])("%s SHA-256", (_name, hash) => {
  it.each(vectors)("of %.20s", (message, digest) => {
    expect(toHex(hash(utf8(message)))).toBe(digest);
  });

  it("agrees with WebCrypto at every length around the block size", async () => {
    for (let length = 0; length <= 200; length++) {
      const message = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 0xff);
      expect(hash(message)).toEqual(new Uint8Array(await crypto.subtle.digest("SHA-256", message)));
    }
  });
});

it.each([
  ["the platform's", Sha256],
  ["the written out", Written],
])("%s SHA-256 of bytes in pieces is that of all of them", (_name, Hash) => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 128, 200, 1000])
    for (const piece of [1, 3, 63, 64, 65, 130]) {
      const message = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 0xff);
      const hash = new Hash();
      for (let at = 0; at < length; at += piece) hash.update(message.subarray(at, at + piece));
      expect(hash.digest(), `${length} by ${piece}`).toEqual(sha256(message));
    }
});

it("SHA-256 is our own code in a browser, and Node's in Node", () => {
  expect(sha256 === written).toBe("window" in globalThis);
});
