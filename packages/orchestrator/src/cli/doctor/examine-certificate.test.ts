import { mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../../platform/config/read-config.ts";
import { ensureLocalCertificate } from "../../platform/tls/certificate-files.ts";
import { serverNames } from "../../platform/tls/names.ts";
import { examineCertificate } from "./examine-certificate.ts";

let data: string;
let tls: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "examine-certificate-"));
  tls = join(data, "tls");
  await ensureLocalCertificate(tls, serverNames([]), new Date());
});
afterEach(() => rm(data, { recursive: true }));

const examine = (more: Partial<Config> = {}) =>
  examineCertificate({ data, publicUrl: "https://localhost:8443", ...more } as Config, new Date());

test("doctor finds a whole authority and its certificate ok, and makes no file", async () => {
  const before = await readdir(tls);
  expect((await examine()).map(({ level }) => level)).toEqual(["ok"]);
  expect(await readdir(tls)).toEqual(before);
});

test.each<[string, (key: string) => Promise<unknown>]>([
  ["missing", (key) => rm(key)],
  ["empty", (key) => truncate(key)],
  ["damaged", (key) => writeFile(key, "-----BEGIN PRIVATE KEY-----\nxxxx\n-----END PRIVATE KEY-----\n")],
])("doctor fails if the authority's key is %s, with which no service starts", async (_how, spoil) => {
  await spoil(join(tls, "ca.key"));
  const before = await readdir(tls);
  expect(await examine()).toContainEqual(
    expect.objectContaining({
      check: "tls",
      level: "failed",
      message: expect.stringContaining(join(tls, "ca.key")) as string,
    }),
  );
  expect(await readdir(tls)).toEqual(before);
});

test("doctor looks for no file of the authority's key if a token has it", async () => {
  await rm(join(tls, "ca.key"));
  expect((await examine({ caKey: "pkcs11:token=attestore;object=ca" })).map(({ level }) => level)).toEqual([
    "ok",
  ]);
});
