import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SmallDisk } from "../../host/test/small-disk.ts";
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
    let asked: string;
    {
      using disk = new SmallDisk(commands, { bytes: 64 << 10, isLazy: true });
      mkdirSync(commandsDone, { recursive: true });
      disk.fill();
      asked = service.command("backup", "papers", "files").id;
      await agent.said("no space left on the disk");
      expect(service.commands.map(({ id }) => id)).toEqual([asked]);
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
    let asked: string;
    {
      using disk = new SmallDisk(receiptsWaiting, { bytes: 16 << 10, isLazy: true });
      disk.fill();
      asked = service.command("backup", "papers", "files").id;
      await agent.said(`${asked}: ENOSPC`);
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
