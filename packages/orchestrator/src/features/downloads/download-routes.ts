import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { errorCode } from "@attestore/host/errno";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from "fastify";
import { ApiError } from "../../platform/errors/api-error.ts";

export interface Downloads {
  /** Output of `npm run package`: SHA256SUMS with its signature, and the files that it lists. */
  directory: string;
  /** Certificate of the service's own CA; null if the operator brought a certificate. */
  caPem: string | null;
}

/** The output directory of `npm run package`. */
export const BUILT_HERE = fileURLToPath(new URL("../../../../../dist", import.meta.url));

/** A single file name without a path, and no hidden file. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}$/;

/**
 * Everything that a new host needs, open to everybody: `GET /install.sh`, `GET /download/<file>`,
 * and `GET /ca.pem`, which the host compares with a fingerprint that it got in another way.
 */
export function downloadRoutes({ directory, caPem }: Downloads): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get("/install.sh", (_request, reply) =>
      send(directory, "install.sh", reply.type("text/x-shellscript; charset=utf-8")),
    );
    app.get("/download/:file", (request, reply) => {
      const { file } = request.params as { file: string };
      return send(directory, file, reply.type("application/octet-stream"));
    });
    app.get("/ca.pem", (_request, reply) => {
      if (caPem === null)
        throw new ApiError("not_found", "This service's certificate was not issued by its own authority.");
      return reply.type("application/x-pem-file").send(caPem);
    });
  };
}

async function send(directory: string, name: string, reply: FastifyReply): Promise<FastifyReply> {
  if (!NAME.test(name)) throw absent(name);
  const file = await openFile(join(directory, name));
  if (file === null) throw absent(name);
  const { size } = await file.stat();
  reply.header("content-length", size);
  if (reply.request.method === "HEAD") {
    await file.close();
    // For a stream, Fastify keeps the length as it is set here.
    return reply.send(Readable.from([]));
  }
  // If a file grows meanwhile, only the bytes of the announced length are sent.
  return reply.send(file.createReadStream({ start: 0, end: Math.max(size - 1, 0) }));
}

async function openFile(path: string): Promise<FileHandle | null> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return null;
}

function absent(name: string): ApiError {
  const what = NAME.test(name) ? ` "${name}"` : "";
  return new ApiError(
    "not_found",
    `This service has no file${what} to install from. Its operator can build the files with \`npm run package\`, or set ATTESTORE_DOWNLOADS to their directory.`,
  );
}
