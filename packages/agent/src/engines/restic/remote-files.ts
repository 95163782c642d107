import type { Readable } from "node:stream";
import {
  DamagedRepository,
  FILE_NAME,
  type ListedType,
  MOST_FILES,
  pathOf,
  type Repository,
  requireUsualSize,
  UnreadableRepository,
} from "./repository.ts";

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: Readable;
}

/**
 * Sends one request for `path`, below the place of the repository.
 * @throws UnreadableRepository
 */
export type AskRemote = (
  method: "GET" | "HEAD",
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<RemoteAnswer>;

/**
 * Files of a repository over HTTP. The server may send anything, so we never read more than we
 * asked for.
 */
export function remoteFiles(
  where: string,
  ask: AskRemote,
): Pick<Repository, "where" | "isRemote" | "size" | "read"> {
  return {
    where,
    isRemote: true,
    size: async (file, signal) => {
      const { status, headers, body } = await ask("HEAD", pathOf(file), {}, signal);
      body.resume();
      if (status === 404) return null;
      const size = lengthOf(headers);
      if (status !== 200 || size === null) throw refused(where, pathOf(file), status);
      requireUsualSize(file, size);
      return size;
    },
    read: async (file, { first, last }, signal) => {
      const isWhole = first === 0 && last === null;
      const range = isWhole ? {} : { range: `bytes=${first}-${last ?? ""}` };
      const { status, headers, body } = await ask("GET", pathOf(file), range, signal);
      const dropped = <Result>(result: Result): Result => {
        body.destroy();
        return result;
      };
      if (status === 404 || status === 416) return dropped(null);
      const length = lengthOf(headers);
      const isAsked =
        status === (isWhole ? 200 : 206) && (isWhole || rangeOf(headers).startsWith(`bytes ${first}-`));
      if (length === null || !isAsked) throw dropped(refused(where, pathOf(file), status));
      if (last !== null && length > last - first + 1)
        throw dropped(new DamagedRepository(`${where} sent more of ${pathOf(file)} than requested`));
      try {
        requireUsualSize(file, first + length);
      } catch (error) {
        throw dropped(error);
      }
      return { length, content: body };
    },
  };
}

const LIST_TYPE = "application/vnd.x.restic.rest.v2";
const MOST_LIST_BYTES = MOST_FILES * 128;

/** The answer of `GET keys/` in restic's REST protocol, version 2. */
export async function listOfRest(
  where: string,
  ask: AskRemote,
  type: ListedType,
  signal: AbortSignal,
): Promise<{ name: string; size: number }[]> {
  const { status, headers, body } = await ask("GET", `${type}/`, { accept: LIST_TYPE }, signal);
  if (status !== 200) {
    body.destroy();
    if (status === 404) return [];
    throw refused(where, `${type}/`, status);
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MOST_LIST_BYTES)
      throw new DamagedRepository(`${type} has more than ${MOST_FILES} files: \`restic prune\` it`);
    pieces.push(piece);
  }
  let listed: unknown;
  try {
    listed = JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } catch {
    listed = null;
  }
  if (!Array.isArray(listed) || headers["content-type"] !== LIST_TYPE)
    throw new UnreadableRepository(`${where} does not speak version 2 of restic's REST protocol`);
  return listed.flatMap((each: unknown) => entryOf(each)).slice(0, MOST_FILES);
}

function entryOf(value: unknown): { name: string; size: number }[] {
  if (typeof value !== "object" || value === null) return [];
  const { name, size } = value as Record<string, unknown>;
  const isOne =
    typeof name === "string" &&
    FILE_NAME.test(name) &&
    typeof size === "number" &&
    Number.isSafeInteger(size) &&
    size >= 0;
  return isOne ? [{ name, size }] : [];
}

function lengthOf(headers: RemoteAnswer["headers"]): number | null {
  const text = String(headers["content-length"] ?? "");
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

function rangeOf(headers: RemoteAnswer["headers"]): string {
  return String(headers["content-range"] ?? "");
}

export function refused(where: string, what: string, status: number): UnreadableRepository {
  const mayPass = status >= 500 || status === 408 || status === 429;
  return new UnreadableRepository(`${where} does not give ${what} (status ${status})`, { mayPass });
}
