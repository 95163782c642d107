export interface PeekedContent {
  /** At most the number of bytes that the caller wanted. */
  readonly head: Buffer;
  /** All of the content, including its start. */
  readonly content: AsyncIterable<Buffer>;
  /** For a caller that does not want the content. */
  readonly close: () => Promise<void>;
}

/** Reads the start of the content without consuming it. */
export async function peekStart(content: AsyncIterable<Buffer>, bytes: number): Promise<PeekedContent> {
  const pieces = content[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let ended = false;
  while (head.length < bytes && !ended) {
    const next = await pieces.next();
    ended = next.done === true;
    if (next.done !== true) head = Buffer.concat([head, next.value]);
  }
  return {
    head: head.subarray(0, bytes),
    close: async () => {
      await pieces.return?.();
    },
    content: (async function* () {
      try {
        if (head.length > 0) yield head;
        for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
      } finally {
        await pieces.return?.();
      }
    })(),
  };
}
