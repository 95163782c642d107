import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "./service/cli.ts";
import { attachedRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

it("status names only what waits for a service that is away", async () => {
  const service = await TestService.start();
  const root = await attachedRoot(service, "  papers: { engine: files, path: papers }\n");
  const cli = (...args: string[]) => runCli(args, { env: { ATTESTORE_HOME: root.layout.root } });
  try {
    mkdirSync(join(root.layout.root, "papers"));
    writeFileSync(join(root.layout.root, "papers/one.txt"), "one\n");
    await service.stop();
    expect((await cli("backup")).code).toBe(2);
    expect((await cli("status")).stdout).toContain("! 1 backup waits for the service\n");
    expect((await cli("backup")).code).toBe(2);
    expect((await cli("status")).stdout).toContain("! 2 backups wait for the service\n");
  } finally {
    root.remove();
  }
});
