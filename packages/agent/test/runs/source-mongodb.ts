import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Db, MongoClient } from "mongodb";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";

export interface SourceMongodb {
  readonly source: SourceConfigOf<"mongodb">;
  readonly client: MongoClient;
  readonly shop: Db;
  readonly uri: (database: string) => string;
  close(): Promise<void>;
}

const SETUP = join(import.meta.dirname, "../../../../tools/install-mongodb");

/** A FerretDB to back up; its program and MongoDB's tools are on the PATH from then on. */
export async function startSourceMongodb(dir: string): Promise<SourceMongodb> {
  const programs = join(dir, "programs");
  // A home directory may be closed to the user that servers run as.
  cpSync(execFileSync(SETUP, { encoding: "utf8" }).trim(), programs, { recursive: true });
  process.env["PATH"] = [programs, process.env["PATH"]].join(delimiter);
  const place = await openProcessPlace(dir);
  const socket = join(place.sockets, "source.sock");
  const server = await place.start({
    command: join(programs, "ferretdb"),
    args: [
      "--handler=sqlite",
      `--sqlite-url=file:${place.home}/`,
      `--state-dir=${place.home}`,
      "--listen-addr=",
      `--listen-unix=${socket}`,
      "--debug-addr=-",
      "--telemetry=disable",
      "--log-level=error",
    ],
    signal: new AbortController().signal,
    diesWithUs: true,
    stopSignal: "SIGKILL",
  });
  server.stdin.end();
  server.stdout.resume();
  const uri = (database: string): string => `mongodb://${encodeURIComponent(socket)}/${database}`;
  const client = new MongoClient(uri(""));
  const died = server.exited.then(({ stderr }): never => {
    throw new Error(`FerretDB ended: ${stderr}`);
  });
  died.catch(() => undefined);
  await Promise.race([client.connect(), died]);
  process.env["TEST_MONGODB_URI"] = uri("shop");
  return {
    source: {
      slug: "shop",
      engine: "mongodb",
      sandbox: "process",
      checkTimeout_s: 60,
      checks: [],
      connection: { kind: "env", name: "TEST_MONGODB_URI" },
    },
    client,
    shop: client.db("shop"),
    uri,
    close: async () => {
      await client.close();
      await place.close();
    },
  };
}
