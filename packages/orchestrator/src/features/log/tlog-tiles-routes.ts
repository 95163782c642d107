import { parseTilePath, ProofError, type Tile } from "@attestore/proof";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { readGenerations } from "../../log/heads/generations.ts";
import { readHeadOfSize, readNewestCheckpoint } from "../../log/heads/heads.ts";
import { LogCorruption } from "../../log/log-corruption.ts";
import { readTile } from "../../log/tree/read-tile.ts";
import { type SqlSession, transactionSession } from "../../platform/database/sql-session.ts";
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
 * `/tile/entries/<N>[.p/<W>]`. For its readers a later generation is another log, under `/log/<org
 * id>/<generation>`. An ended generation is served as it was when it ended.
 */
export function tlogTilesRoutes(deps: TilesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get("/log/:org/checkpoint", (request, reply) => checkpoint(deps, request, reply));
    app.get("/log/:org/tile/*", (request, reply) => tile(deps, request, reply));
    app.get("/log/:org/:generation(^[1-9][0-9]{0,3}$)/checkpoint", (request, reply) =>
      checkpoint(deps, request, reply),
    );
    app.get("/log/:org/:generation(^[1-9][0-9]{0,3}$)/tile/*", (request, reply) =>
      tile(deps, request, reply),
    );
  };
}

async function checkpoint(
  { db, signer }: TilesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { org, generation } = request.params as { org: string; generation?: string };
  await requireReader(db, org, request, "head");
  const note = await readInOrg(db, org, async (tx) => {
    const session = transactionSession(tx);
    const found = await findGeneration(session, org, generation);
    if (found === null) throw notFound("log");
    if (found.endedAt === null) return (await readNewestCheckpoint(session, signer, org)).checkpoint;
    const last = await readHeadOfSize(session, org, found.endedAt);
    if (last === null) throw new LogCorruption("log_incomplete", `${org} lacks the head of what was left`);
    return signer.sign(last);
  });
  return reply.type("text/plain; charset=utf-8").send(note);
}

async function tile({ db }: TilesDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { org, generation, "*": path } = request.params as { org: string; generation?: string; "*": string };
  const { isPublic } = await requireReader(db, org, request, "leaves");
  const wanted = readPath(path);
  const bytes = await readInOrg(db, org, async (tx) => {
    const session = transactionSession(tx);
    const found = await findGeneration(session, org, generation);
    if (found === null) throw notFound("log");
    return readTile(session, org, wanted, found.endedAt);
  });
  if (bytes === null) throw notFound("tile");
  // A tile of a given width never changes.
  if (isPublic) reply.header("cache-control", "public, max-age=31536000, immutable");
  return reply.type("application/octet-stream").send(Buffer.from(bytes));
}

/** Null if the log has no such generation; the first one has no number. */
async function findGeneration(
  session: SqlSession,
  orgId: string,
  number: string | undefined,
): Promise<{ endedAt: number | null } | null> {
  const generation = number === undefined ? 1 : Number(number);
  if (number === "1") return null;
  const later = await readGenerations(session, orgId);
  if (generation > later.length + 1) return null;
  // The one after it, if there is one, is at this place.
  return { endedAt: later[generation - 1]?.size ?? null };
}

function readPath(path: string): Tile {
  try {
    return parseTilePath(`tile/${path}`);
  } catch (error) {
    if (error instanceof ProofError) throw notFound("tile");
    throw error;
  }
}
