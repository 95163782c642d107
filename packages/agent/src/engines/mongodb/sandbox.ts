import { RunError } from "../../errors/run-error.ts";
import type { ForeignMetadata, Sandbox } from "../engine.ts";
import { productOf, releaseOf } from "./product.ts";
import { findServer, findTool } from "./programs.ts";
import { restoreInto } from "./restore-into.ts";
import { startScratchMongodb } from "./scratch-mongodb.ts";

/** Finds a scratch server of the backup's product, and of its release or a newer one. */
export async function findMongodbSandbox(metadata: ForeignMetadata): Promise<Sandbox> {
  const { engine_version: version } = metadata;
  const server = await findServer(version === undefined ? null : productOf(version));
  if (releaseOf(server.version) < releaseOf(version)) {
    throw new RunError(
      "tool_too_old",
      `the backup is of ${server.product} ${String(version).slice(0, 60)}, but the server here is ${server.version}: install that version or a newer one`,
    );
  }
  const mongorestore = await findTool("mongorestore");
  const runtime = { kind: "process", engine: "mongodb", engine_version: server.version } as const;
  return {
    runtime,
    restore: async (content, context) =>
      restoreInto(await startScratchMongodb(server, context), {
        mongorestore,
        version: server.version,
        metadata,
        content,
        context,
      }),
  };
}
