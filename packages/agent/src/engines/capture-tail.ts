const END_BYTES = 1024;

/** Passes content on and keeps its end. A dump in SQL says at its end that it is complete. */
export function captureTail(content: AsyncIterable<Buffer>): {
  readonly content: AsyncIterable<Buffer>;
  /** The last 1024 bytes, once all content has passed. */
  last(): string;
} {
  let end: Buffer = Buffer.alloc(0);
  return {
    content: (async function* () {
      for await (const piece of content) {
        end = Buffer.from(Buffer.concat([end, piece.subarray(-END_BYTES)]).subarray(-END_BYTES));
        yield piece;
      }
    })(),
    last: () => end.toString("latin1"),
  };
}
