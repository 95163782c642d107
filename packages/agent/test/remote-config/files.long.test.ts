import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newId } from "@attestore/contract";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import {
  command,
  configText,
  directory,
  done,
  refusal,
  root,
  startAgent,
  useHostThatAllowsRequests,
} from "./host-that-allows-requests.ts";

useHostThatAllowsRequests();

/** A directory with databases and files, and with what must not be offered. */
function withData(): { readonly data: string; readonly outside: string } {
  const data = join(directory, `data-${newId("user")}`);
  const outside = `${data}-outside`;
  mkdirSync(join(data, "app", "uploads"), { recursive: true });
  mkdirSync(outside);
  for (const path of [join(data, "app", "ledger.db"), join(outside, "secret.db")]) {
    const made = new DatabaseSync(path);
    made.exec(
      "create table entries (id integer primary key, cents int); insert into entries values (1, 5), (2, 7)",
    );
    made.close();
  }
  writeFileSync(join(data, "app", "uploads", "a.txt"), "a");
  writeFileSync(join(data, "app", "notes.db"), "no database");
  symlinkSync(join(outside, "secret.db"), join(data, "link.db"));
  symlinkSync(outside, join(data, "linked"));
  execFileSync("mkfifo", [join(data, "pipe.db")]);
  return { data, outside };
}

async function offeredFiles() {
  const [{ servers }] = await done("discover");
  return servers.filter(({ engine }) => engine === "sqlite" || engine === "files");
}

it("files and SQLite databases are offered only below directories that the host names, are added, and restore", async () => {
  const { data } = withData();
  await startAgent();
  expect(await offeredFiles()).toEqual([]);
  const on = await command("remote-config", "on", data);
  expect([on.code, on.stdout], on.stderr).toEqual([0, expect.stringContaining(`below ${data}.`)]);
  const [sqlite, files] = await offeredFiles();
  expect([sqlite, files]).toMatchObject([
    { engine: "sqlite", label: data, databases: [{ name: "app/ledger.db" }] },
    { engine: "files", label: data, databases: [{ name: "." }, { name: "app" }, { name: "app/uploads" }] },
  ]);
  for (const [name, server, database, checks] of [
    ["ledger", sqlite, "app/ledger.db", ["has-entries"]],
    ["uploads", files, "app/uploads", []],
  ] as const) {
    const [, tried] = await done("try_source", { place: server?.place, database });
    await done("add_source", { tried, name, checks });
    const config = await readConfig(root.layout.config, root.layout.root);
    expect(config.sources.get(name)).toMatchObject({ engine: server?.engine, path: join(data, database) });
    for (const run of ["backup", "restore-test"])
      expect(await command(run, "--source", name)).toMatchObject({ code: 0 });
  }
  expect((await offeredFiles())[0]?.databases).toEqual([{ name: "app/ledger.db", source: "ledger" }]);
});

it("no path outside of the named directories is reached: not by its name, a link, another place, or after the host took it back", async () => {
  const { data, outside } = withData();
  expect(await command("remote-config", "on", data)).toMatchObject({ code: 0 });
  await startAgent();
  const [sqlite, files] = await offeredFiles();
  const place = sqlite?.place;
  for (const database of [
    "../secret.db",
    `../${basename(outside)}/secret.db`,
    join(outside, "secret.db"),
    "link.db",
    "linked/secret.db",
    "pipe.db",
    "app/./ledger.db",
    "app/ledger.db\0",
  ])
    expect(await refusal({ kind: "try_source", place, database }), database).toContain("no such file");
  for (const database of ["..", "linked", "/etc", "app/.."])
    expect(await refusal({ kind: "try_source", place: files?.place, database }), database).toContain(
      "no such file",
    );
  for (const other of ["sqlite:0000000000000000", "files:0000000000000000"])
    expect(await refusal({ kind: "try_source", place: other, database: "." })).toContain("does not allow");

  // After the trial, something else was put in its place.
  const [, tried] = await done("try_source", { place, database: "app/ledger.db" });
  rmSync(join(data, "app", "ledger.db"));
  symlinkSync(join(outside, "secret.db"), join(data, "app", "ledger.db"));
  const add = { kind: "add_source", tried, name: "ledger", checks: [] };
  expect(await refusal(add)).toContain("no such file");
  rmSync(join(data, "app", "ledger.db"));
  copyFileSync(join(outside, "secret.db"), join(data, "app", "ledger.db"));
  writeFileSync(root.layout.config, configText().replace(/^remote_config_paths:.*\n/m, ""));
  expect(await refusal(add)).toContain("does not allow this directory");
  expect(configText()).not.toContain("ledger");

  // Somebody who may write above the directory can put a link in its place.
  expect(await command("remote-config", "on", data)).toMatchObject({ code: 0 });
  rmSync(data, { recursive: true });
  symlinkSync(outside, data);
  expect(await offeredFiles()).toEqual([]);
  expect((await command("remote-config")).stderr).toContain(`${data} leads through a link to ${outside}`);
  rmSync(data);
  expect((await command("remote-config")).stderr).toContain(`${data} is not there`);
});

it("the agent's own root, which has its keys, is neither named nor offered", async () => {
  const above = dirname(root.layout.root);
  for (const path of [root.layout.root, root.layout.keys, "/", "nowhere"])
    expect(await command("remote-config", "on", path), path).toMatchObject({ code: 2 });
  expect(await command("remote-config", "on", above)).toMatchObject({ code: 0 });
  await startAgent();
  const names = (await offeredFiles()).flatMap(({ databases }) => databases.map(({ name }) => name));
  expect(names.filter((name) => name === "." || name.includes(basename(root.layout.root)))).toEqual([]);
});
