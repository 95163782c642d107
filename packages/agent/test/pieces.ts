/** In pieces of a size that divides nothing. */
export async function* inPieces(bytes: Buffer, size = 40_009): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) {
    // Each piece is valid only until the next is asked for: nobody may keep it.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    yield piece;
    piece.fill(0xee);
  }
}

/** Everything in one buffer. Pieces are valid only until the next one, so they are copied. */
export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return Buffer.concat(copies);
}
