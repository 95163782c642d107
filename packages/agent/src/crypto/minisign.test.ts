import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { verifyMinisign } from "./minisign.ts";

const SIGNED = Buffer.from("0".repeat(64) + "  attestore.deb\n");

let directory: string;
let key: string;
let signature: string;
let otherKey: string;
let legacy: string;

function minisign(...args: string[]): void {
  execFileSync("minisign", args, { cwd: directory, stdio: "ignore" });
}

const publicKey = (name: string): string =>
  readFileSync(join(directory, `${name}.pub`), "utf8").split("\n")[1] ?? "";

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "attestore-minisign-"));
  writeFileSync(join(directory, "sums"), SIGNED);
  for (const name of ["one", "other"]) minisign("-G", "-W", "-p", `${name}.pub`, "-s", name);
  minisign("-S", "-s", "one", "-m", "sums", "-t", "attestore 1.2.3");
  minisign("-S", "-l", "-s", "one", "-m", "sums", "-x", "legacy", "-t", "attestore 1.2.3");
  [key, otherKey] = [publicKey("one"), publicKey("other")];
  signature = readFileSync(join(directory, "sums.minisig"), "utf8");
  legacy = readFileSync(join(directory, "legacy"), "utf8");
});
afterAll(() => rmSync(directory, { recursive: true }));

it("a signature made by minisign verifies, and its trusted comment is returned", () => {
  expect(verifyMinisign(key, SIGNED, signature)).toBe("attestore 1.2.3");
});

it("a minisign signature does not verify with other bytes, another key or another comment", () => {
  expect(verifyMinisign(key, Buffer.from("x"), signature)).toBeNull();
  expect(verifyMinisign(otherKey, SIGNED, signature)).toBeNull();
  expect(verifyMinisign(key, SIGNED, signature.replace("1.2.3", "1.2.4"))).toBeNull();
});

it("a minisign key whose id was changed to the signature's does not verify", () => {
  const forged = Buffer.from(otherKey, "base64");
  Buffer.from(key, "base64").copy(forged, 2, 2, 10);
  expect(verifyMinisign(forged.toString("base64"), SIGNED, signature)).toBeNull();
});

it("only a single prehashed minisign signature is accepted", () => {
  expect(verifyMinisign(key, SIGNED, legacy)).toBeNull();
  expect(verifyMinisign(key, SIGNED, `${signature}more\n`)).toBeNull();
  expect(verifyMinisign(key, SIGNED, "")).toBeNull();
  expect(verifyMinisign("RW", SIGNED, signature)).toBeNull();
});
