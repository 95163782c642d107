import { execFileSync, spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { rm, writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { postgresql } from "../../src/engines/postgresql/index.ts";
import type { SourceMetadata } from "../../src/engines/engine.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { makeCertificates } from "../service/certificates.ts";
import { backUp } from "./back-and-test.ts";
import { childrenNamed } from "./scratch.ts";
import { backup, never, nothingLeft, place, server, useShopOnPostgres } from "./shop-on-postgres.ts";

useShopOnPostgres();

test("a lost connection to a server is noticed in minutes, where the system's own keepalive takes hours", async () => {
  const { PGHOST = "", PGPORT = "" } = server.environment;
  const proxy = createServer((client) => {
    const onwards = connect(join(PGHOST, `.s.PGSQL.${PGPORT}`));
    for (const each of [client, onwards]) each.on("error", () => undefined);
    client.pipe(onwards).pipe(client);
    // pg_dump that is stopped resets its connection: the server has to hear of it, or keeps its
    // locks.
    client.once("close", () => onwards.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as AddressInfo;
  const dumping = async (connection: SourceConfigOf<"postgresql">["connection"]): Promise<number[]> => {
    const dump = await postgresql.dump(
      { ...server.source, connection },
      { scratchDir: place.scratch, signal: never },
    );
    const unlock = await lockOrders();
    const first = dump.content[Symbol.asyncIterator]().next();
    first.catch(() => undefined);
    try {
      // psql and pg_dump both are there, and wait: pg_dump for the table.
      return await keepaliveTimersTo(port);
    } finally {
      await dump.close();
      await unlock();
      await first.catch(() => undefined);
    }
  };
  try {
    const url = `postgresql://${server.environment["PGUSER"]}@127.0.0.1:${port}/postgres`;
    for (const seconds of await dumping({ kind: "url", url })) expect(seconds).toBeLessThanOrEqual(60);

    // Keepalives that the service file sets are left as they are.
    const services = join(place.dir, "pg_service.conf");
    await writeFile(
      services,
      `[kept]\nhost=127.0.0.1\nport=${port}\nuser=${server.environment["PGUSER"]}\ndbname=postgres\nkeepalives_idle=999\n`,
    );
    process.env["PGSERVICEFILE"] = services;
    for (const seconds of await dumping({ kind: "service", name: "kept" }))
      expect(seconds).toBeGreaterThan(900);
  } finally {
    delete process.env["PGSERVICEFILE"];
    proxy.close();
  }
});

/** Holds the table that pg_dump comes to, until it is called. */
async function lockOrders(): Promise<() => Promise<void>> {
  const lock = spawn("psql", ["-XqAt", process.env["TEST_SOURCE_URL"] ?? ""], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  lock.stdin.write("begin; lock table orders in access exclusive mode; select 'locked';\n");
  await once(lock.stdout, "data");
  return async () => {
    lock.stdin.end("commit;\n");
    await once(lock, "close");
  };
}

/**
 * Seconds until the kernel asks whether the other end is there, of psql's and pg_dump's connection
 * to a port of this host; as soon as both have nothing on its way, which has a timer of its own.
 */
async function keepaliveTimersTo(port: number): Promise<number[]> {
  const wanted = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (;;) {
    const timers = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , remote, state]) => remote === wanted && state === "01")
      .map(([, , , , , timer = ""]) => timer.split(":"));
    if (timers.length === 2 && timers.every(([what]) => what === "02"))
      return timers.map(([, ticks = ""]) => Number.parseInt(ticks, 16) / 100);
    await pause(10);
  }
}

describe("a dump that fails leaves nothing", () => {
  let blobsBefore: string[] = [];
  beforeEach(() => {
    blobsBefore = readdirSync(place.blobs);
  });
  const back = (url: string | null, signal = never, onProgress?: () => void): Promise<MadeBackup> => {
    if (url !== null) process.env["TEST_OTHER_URL"] = url;
    const name = url === null ? "TEST_SOURCE_URL" : "TEST_OTHER_URL";
    return writeEncryptedDump({
      source: { ...server.source, connection: { kind: "env", name } },
      recipients: [place.recipient],
      blobsDir: place.blobs,
      signal,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  };
  const nothingNew = async (): Promise<void> => {
    expect(readdirSync(place.blobs)).toEqual(blobsBefore);
    nothingLeft();
  };

  test("without the right to read a table", async () => {
    await expect(back(server.url("limited", "hush-hush"))).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining("permission denied"),
    });
    await nothingNew();
  });

  test("without a server, without a database, without a variable", async () => {
    await expect(back("postgresql://u:hush-hush@127.0.0.1:1/db")).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("refused"),
    });
    const failed: unknown = await back(server.url("owner", "hush-hush", "nowhere")).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining(`database "nowhere" does not exist`),
    });
    expect(String(failed)).not.toContain("hush-hush");
    const unset = backUp(place, { ...server.source, connection: { kind: "env", name: "NOT_SET_AT_ALL" } });
    await expect(unset).rejects.toMatchObject({ code: "connection_reference" });
    await nothingNew();
  });

  /** Holds pg_dump up in the middle: it has the snapshot, and waits for a table that is locked. */
  async function heldUp(act: () => void, signal = never): Promise<unknown> {
    const unlock = await lockOrders();
    const dumping = back(null, signal).catch((error: unknown) => error);
    try {
      const waiting =
        "select count(*) from pg_stat_activity where query like 'LOCK TABLE%' and wait_event_type = 'Lock'";
      await expect.poll(() => server.sql(waiting)).toBe("1");
      act();
    } finally {
      await unlock();
    }
    return dumping;
  }

  test("pg_dump is killed", async () => {
    const killed = await heldUp(() =>
      childrenNamed("pg_dump").forEach((pid) => process.kill(pid, "SIGKILL")),
    );
    expect(killed).toMatchObject({ code: "dump_failed", message: "pg_dump ended with signal SIGKILL" });
    await nothingNew();
  });

  test("pg_dump is killed after a part of its output", async () => {
    let pieces = 0;
    const killed = back(null, never, () => {
      pieces += 1;
      for (const pid of childrenNamed("pg_dump")) process.kill(pid, "SIGKILL");
    });
    await expect(killed).rejects.toMatchObject({
      code: "dump_failed",
      message: "pg_dump ended with signal SIGKILL",
    });
    expect(pieces).toBeGreaterThan(0);
    await nothingNew();
  });

  test("the server breaks the connection", async () => {
    const broken = await heldUp(() =>
      server.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like 'LOCK TABLE%'"),
    );
    expect(broken).toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining("pg_dump ended with exit code 1"),
    });
    await nothingNew();
  });

  test("the run is interrupted", async () => {
    const controller = new AbortController();
    const interrupted = await heldUp(() => controller.abort(), controller.signal);
    expect(interrupted).toMatchObject({ code: "interrupted" });
    await nothingNew();
  });

  test("no password is in any argument list", async () => {
    const secret = "hush-hush";
    const seen: string[] = [];
    process.env["TEST_SOURCE_URL_KEPT"] = process.env["TEST_SOURCE_URL"];
    process.env["TEST_SOURCE_URL"] = server.url("attestore", secret);
    try {
      await heldUp(() => seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" })));
    } finally {
      process.env["TEST_SOURCE_URL"] = process.env["TEST_SOURCE_URL_KEPT"];
    }
    expect(seen[0]).toContain("pg_dump --format=custom");
    // The test's own psql, which holds the lock, has the URL; it is not ours.
    expect(
      seen[0]?.split("\n").filter((line) => line.includes(secret) && !line.includes("psql -XqAt")),
    ).toEqual([]);
    for (const name of readdirSync(place.blobs).filter((each) => !blobsBefore.includes(each))) {
      await rm(`${place.blobs}/${name}`);
    }
  });
});

