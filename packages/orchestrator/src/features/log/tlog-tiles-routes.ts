import { parseTilePath, ProofError, type Tile } from "@attestore/proof";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { CheckpointSigner } from "../../log/checkpoint-signer.ts";
import { readNewestCheckpoint } from "../../log/heads.ts";
import { readTile } from "../../log/read-tile.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { Database } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { requireReader } from "./reader.ts";

export interface TilesDeps {
  db: Database;
  signer: CheckpointSigner;
}

/**
 * The logs as C2SP tlog-tiles: `/log/<org id>/checkpoint`, `/tile/<L>/<N>[.p/<W>]`,
 * `/tile/entries/<N>[.p/<W>]`.
 */
export function tlogTilesRoutes(deps: TilesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get("/log/:org/checkpoint", (request, reply) => checkpoint(deps, request, reply));
    app.get("/log/:org/tile/*", (request, reply) => tile(deps, request, reply));
  };
}

async function checkpoint(
  { db, signer }: TilesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { org } = request.params as { org: string };
  await requireReader(db, org, request, "head");
  const head = await readInOrg(db, org, (tx) => readNewestCheckpoint(transactionSession(tx), signer, org));
  return reply.type("text/plain; charset=utf-8").send(head.checkpoint);
}

async function tile({ db }: TilesDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { org, "*": path } = request.params as { org: string; "*": string };
  const { isPublic } = await requireReader(db, org, request, "leaves");
  const wanted = readPath(path);
  const bytes = await readInOrg(db, org, (tx) => readTile(transactionSession(tx), org, wanted));
  if (bytes === null) throw notFound("tile");
  // A tile of a given width never changes.
  if (isPublic) reply.header("cache-control", "public, max-age=31536000, immutable");
  return reply.type("application/octet-stream").send(Buffer.from(bytes));
}

function readPath(path: string): Tile {
  try {
    return parseTilePath(`tile/${path}`);
  } catch (error) {
    if (error instanceof ProofError) throw notFound("tile");
    throw error;
  }
}
