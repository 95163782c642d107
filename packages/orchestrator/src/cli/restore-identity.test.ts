import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "../../test/test-server.ts";

let server: TestServer;
let place: string;
beforeAll(async () => {
  server = await TestServer.create({ first: true });
  place = await mkdtemp(join(tmpdir(), "restore-identity-"));
  await mkdir(join(place, "directory"));
  await writeFile(join(place, "notes.txt"), "no key is in here\n");
});
afterAll(async () => {
  await server.remove();
  await rm(place, { recursive: true });
});

const restore = (...options: string[]) =>
  server.run(["service", "restore", join(place, "none.age"), ...options]).finished;

test("a restore of the service without an identity asks for one", async () => {
  const { exitCode, stderr } = await restore();
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--identity")]);
});

test.each([
  ["missing.key", "cannot be read (ENOENT)"],
  ["directory", "cannot be read (EISDIR)"],
  ["notes.txt", "has no age identity"],
])("a restore of the service says what is wrong with the identity file %s", async (name, words) => {
  const file = join(place, name);
  const { exitCode, stderr } = await restore("--identity", file);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${file} ${words}`)]);
});

test("a restore of the service takes an identity file with another system's line ends", async () => {
  const file = join(place, "windows.key");
  const key = "AGE-SECRET-KEY-18FWZ6RG62Q6QTFSRUVMRTY3DNVHQMJ56W4F2C8VR2E7GH2YT5PPQZEAP3D";
  await writeFile(file, `# created\r\n${key}\r\n`);
  const { stderr } = await restore("--identity", file);
  expect(stderr).toContain("none.age cannot be read (ENOENT)");
});