describe("a server on another host", () => {
  /** The loopback addresses, by names of which nobody could know that. */
  const [NAMED, OTHER] = ["0x7f000001", "0x7f000002"];

  test("is dumped if its certificate is signed by the URL's authority and for that very name, and not otherwise", async () => {
    const { ca, cert, key } = makeCertificates();
    const roots = join(place.dir, "ca.pem");
    writeFileSync(roots, ca);
    const others = join(place.dir, "other-ca.pem");
    writeFileSync(others, makeCertificates().ca);
    const socket = join(server.environment["PGHOST"] ?? "", ".s.PGSQL.5432");
    // PostgreSQL's own end of TLS needs an address, and the source here has a socket alone: so it
    // is ended before it.
    const ends = createServer((client) => {
      client.on("error", () => undefined);
      client.once("data", () => {
        client.write("S");
        const plain = new TLSSocket(client, { isServer: true, cert, key });
        const behind = connect(socket);
        for (const each of [plain, behind]) each.on("error", () => (plain.destroy(), behind.destroy()));
        plain.pipe(behind).pipe(plain);
      });
    });
    await once(ends.listen(0, "0.0.0.0"), "listening");
    const { port } = ends.address() as AddressInfo;
    const dump = (host: string, query: string): Promise<MadeBackup> => {
      process.env["TEST_TLS_URL"] = `postgresql://attestore@${host}:${port}/postgres${query}`;
      return backUp(place, { ...server.source, connection: { kind: "env", name: "TEST_TLS_URL" } });
    };
    const refused = (words: RegExp) => ({
      code: "connection_failed",
      message: expect.stringMatching(words) as string,
    });
    try {
      const made = await dump(NAMED, `?sslrootcert=${encodeURIComponent(roots)}`);
      expect(made.sourceMetadata).toMatchObject({ schema_hash: backup.sourceMetadata.schema_hash });
      await expect(dump(OTHER, `?sslrootcert=${encodeURIComponent(roots)}`)).rejects.toMatchObject(
        refused(/does not match host name "0x7f000002"/),
      );
      await expect(dump(NAMED, `?sslrootcert=${encodeURIComponent(others)}`)).rejects.toMatchObject(
        refused(/certificate verify failed/),
      );
      // Of nobody whom this system trusts.
      await expect(dump(NAMED, "")).rejects.toMatchObject(refused(/certificate verify failed/));
    } finally {
      ends.close();
    }
  });
});

