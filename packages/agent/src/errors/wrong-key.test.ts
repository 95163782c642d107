import { formatSshLine, publicKeyFromBytes } from "@attestore/proof";
import { expect, test } from "vitest";
import { requireRecipient } from "../cli/keys/choose-recipients.ts";
import { parseIdentities } from "../crypto/age-identity.ts";
import { parseConfig } from "../config/config.ts";

const SECRET = `AGE-SECRET-KEY-1${"Q".repeat(58)}`;
// RFC 8032, section 7.1, the first key.
const PUBLIC_KEY = formatSshLine(
  publicKeyFromBytes(Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex")),
);
const AUTH_KEY = `atk_0123456789_${"a".repeat(32)}`;

test("--recipient with an age identity says what that is, and does not repeat it", () => {
  expect(() => requireRecipient(SECRET)).toThrow(/\(this is an age identity, which is secret: --identity/);
  expect(() => requireRecipient(SECRET)).not.toThrow(/QQQ/);
});

test("an identity file that holds another kind of key says which", () => {
  expect(() => parseIdentities(`age1${"q".repeat(58)}`, "x.key")).toThrow(/this is an age recipient/);
  expect(() => parseIdentities(`${PUBLIC_KEY}\n`, "x.key")).toThrow(/attestore-verify takes it with --key/);
  expect(() => parseIdentities(AUTH_KEY, "x.key")).toThrow(/this is an auth key/);
});

test("test_for with a key in place of its fingerprint says which kind was given", () => {
  const text = `sources: { a: { engine: sqlite, path: /x } }\ntest_for: { a: { keys: ["${PUBLIC_KEY}"] } }\n`;
  expect(() => parseConfig(text, "/r/config.yaml", "/r")).toThrow(/this is the public half of a signing key/);
});
