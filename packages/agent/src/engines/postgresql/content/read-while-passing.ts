/** Passes pieces on, each while `read` reads it too. A piece is valid until the next one comes. */
export async function* readWhilePassing(
  content: AsyncIterable<Buffer>,
  read: (piece: Buffer) => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of content) {
    const isRead = read(piece);
    yield piece;
    await isRead;
  }
}
