import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskStore } from "../../platform/objects/disk-store.ts";
import { requireStored } from "./stored-ciphertext.ts";
import type { Upload } from "./upload-store.ts";

const KEY = "org_1/src_1/upl_1.age";
const bytes = randomBytes(5000);
const upload: Upload = {
  id: "upl_1",
  org_id: "org_1",
  source_id: "src_1",
  agent_id: "agent_1",
  object_key: KEY,
  sha256: createHash("sha256").update(bytes).digest(),
  size_bytes: bytes.length,
  multipart: null,
  expires_at: new Date(),
};

/** A disk whose objects are read, and locked, when the test says so. */
class HeldStore extends DiskStore {
  release: () => void = () => undefined;
  readonly released = new Promise<void>((resolve) => (this.release = resolve));
  protectedKeys: string[] = [];

  override async hash(key: string) {
    await this.released;
    return super.hash(key);
  }

  override async protect(key: string) {
    this.protectedKeys.push(key);
  }
}

let directory: string;
let store: HeldStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "objects-"));
  store = new HeldStore({ directory, publicUrl: "https://localhost", hmacKey: Buffer.alloc(32) });
  await mkdir(dirname(join(directory, KEY)), { recursive: true });
  await writeFile(join(directory, KEY), bytes);
});
afterEach(() => rm(directory, { recursive: true }));

test("work longer than an answer may take is reported as going on, and the same request later finds it done", async () => {
  await expect(requireStored(store, upload, undefined, 5)).rejects.toMatchObject({
    code: "unavailable",
    status: 503,
    details: { verifying: true },
    headers: { "retry-after": "2" },
  });
  expect(store.protectedKeys).toEqual([]);
  store.release();
  await requireStored(store, upload, undefined);
  expect(store.protectedKeys).toContain(KEY);
});

test("only the announced bytes are locked", async () => {
  store.release();
  await writeFile(join(directory, KEY), randomBytes(bytes.length));
  await expect(requireStored(store, upload, undefined)).rejects.toMatchObject({ code: "object_mismatch" });
  await rm(join(directory, KEY));
  await expect(requireStored(store, upload, undefined)).rejects.toMatchObject({ code: "object_missing" });
  expect(store.protectedKeys).toEqual([]);
});
