import { connect, createServer, type Socket } from "node:net";
import { BSON, type Document } from "mongodb";

const OP_MSG = 2013;
const HEADER = 16;

/**
 * A server that answers some commands as MongoDB answers a user with few rights, and passes all
 * others on. The tests have no MongoDB, and FerretDB shows everything to everybody.
 */
export async function limitedMongodb(
  socket: string,
  behind: string,
  answers: Readonly<Record<string, Document>>,
): Promise<{ close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(behind);
    for (const each of [client, upstream]) {
      open.add(each);
      each
        .on("error", () => undefined)
        .on("close", () => {
          open.delete(each);
          client.destroy();
          upstream.destroy();
        });
    }
    upstream.pipe(client);
    let left: Buffer = Buffer.alloc(0);
    client.on("data", (piece: Buffer) => {
      left = Buffer.concat([left, piece]);
      while (left.length >= HEADER && left.length >= left.readInt32LE(0)) {
        const message = left.subarray(0, left.readInt32LE(0));
        left = left.subarray(message.length);
        const answer = answers[commandOf(message) ?? ""];
        if (answer === undefined) upstream.write(message);
        else client.write(reply(message.readInt32LE(4), answer));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const each of open) each.destroy();
      }),
  };
}

/** The command's name is its first field. */
function commandOf(message: Buffer): string | null {
  if (message.readInt32LE(12) !== OP_MSG || message[HEADER + 4] !== 0) return null;
  const at = HEADER + 5;
  const document = message.subarray(at, at + message.readInt32LE(at));
  return Object.keys(BSON.deserialize(document))[0] ?? null;
}

function reply(to: number, answer: Document): Buffer {
  const body = Buffer.from(BSON.serialize(answer));
  const head = Buffer.alloc(HEADER + 5);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(1, 4);
  head.writeInt32LE(to, 8);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, body]);
}
