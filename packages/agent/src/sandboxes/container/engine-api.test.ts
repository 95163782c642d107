import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EngineApi } from "./engine-api.ts";

it("a container engine's answer that switches protocols fails the request", { timeout: 5000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "attestore-engine-"));
  const runtime = createServer((_request, answer) => {
    answer.writeHead(101, { connection: "upgrade", upgrade: "tcp" }).end();
  });
  const socket = join(directory, "engine.sock");
  await once(runtime.listen(socket), "listening");
  try {
    await expect(new EngineApi(socket).call("GET", "/info")).rejects.toMatchObject({
      name: "EngineApiError",
      status: null,
      code: "another_protocol",
    });
  } finally {
    runtime.closeAllConnections();
    runtime.close();
    rmSync(directory, { recursive: true });
  }
});
