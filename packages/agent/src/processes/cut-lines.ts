import { StringDecoder } from "node:string_decoder";

/** In characters. The rest of a longer line is left out. */
const MAX_LINE = 4 << 20;

/** The lines of a stream of UTF-8, each cut off where it is too long. */
export async function* cutLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder("utf8");
  let held = "";
  for await (const piece of stream) {
    const lines = decoder.write(piece).split("\n");
    const first = held + (lines.shift() ?? "");
    const last = lines.pop();
    held = (last ?? first).slice(0, MAX_LINE);
    if (last === undefined) continue;
    yield first;
    yield* lines;
  }
}
