import { ExactReader, parseTarHeader, TAR_BLOCK, tarPadding } from "@attestore/host/tar";

export class MalformedSet extends Error {
  readonly code = "set_malformed";
  constructor(message: string) {
    super(message);
    this.name = "MalformedSet";
  }
}

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** Read it to its end before requesting the next entry; otherwise the rest is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

/**
 * Yields the entries of an archive with headers from `tarHeader`, and reads the content to its end.
 * @throws MalformedSet for everything else, and if something follows the end; any error from the
 * content.
 */
export async function* tarEntries(content: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = new ExactReader(content, () => new MalformedSet("the archive ends too early"));
  for (;;) {
    const header = await bytes.exactly(TAR_BLOCK);
    if (isZero(header)) break;
    const { name, size } = requireHeader(header);
    let left = size;
    const body = (async function* () {
      while (left > 0) {
        const piece = await bytes.upTo(left);
        left -= piece.length;
        yield piece;
      }
    })();
    yield { name, size, content: body };
    while (left > 0) left -= (await bytes.upTo(left)).length;
    await bytes.exactly(tarPadding(size).length);
  }
  if (!isZero(await bytes.exactly(TAR_BLOCK)))
    throw new MalformedSet("the archive does not end as it should");
  if (await bytes.hasMore()) throw new MalformedSet("there is data after the archive's end");
}

function isZero(block: Buffer): boolean {
  return block.equals(Buffer.alloc(block.length));
}

/** Accepts only what `tarHeader` writes without a time. */
function requireHeader(block: Buffer): { name: string; size: number } {
  const header = parseTarHeader(block);
  if (header === null || header.modified.getTime() !== 0)
    throw new MalformedSet("an entry's header is not one that a set has");
  return header;
}
