/** Servers that are not what was named, or not what they seem: what they get out of a backup. */
import { once } from "node:events";
import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { freePort } from "../../../../tests/e2e/harness/free-port.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { withClient } from "../../src/engines/mongodb/client.ts";
import { resolveConnection } from "../../src/engines/mongodb/connection.ts";
import { postgresql } from "../../src/engines/postgresql/index.ts";
import { writeEncryptedDump } from "../../src/runs/write-encrypted-dump.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { startSourceMariadb } from "./source-mariadb.ts";

/** The loopback address, by a name of which nobody could know that. */
const ELSEWHERE = "0x7f000001";
const common = { sandbox: "process", checkTimeout_s: 60, checks: [] } as const;

let place: TestPlace;
beforeAll(async () => (place = await makeTestPlace()));
afterAll(() => place?.remove());

/** All that comes in, and what was asked with it; `answer` plays the server. */
async function impostor(answer: (socket: Socket, bytes: Buffer) => void, greet?: (socket: Socket) => void) {
  const heard: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      heard.push(bytes);
      answer(socket, bytes);
    });
    greet?.(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => Buffer.concat(heard).toString("latin1"),
    close: () => server.close(),
  };
}
const dumping = (dump: Promise<unknown>): Promise<Error> =>
  dump.then(
    () => new Error("no error"),
    (error: Error) => error,
  );
const context = () => ({ scratchDir: place.scratch, signal: AbortSignal.timeout(60_000) });

test("a remote PostgreSQL without a certificate receives neither user name nor password", async () => {
  const server = await impostor((socket, bytes) => {
    // An SSLRequest; then, of whoever goes on in plain, the password.
    if (bytes.length === 8) socket.write("N");
    else socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
  });
  const dump = (more: string): Promise<Error> =>
    dumping(
      postgresql.dump(
        {
          ...common,
          slug: "orders",
          engine: "postgresql",
          databases: null,
          globals: false,
          jobs: 1,
          connection: {
            kind: "url",
            url: `postgresql://agent:hush@${ELSEWHERE}:${server.port}/db?connect_timeout=5${more}`,
          },
        },
        context(),
      ),
    );
  expect(await dump("")).toMatchObject({
    code: "connection_failed",
    message: expect.stringContaining("?sslmode="),
  });
  expect(server.heard()).not.toContain("agent");
  expect(server.heard()).not.toContain("hush");
  // The URL itself may say so. Then the impostor gets the name.
  const said = dump("&sslmode=disable");
  await expect.poll(server.heard).toContain("agent");
  server.close();
  await said;
});

