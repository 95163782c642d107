/** Old envelopes go into files and come back, whatever happens in between. */
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import { listArchivable } from "./archive-receipts.ts";
import { unarchiveNewest } from "./unarchive-receipts.ts";
import {
  add,
  agent,
  archive,
  archivedFiles,
  directory,
  files,
  findings,
  rows,
  useArchive,
  world,
} from "../../../test/log/archive-world.ts";

useArchive();

describe("archiving", () => {
  test("moves whole groups of 256 entries that are all old, byte for byte, and fsck reads them there", async () => {
    const entries = await add(600, 200);
    expect(await listArchivable(world.byClock)).toContain(agent.orgId);
    expect(await archive()).toMatchObject({ files: 2, receipts: 512 });
    const found = await rows();
    expect(found.map(({ envelope }) => envelope === null)).toEqual(entries.map((_, n) => n < 512));
    const names = await archivedFiles();
    expect(names.map((name) => name.replace(/-[0-9a-f]{16}/, "-…"))).toEqual([
      `archive/${agent.orgId}/000-….json`,
      `archive/${agent.orgId}/001-….json`,
    ]);
    const first = await readFile(join(directory, names[0] ?? ""));
    expect(
      first.equals(
        Buffer.concat(entries.slice(0, 256).flatMap(({ envelope }) => [envelope, Buffer.from("\n")])),
      ),
    ).toBe(true);
    expect(await findings()).toEqual([]);
    expect(await listArchivable(world.byClock)).not.toContain(agent.orgId);
    expect(await archive()).toMatchObject({ files: 0 });
  });

  test("leaves alone what is too young, and an envelope that alone says when its run ended", async () => {
    await add(255, 200);
    await add(1, 50);
    expect(await archive()).toMatchObject({ files: 0 });
    expect(await archive(files, 40)).toMatchObject({ files: 1, receipts: 256 });
    await add(255, 49);
    await add(1, 48, 0);
    expect(await archive(files, 40)).toMatchObject({ files: 1, receipts: 255 });
    expect((await rows()).at(-1)?.envelope).not.toBeNull();
    expect(await findings()).toEqual([]);
  });

  test("the database takes no receipt of the last 30 days out, whoever asks", async () => {
    await add(256, 29);
    await expect(archive(files, 0)).rejects.toMatchObject({ code: "AT002" });
    expect((await rows()).every(({ envelope }) => envelope !== null)).toBe(true);
  });

  test("does not let go of an envelope before the file was read back as it was written", async () => {
    await add(256, 200);
    const forgetful: ServiceFiles = { write: () => Promise.resolve(), read: (...of) => files.read(...of) };
    await expect(archive(forgetful)).rejects.toThrow("other bytes");
    const garbling: ServiceFiles = {
      write: (name, bytes) => files.write(name, Buffer.from(bytes).fill(0x20, 10, 11)),
      read: (...of) => files.read(...of),
    };
    await expect(archive(garbling)).rejects.toThrow("other bytes");
    expect((await rows()).every(({ envelope }) => envelope !== null)).toBe(true);
    await expect(archive()).rejects.toThrow("than its name says");
    await rm(join(directory, (await archivedFiles())[0] ?? ""));
    expect(await archive()).toMatchObject({ files: 1, receipts: 256 });
    expect(await findings()).toEqual([]);
  });

  test("takes nothing out of the database once the object store is another one's", async () => {
    await add(512, 200);
    let asked = 0;
    const gone = async (): Promise<void> => {
      asked += 1;
      if (asked > 1) throw new Error("another store");
    };
    await expect(archive(files, 100, gone)).rejects.toThrow("another store");
    expect((await rows()).filter(({ envelope }) => envelope === null)).toHaveLength(256);
    expect(await archive()).toMatchObject({ files: 1, receipts: 256 });
    expect(await findings()).toEqual([]);
  });

  test("writes no file twice, and over no other one", async () => {
    await add(256, 200);
    await archive();
    const [name = ""] = await archivedFiles();
    const written: string[] = [];
    const counting: ServiceFiles = {
      write: (to, bytes) => {
        written.push(to);
        return files.write(to, bytes);
      },
      read: (...of) => files.read(...of),
    };
    const again = async () => {
      await unarchiveNewest({ db: world.database, files }, agent.orgId);
      return archive(counting);
    };
    expect(await again()).toMatchObject({ files: 1 });
    expect(written).toEqual([]);
    await unarchiveNewest({ db: world.database, files }, agent.orgId);
    const sound = await readFile(join(directory, name));
    await writeFile(join(directory, name), Buffer.from(sound).fill(0x20, 10, 11));
    await expect(archive(counting)).rejects.toThrow("than its name says");
    expect(written).toEqual([]);
    await writeFile(join(directory, name), sound);
    expect(await archive()).toMatchObject({ files: 1 });
  });

  test("cut off after the file was written, it begins again with the same name and content", async () => {
    await add(256, 200);
    const cutOff: ServiceFiles = {
      write: async (name, bytes) => {
        await files.write(name, bytes);
        throw new Error("killed");
      },
      read: (...of) => files.read(...of),
    };
    await expect(archive(cutOff)).rejects.toThrow("killed");
    const left = await archivedFiles();
    expect(left).toHaveLength(1);
    expect(await archive()).toMatchObject({ files: 1 });
    expect(await archivedFiles()).toEqual(left);
  });

  test("another organisation's receipts, or others than were read, are not taken", async () => {
    const entries = await add(256, 200);
    const other = await world.addOrg();
    const call = (org: string, ids: string[], length = 1) =>
      sql`select attestore_archive(${org}, 0, ${Buffer.alloc(32)}, 1, ${ids}::text[], ${ids.map(() => 0)}::integer[],
        ${ids.map(() => length)}::integer[])`.execute(world.byClock);
    const [first] = entries;
    await expect(call(other, [first?.id ?? ""], first?.envelope.length)).rejects.toMatchObject({
      code: "AT002",
    });
    await expect(call(agent.orgId, [first?.id ?? ""], 7)).rejects.toMatchObject({ code: "AT002" });
    expect((await rows()).every(({ envelope }) => envelope !== null)).toBe(true);
  });
});

