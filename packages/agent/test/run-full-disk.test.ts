import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

let service: TestService;
let root: TestRoot;

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  papers: { engine: files, path: papers }\n");
  mkdirSync(join(root.layout.root, "papers"));
  writeFileSync(join(root.layout.root, "papers/one.txt"), "one\n");
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

it("a running agent reports a full disk, keeps running, and does the queued work when there is room", async () => {
  const { commands, commandsDone } = root.layout;
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  try {
    await agent.said("attestore runs as");
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", commands]);
    expect(mounted.status, String(mounted.stderr)).toBe(0);
    let asked: string;
    try {
      mkdirSync(commandsDone, { recursive: true });
      spawnSync("dd", ["if=/dev/zero", `of=${join(commands, "filler")}`, "bs=1k"]);
      asked = service.command("backup", "papers", "files").id;
      await agent.said("no space left on the disk");
      expect(service.commands.map(({ id }) => id)).toEqual([asked]);
    } finally {
      const gone = spawnSync("umount", ["--lazy", commands]);
      expect(gone.status, String(gone.stderr)).toBe(0);
    }
    await agent.said("there is disk space again");
    await agent.said(`${asked}: backed up papers`);
    expect(agent.process.exitCode).toBeNull();
    expect(service.events).toEqual([]);
    expect(existsSync(join(commandsDone, `${asked}.json`))).toBe(true);
  } finally {
    agent.process.kill("SIGTERM");
    await agent.finished;
  }
});

it("a running agent whose disk fills up during a run reports the run as failed, and keeps running", async () => {
  const { receiptsWaiting, commandsDone } = root.layout;
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  try {
    await agent.said("attestore runs as");
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16k,mode=0700", "tmpfs", receiptsWaiting]);
    expect(mounted.status, String(mounted.stderr)).toBe(0);
    let asked: string;
    try {
      spawnSync("dd", ["if=/dev/zero", `of=${join(receiptsWaiting, "filler")}`, "bs=1k"]);
      asked = service.command("backup", "papers", "files").id;
      await agent.said(`${asked}: ENOSPC`);
    } finally {
      const gone = spawnSync("umount", ["--lazy", receiptsWaiting]);
      expect(gone.status, String(gone.stderr)).toBe(0);
    }
    const next = service.command("backup", "papers", "files").id;
    await agent.said(`${next}: backed up papers`);
    expect(agent.process.exitCode).toBeNull();
    expect(existsSync(join(commandsDone, `${asked}.json`))).toBe(true);
  } finally {
    agent.process.kill("SIGTERM");
    await agent.finished;
  }
});
