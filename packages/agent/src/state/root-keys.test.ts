import { verify, createPublicKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensureAgeIdentity, readIdentities } from "../crypto/age-identity.ts";
import { readAgentToken } from "./agent-token.ts";
import { layoutOf, makeLayout, type Layout } from "./layout.ts";
import { ensureSigningKey, readSigningKey } from "../signer/open-signing-keys.ts";

let layout: Layout;

beforeEach(async () => {
  layout = layoutOf(join(mkdtempSync(join(tmpdir(), "attestore-keys-")), "root"));
  await makeLayout(layout);
});
afterEach(() => {
  rmSync(join(layout.root, ".."), { recursive: true });
});

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

it("other users cannot enter the root's directories", () => {
  for (const path of [layout.root, layout.keys, layout.blobs, layout.receiptsWaiting, layout.scratch])
    expect(mode(path)).toBe("700");
});

it("the signing key is made once, and its public half verifies", async () => {
  const made = await ensureSigningKey(layout);
  const again = await ensureSigningKey(layout);
  expect(again.wire).toBe(made.wire);
  expect(made.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  expect(mode(layout.signingKey)).toBe("600");
  const message = Buffer.from("message");
  const published = createPublicKey(readFileSync(layout.publicKey));
  expect(verify(null, message, published, await made.sign(message))).toBe(true);
});

it("an unusable key file is named", async () => {
  await expect(readSigningKey(layout)).rejects.toMatchObject({ code: "key_file" });
  writeFileSync(layout.signingKey, "garbage");
  await expect(readSigningKey(layout)).rejects.toMatchObject({ code: "key_file" });
  await expect(readAgentToken(layout)).rejects.toMatchObject({ code: "not_attached" });
  writeFileSync(layout.token, "hunter2");
  await expect(readAgentToken(layout)).rejects.toThrow(/token holds no agent token/);
});

it("a missing key or token is asked back from a copy: init refuses a root that is attached", async () => {
  for (const read of [readSigningKey, readAgentToken])
    await expect(read(layout)).rejects.toThrow(/does not exist. Put a copy of it back.*docs\/keys\.md/);
});

it("the age identity is made once, and several identity files are read", async () => {
  const recipient = await ensureAgeIdentity(layout.ageIdentity, null);
  expect(recipient).toMatch(/^age1[a-z0-9]{58}$/);
  expect(await ensureAgeIdentity(layout.ageIdentity, null)).toBe(recipient);
  expect(mode(layout.ageIdentity)).toBe("600");
  const other = join(layout.keys, "other.key");
  await ensureAgeIdentity(other, null);
  expect(await readIdentities([layout.ageIdentity, other])).toHaveLength(2);
  writeFileSync(other, "hunter2\n");
  await expect(readIdentities([other])).rejects.toThrow(/^(?!.*hunter2)/);
  await expect(readIdentities([join(layout.keys, "none")])).rejects.toMatchObject({ code: "key_file" });
});