describe("a file of the archive", () => {
  const only = async (): Promise<string> => join(directory, (await archivedFiles())[0] ?? "");

  test("that is missing, cut off or changed is found by fsck", async () => {
    const entries = await add(256, 200);
    await archive();
    const path = await only();
    const sound = await readFile(path);
    await writeFile(path, sound.toString("latin1").replace("SHA256:", "SHA255:"), "latin1");
    expect(await findings()).toEqual([
      expect.stringContaining(": the envelope does not name the key SHA256:"),
    ]);
    const where = 300 + sound.indexOf('"payload":"', 20_000);
    await writeFile(path, sound.fill(sound[where] === 0x41 ? 0x42 : 0x41, where, where + 1));
    expect(await findings()).toEqual([expect.stringContaining("has another envelope at its place")]);
    await truncate(path, sound.length - 10);
    expect((await findings()).length).toBeGreaterThan(0);
    await rm(path);
    const missing = await findings();
    expect(missing).toHaveLength(entries.length);
    expect(missing[0]).toMatch(/is missing or too short$/);
  });
});

describe("taking back", () => {
  const unarchive = () => unarchiveNewest({ db: world.database, files }, agent.orgId);

  test("puts each envelope into its row again, newest file first, and archiving goes on from there", async () => {
    const entries = await add(512, 200);
    await archive();
    expect(await unarchive()).toBe(256);
    expect((await rows()).map(({ envelope }) => envelope === null)).toEqual(entries.map((_, n) => n < 256));
    expect(await unarchive()).toBe(256);
    expect(await unarchive()).toBeNull();
    const found = await rows();
    expect(found.every(({ envelope }, n) => envelope?.equals(entries[n]?.envelope ?? Buffer.alloc(0)))).toBe(
      true,
    );
    expect(await findings(null)).toEqual([]);
    expect(await archive()).toMatchObject({ files: 2, receipts: 512 });
    expect(await archivedFiles()).toHaveLength(2);
  });

  test("changes nothing if the file is damaged", async () => {
    await add(256, 200);
    await archive();
    const [name = ""] = await archivedFiles();
    const sound = await readFile(join(directory, name));
    await truncate(join(directory, name), 100);
    await expect(unarchive()).rejects.toThrow("missing or too short");
    expect((await rows()).every(({ envelope }) => envelope === null)).toBe(true);
    await writeFile(join(directory, name), sound);
    expect(await unarchive()).toBe(256);
  });
});