const packet = (sequence: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, payload]);
};
/** Takes any password, and has no TLS. */
const GREETING = packet(
  0,
  Buffer.concat([
    Buffer.from("\x0a10.11.6-MariaDB\0\x01\0\0\0abcdefgh\0", "latin1"),
    // Local files, protocol 4.1, transactions, secure connection; plugins.
    Buffer.from([0x89, 0xa2, 0x21, 0x02, 0x00, 0x08, 0x00, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from("ijklmnopqrst\0mysql_native_password\0", "latin1"),
  ]),
);
const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

test("a remote MariaDB without a certificate receives neither user name nor password", async () => {
  const server = await impostor(
    (socket) => socket.destroy(),
    (socket) => socket.write(GREETING),
  );
  const dump = (more: string): Promise<Error> =>
    dumping(
      mariadb.dump(
        {
          ...common,
          slug: "shop",
          engine: "mariadb",
          databases: null,
          connection: { kind: "url", url: `mysql://agent:hush@${ELSEWHERE}:${server.port}/db${more}` },
        },
        context(),
      ),
    );
  expect(await dump("")).toMatchObject({
    code: "connection_failed",
    message: expect.stringContaining("ssl-verify-server-cert=0"),
  });
  expect(server.heard()).not.toContain("agent");
  await dump("?ssl-verify-server-cert=0");
  expect(server.heard()).toContain("agent");
  server.close();
});

test("a remote MariaDB needs a certificate for its name, signed by a CA that the URL names", async () => {
  const openssl = (...args: string[]): unknown =>
    execFileSync("openssl", args, { cwd: place.dir, stdio: ["ignore", "ignore", "pipe"] });
  for (const ca of ["ca", "other-ca"])
    openssl(
      ..."req -x509 -newkey rsa:2048 -nodes -days 30 -subj".split(" "),
      `/CN=${ca}`,
      "-keyout",
      `${ca}.key`,
      "-out",
      `${ca}.pem`,
    );
  openssl(
    ..."req -newkey rsa:2048 -nodes -subj".split(" "),
    `/CN=${ELSEWHERE}`,
    ..."-keyout db.key -out db.csr".split(" "),
  );
  await writeFile(join(place.dir, "names"), `subjectAltName=DNS:${ELSEWHERE}`);
  openssl(
    ..."x509 -req -in db.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out db.pem".split(
      " ",
    ),
  );
  // Of the user that the server runs as.
  await chmod(join(place.dir, "db.key"), 0o644);
  const port = await freePort();
  const server = await startSourceMariadb(place.dir, [
    "--bind-address=127.0.0.1",
    `--port=${port}`,
    "--skip-name-resolve",
    ...["ca", "cert", "key"].map(
      (name) =>
        `--ssl-${name}=${join(place.dir, name === "ca" ? "ca.pem" : `db.${name === "cert" ? "pem" : "key"}`)}`,
    ),
  ]);
  try {
    server.sql(`create database shop; create table shop.orders (id int primary key); insert into shop.orders values (1), (2);
      create user agent@'%' identified by 'hush' require ssl; grant all privileges on *.* to agent@'%';`);
    const dump = async (host: string, ca: string): Promise<unknown> => {
      const backup = await writeEncryptedDump({
        source: {
          ...server.source,
          connection: {
            kind: "url",
            url: `mysql://agent:hush@${host}:${port}/shop?ssl-ca=${encodeURIComponent(join(place.dir, ca))}`,
          },
        },
        recipients: [place.recipient],
        blobsDir: place.blobs,
        signal: AbortSignal.timeout(60_000),
      });
      return backup.sourceMetadata["tables"];
    };
    expect(await dump(ELSEWHERE, "ca.pem")).toMatchObject([{ name: "shop.orders", rows: 2 }]);
    const refused = { code: "connection_failed" };
    // Of another authority, and by a name that the certificate does not have.
    await expect(dump(ELSEWHERE, "other-ca.pem")).rejects.toMatchObject(refused);
    await expect(dump("0x7f.1", "ca.pem")).rejects.toMatchObject(refused);
  } finally {
    await server.close();
  }
});

test("a MariaDB that answers a query by asking for one of our files gets none", async () => {
  const secret = join(place.dir, "age.key");
  await writeFile(secret, "AGE-SECRET-KEY-1IMPOSTOR\n");
  let asked = false;
  const server = await impostor(
    (socket, bytes) => {
      if (bytes[4] === 0x03) {
        asked = true;
        socket.write(packet(1, Buffer.concat([Buffer.from([0xfb]), Buffer.from(secret)])));
      } else if (asked) socket.destroy();
      else socket.write(packet(2, OK));
    },
    (socket) => socket.write(GREETING),
  );
  const failed = await dumping(
    mariadb.dump(
      {
        ...common,
        slug: "shop",
        engine: "mariadb",
        databases: null,
        connection: { kind: "url", url: `mysql://agent:hush@127.0.0.1:${server.port}/db` },
      },
      context(),
    ),
  );
  expect(asked).toBe(true);
  expect(failed).toMatchObject({ name: "RunError" });
  expect(server.heard()).not.toContain("IMPOSTOR");
  server.close();
});

test("a remote MongoDB is only contacted over TLS", async () => {
  const server = await impostor((socket) => socket.destroy());
  const url = `mongodb://agent:hush@${ELSEWHERE}:${server.port}/shop?authSource=admin&serverSelectionTimeoutMS=1000`;
  const { uri } = await resolveConnection({ kind: "url", url });
  const { signal } = context();
  const failed = await dumping(withClient(uri, { what: "the source", signal }, () => Promise.resolve()));
  expect(failed).toMatchObject({ name: "RunError" });
  // The first byte of each is a TLS handshake's.
  expect(server.heard().charCodeAt(0)).toBe(0x16);
  expect(server.heard()).not.toContain("isMaster");
  server.close();
});