test("a dump that ends at its first bytes leaves no connection to the source", async () => {
  const dump = await postgresql.dump(server.source, { scratchDir: place.scratch, signal: never });
  for await (const _ of dump.content) break;
  await dump.close();
  for (const name of ["psql", "pg_dump"]) expect(childrenNamed(name), name).toEqual([]);
});

describe("nothing that a source's server says is run", () => {
  const hostileSource = (database: string): SourceConfigOf<"postgresql"> => ({
    ...server.source,
    connection: { kind: "url", url: server.url(server.environment["PGUSER"] ?? "", "", database) },
  });
  const dumped = async (source: SourceConfigOf<"postgresql">): Promise<SourceMetadata> => {
    const dump = await postgresql.dump(source, { scratchDir: place.scratch, signal: never });
    try {
      for await (const _ of dump.content);
      return await dump.metadata();
    } finally {
      await dump.close();
    }
  };

  test("names of tables that hold psql's commands, from an overloaded pg_catalog.format", async () => {
    server.sql("create database hostile");
    const ran = join(place.dir, "ran");
    const psql = (sql: string): string =>
      execFileSync("psql", ["-XqAt", "-v", "ON_ERROR_STOP=1"], {
        env: { ...process.env, ...server.environment, PGDATABASE: "hostile" },
        input: sql,
        encoding: "utf8",
      });
    psql(`
      create table honest as select 1 as n;
      create table bait as select 1 as n;
      create function pg_catalog.format(text, name, name) returns text language sql as $$
        select case $3 when 'bait' then concat('pg_class limit 0;', chr(10), chr(92), '! touch ${ran}', chr(10), '--')
          else pg_catalog.format($1, variadic array[$2::text, $3::text]) end $$;`);
    const metadata = await dumped(hostileSource("hostile"));
    expect(readdirSync(place.dir)).not.toContain("ran");
    // The honest table's count is there all the same.
    expect(metadata["tables"]).toContainEqual(
      expect.objectContaining({ name: "public.honest", rows: 1 }) as unknown,
    );
  });

  test("functions and operators that other users of the source put in the way", async () => {
    server.sql("create database crowded");
    const psql = (sql: string): string =>
      execFileSync("psql", ["-XqAt", "-v", "ON_ERROR_STOP=1"], {
        env: { ...process.env, ...server.environment, PGDATABASE: "crowded" },
        input: sql,
        encoding: "utf8",
      });
    // Better matches than the catalogue's own, for names and for comparing them, found wherever the
    // search path has public.
    psql(`
      create table honest as select 1 as n;
      create table called (by text);
      grant all on called to public;
      create function public.json_build_array(name) returns json language plpgsql as $$
        begin insert into public.called values (current_user); return pg_catalog.json_build_array($1); end $$;`);
    const metadata = await dumped({ ...hostileSource("crowded"), globals: true });
    expect(metadata["dump_format"]).toBe("pg_dump-set");
    expect(psql("select count(*) from called").trim()).toBe("0");
  });
});
