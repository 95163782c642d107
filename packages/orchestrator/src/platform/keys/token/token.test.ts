import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createTestToken, type TestToken } from "../../../../test/test-token.ts";
import { tokenSealingKey, tokenSigningKey } from "./token-keys.ts";
import { Token } from "./token.ts";

let hsm: TestToken;
let token: Token;
const open: Token[] = [];
beforeAll(async () => {
  hsm = await createTestToken();
  token = opened();
  await token.generate(hsm.uri("log"), "ed25519");
  await token.generate(hsm.uri("sealing"), "aes256");
});
afterEach(async () => {
  for (const one of open.splice(1)) await one.close();
});
afterAll(async () => {
  await token.close();
  await hsm.remove();
});

function opened(more: { module?: string; pin?: string; answerWithinMs?: number } = {}): Token {
  const one = new Token({ module: hsm.module, pin: hsm.pin, ...more });
  open.push(one);
  return one;
}

test("a key of the token signs the same each time, also after a new start", async () => {
  const message = randomBytes(300);
  const key = await tokenSigningKey(token, hsm.uri("log"));
  const first = await key.sign(message);
  const again = await tokenSigningKey(opened(), hsm.uri("log"));
  expect(again.publicKey).toEqual(key.publicKey);
  expect(await again.sign(message)).toEqual(first);
});

test("a key that is moved in signs as it did, and cannot be read out", async () => {
  const pair = generateKeyPairSync("ed25519");
  const { x, d } = pair.privateKey.export({ format: "jwk" });
  const material = {
    secret: Buffer.from(d ?? "", "base64url"),
    publicKey: Buffer.from(x ?? "", "base64url"),
  };
  await token.import(hsm.uri("moved"), "ed25519", material);
  const key = await tokenSigningKey(token, hsm.uri("moved"));
  const message = randomBytes(40);
  expect(Buffer.from(await key.sign(message))).toEqual(
    sign(null, message, createPrivateKey(pair.privateKey.export({ format: "pem", type: "pkcs8" }))),
  );
  // A second one under the name would leave open which is meant.
  await token.import(hsm.uri("moved"), "ed25519", material);
  await expect(token.find(hsm.uri("moved"), "ed25519")).rejects.toMatchObject({ reason: "key" });
});

test("a sealed value opens only under the same purpose and key", async () => {
  const { sealer, check } = await tokenSealingKey(token, hsm.uri("sealing"));
  const plain = randomBytes(5000);
  const sealed = await sealer.seal(plain, "mail");
  expect(
    (await (await tokenSealingKey(opened(), hsm.uri("sealing"))).sealer.open(sealed, "mail")).equals(plain),
  ).toBe(true);
  await expect(sealer.open(sealed, "other")).rejects.toThrow();
  for (const at of [0, 5, 20, 60, 70, 2000, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await expect(sealer.open(changed, "mail"), String(at)).rejects.toThrow();
  }
  await token.generate(hsm.uri("other-sealing"), "aes256");
  const other = await tokenSealingKey(token, hsm.uri("other-sealing"));
  expect(other.check).not.toBe(check);
  await expect(other.sealer.open(sealed, "mail")).rejects.toMatchObject({ reason: "data" });
});

test("a wrong module, a missing token and a missing key are each named", async () => {
  for (const module of ["/nonexistent.so", "/etc/passwd", "/lib/x86_64-linux-gnu/libm.so.6"])
    await expect(opened({ module }).find(hsm.uri("log"), "ed25519"), module).rejects.toMatchObject({
      code: "key_token",
      reason: "module",
      message: expect.stringContaining("ATTESTORE_PKCS11_MODULE"),
    });
  await expect(token.find("pkcs11:token=other;object=log", "ed25519")).rejects.toMatchObject({
    reason: "token",
  });
  expect(await token.find(hsm.uri("nothing"), "ed25519")).toBeNull();
  await expect(tokenSigningKey(token, hsm.uri("nothing"))).rejects.toMatchObject({
    code: "key_token",
    reason: "key",
  });
  // The kind counts too.
  expect(await token.find(hsm.uri("sealing"), "ed25519")).toBeNull();
});

test("a PIN that the token refused is tried once, and is in no message", async () => {
  const wrong = opened({ pin: "99999999" });
  const failure = await wrong.find(hsm.uri("log"), "ed25519").catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "key_token_pin", reason: "pin", answer: { status: 503 } });
  expect(String(failure)).not.toContain("99999999");
  const { pid } = wrong;
  await expect(wrong.sign(hsm.uri("log"), "ed25519", randomBytes(3))).rejects.toMatchObject({
    reason: "pin",
  });
  expect(wrong.pid).toBe(pid);
});

test("a process that is killed is started again; one that does not answer is ended, and what waits is refused", async () => {
  const one = opened({ answerWithinMs: 1000 });
  const key = await tokenSigningKey(one, hsm.uri("log"));
  process.kill(one.pid ?? 0, "SIGKILL");
  await key.sign(randomBytes(9));
  process.kill(one.pid ?? 0, "SIGSTOP");
  const hung = one.pid ?? 0;
  const all = await Promise.allSettled([1, 2, 3].map(() => key.sign(randomBytes(9))));
  for (const result of all)
    expect(result).toMatchObject({
      status: "rejected",
      reason: { reason: "silent", answer: { status: 503 } },
    });
  await expect.poll(() => readFile(`/proc/${hung}/stat`, "utf8").catch(() => "gone")).toBe("gone");
});

test("a token that is unplugged is named, and used again once it is back", async () => {
  const one = opened();
  const key = await tokenSigningKey(one, hsm.uri("log"));
  await hsm.unplug();
  try {
    await expect(key.sign(randomBytes(9))).rejects.toMatchObject({ code: "key_token" });
  } finally {
    await hsm.plugIn();
  }
  await key.sign(randomBytes(9));
});

test("the process that has the module has no secret of the service in its environment", async () => {
  process.env["ATTESTORE_SMTP_URL"] = "smtp://u:hidden@h";
  try {
    const one = opened();
    await one.find(hsm.uri("log"), "ed25519");
    const text = await readFile(`/proc/${one.pid}/environ`, "utf8");
    expect(text).toContain("SOFTHSM2_CONF=");
    expect(text).not.toContain("hidden");
    expect(await readFile(`/proc/${one.pid}/cmdline`, "utf8")).not.toContain(hsm.pin);
  } finally {
    delete process.env["ATTESTORE_SMTP_URL"];
  }
});
