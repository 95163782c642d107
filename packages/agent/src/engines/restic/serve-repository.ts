import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
} from "node:http2";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  type ByteRange,
  DamagedRepository,
  FILE_NAME,
  LISTED,
  type ListedType,
  pathOf,
  type Repository,
  type RepositoryFile,
  UnreadableRepository,
} from "./repository.ts";

/** What happened, where restic's own message says less. */
export interface ServedRepository {
  /** Why the repository could not be read; null if it could. */
  unreadable(): UnreadableRepository | null;
  /**
   * The first file that restic requested and that is missing or not as it should be; null if there
   * is none.
   */
  damaged(): string | null;
  /** Whether the failed request may succeed if restic sends it again. */
  mayPass(): boolean;
  /** Resolves when the server answers no more requests. */
  readonly closed: Promise<void>;
  close(): void;
}

/** After this many failures in a row, restic may not try again. */
const MOST_FAILURES = 20;

const LIST_TYPE = "application/vnd.x.restic.rest.v2";

/**
 * Serves a repository to restic over a stream: restic's REST protocol, version 2, in HTTP/2, as
 * `rclone serve restic --stdio` does. The client may be under somebody else's control. It gets
 * listings, and files by their names, and can change nothing.
 */
export function serveRepository(stream: Duplex, repository: Repository): ServedRepository {
  const over = new AbortController();
  let unreadable: UnreadableRepository | null = null;
  let damaged: string | null = null;
  let failures = 0;
  const session = performServerHandshake(stream, {
    // Restic opens five at once.
    settings: { maxConcurrentStreams: 32, enablePush: false },
    maxSessionMemory: 16,
    maxHeaderListPairs: 64,
    // Go's client resets streams after it has read them to their end.
    streamResetBurst: 100_000,
    streamResetRate: 10_000,
  });
  const closed = Promise.withResolvers<void>();
  session.on("error", (error) => {
    unreadable ??= new UnreadableRepository(`restic's connection broke (${error.message})`, { cause: error });
  });
  session.once("close", () => {
    over.abort();
    closed.resolve();
  });
  session.on("stream", (asked, headers) => {
    const gone = new AbortController();
    asked.on("error", () => undefined);
    asked.once("close", () => gone.abort());
    const signal = AbortSignal.any([over.signal, gone.signal]);
    answer(asked, headers, repository, signal).then(
      (missing) => {
        failures = 0;
        if (missing !== null) damaged ??= missing;
      },
      (error: unknown) => {
        if (!signal.aborted) {
          failures += 1;
          if (error instanceof DamagedRepository) damaged ??= error.message;
          else unreadable = unreadableOf(repository, error);
        }
        if (asked.destroyed) return;
        if (asked.headersSent) asked.close(constants.NGHTTP2_INTERNAL_ERROR);
        else refuse(asked, 500);
      },
    );
  });
  return {
    unreadable: () => unreadable,
    damaged: () => damaged,
    mayPass: () =>
      damaged === null && unreadable?.mayPass === true && failures > 0 && failures <= MOST_FAILURES,
    closed: closed.promise,
    close: () => {
      over.abort();
      session.destroy();
      stream.destroy();
    },
  };
}

function unreadableOf({ where, isRemote }: Repository, error: unknown): UnreadableRepository {
  if (error instanceof UnreadableRepository) return error;
  const why = error instanceof Error ? error.message : "unknown error";
  const options = { cause: error, mayPass: isRemote };
  return new UnreadableRepository(`the repository ${where} cannot be read (${why})`, options);
}

/** The missing file that restic needs, for messages; else null. */
async function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  repository: Repository,
  signal: AbortSignal,
): Promise<string | null> {
  const method = headers[":method"];
  if (method !== "GET" && method !== "HEAD") return refuse(stream, 405);
  const asked = parsePath(headers[":path"] ?? "");
  if (asked === null) return refuse(stream, 403);
  if (asked === "nothing") return refuse(stream, 404);
  if ("list" in asked) {
    if (method === "HEAD") return refuse(stream, 405);
    const files = asked.list === "locks" ? [] : await repository.list(asked.list, signal);
    const body = Buffer.from(JSON.stringify(files));
    stream.respond({ ":status": 200, "content-type": LIST_TYPE, "content-length": body.length });
    stream.end(body);
    return null;
  }
  const { file } = asked;
  if (method === "HEAD") {
    const size = await repository.size(file, signal);
    if (size === null) refuse(stream, 404);
    else stream.respond({ ":status": 200, "content-length": size }, { endStream: true });
    return null;
  }
  const range = parseRange(headers.range);
  if (range === null) return refuse(stream, 400);
  const piece = await repository.read(file, range, signal);
  if (piece === null) {
    refuse(stream, 404);
    return file.type === "config" ? null : `${pathOf(file)} is missing or too short`;
  }
  if (stream.destroyed) {
    piece.content.destroy();
    return null;
  }
  const status = headers.range === undefined ? 200 : 206;
  stream.respond({
    ":status": status,
    "content-type": "application/octet-stream",
    "content-length": piece.length,
  });
  await pipeline(piece.content, stream, { signal });
  return null;
}

type Asked = { readonly list: ListedType | "locks" } | { readonly file: RepositoryFile };

/**
 * Null for requests that restic should not make. `nothing`: restic asks for a file that can't
 * exist, to see whether the server answers.
 */
function parsePath(path: string): Asked | "nothing" | null {
  if (path === "/config") return { file: { type: "config", name: "" } };
  if (/^\/file-[0-9]{1,20}$/.test(path)) return "nothing";
  const [, type, name] = /^\/([a-z]{1,9})\/([^/]*)$/.exec(path) ?? [];
  const known = [...LISTED, "data" as const].find((each) => each === type);
  if (name === "")
    return type === "locks"
      ? { list: type }
      : known === undefined || known === "data"
        ? null
        : { list: known };
  if (name === undefined || known === undefined || !FILE_NAME.test(name)) return null;
  return { file: { type: known, name } };
}

function parseRange(header: string | undefined): ByteRange | null {
  if (header === undefined) return { first: 0, last: null };
  const [, first, last = ""] = /^bytes=([0-9]{1,15})-([0-9]{0,15})$/.exec(header) ?? [];
  return first === undefined ? null : { first: Number(first), last: last === "" ? null : Number(last) };
}

function refuse(stream: ServerHttp2Stream, status: number): null {
  stream.respond({ ":status": status, "content-length": 0 }, { endStream: true });
  return null;
}
