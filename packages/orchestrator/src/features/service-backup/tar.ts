import { ExactReader, parseTarHeader, TAR_BLOCK, tarEnd, tarHeader, tarPadding } from "@attestore/host/tar";
import { UserError } from "../../platform/errors/user-error.ts";

/** Large enough that headers don't count, small enough to hold. */
export const PIECE_BYTES = 8 * 1024 * 1024;
const NAME = /^(?:[a-z][a-zA-Z0-9_-]*\/)?[a-zA-Z][a-zA-Z0-9._-]{0,60}$/;

export interface TarEntry {
  /** Such as `keys/log-signing.pem`: at most one directory, no `..`. */
  name: string;
  /** At most PIECE_BYTES. */
  content: Buffer;
}

/** An archive of plain files with short names, which any `tar` extracts. */
export async function* writeTar(
  entries: AsyncIterable<TarEntry>,
  modified: Date,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const { name, content } of entries) {
    if (!NAME.test(name) || content.length > PIECE_BYTES)
      throw new Error(`${name} (${content.length} bytes) is not an entry of a backup`);
    yield tarHeader(name, content.length, modified);
    yield content;
    yield tarPadding(content.length);
  }
  yield tarEnd();
}

/**
 * The entries of an archive of writeTar, one after the other. Anything else is refused: anybody who
 * knows the recipient can have made the file.
 * @throws UserError `invalid_argument`
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = new ExactReader(source, () => notOurs("it ends too early"));
  for (;;) {
    const block = await bytes.exactly(TAR_BLOCK);
    if (block.every((byte) => byte === 0)) break;
    const { name, size } = readHeader(block);
    const content = await bytes.exactly(size);
    const padding = await bytes.exactly(tarPadding(size).length);
    if (padding.some((byte) => byte !== 0)) throw notOurs("bytes between two entries");
    yield { name, content };
  }
  if ((await bytes.exactly(TAR_BLOCK)).some((byte) => byte !== 0))
    throw notOurs("bytes after the last entry");
  if (await bytes.hasMore()) throw notOurs("bytes after the end");
}

function readHeader(block: Buffer): { name: string; size: number } {
  const header = parseTarHeader(block);
  if (header === null) throw notOurs("the header of an entry");
  const { name, size } = header;
  if (!NAME.test(name)) throw notOurs("an entry with a strange name");
  if (size > PIECE_BYTES) throw notOurs(`the size of ${name}`);
  return header;
}

export function notOurs(what: string): UserError {
  return new UserError("invalid_argument", `This is not a backup of attestore-server: ${what}.`);
}
