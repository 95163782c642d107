import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSourceMariadb } from "../../packages/agent/test/runs/source-mariadb.ts";
import { startSourceMongodb } from "../../packages/agent/test/runs/source-mongodb.ts";
import { createShop, startDatabaseServer } from "../e2e/harness/database.ts";
import { shellBlock } from "./recover-page.ts";

/** One source of each engine, which can be lost with the host. */
export const NAMES = ["shop", "orders", "documents", "invoices", "papers"] as const;
export type Name = (typeof NAMES)[number];

export interface LostSources {
  readonly base: string;
  /** What `sources:` of config.yaml says of them. */
  readonly yaml: string;
  /** What that refers to. */
  readonly env: Readonly<Record<string, string>>;
  /** All that is in them now. */
  readonly content: () => Promise<Record<Name, string>>;
  /** The host has burnt: its databases and files with it. */
  readonly lose: () => Promise<void>;
  /** Puts back what `attestore restore --output backup.dump` wrote, as step 5 of the page says. */
  readonly useDump: (name: "documents" | "invoices" | "papers", directory: string) => void;
  readonly close: () => Promise<void>;
}

export async function makeLostSources(): Promise<LostSources> {
  const base = mkdtempSync(join(tmpdir(), "attestore-lost-host-"));
  // The databases' servers run as somebody else.
  chmodSync(base, 0o755);
  for (const name of ["mariadb", "mongodb", "papers", "papers/deep"]) mkdirSync(join(base, name));
  const [postgresql, mariadb, mongodb] = await Promise.all([
    startDatabaseServer(),
    startSourceMariadb(join(base, "mariadb")),
    startSourceMongodb(join(base, "mongodb")),
  ]);
  createShop(postgresql, "shop");
  mariadb.sql(`create database shop; use shop; create table shop.orders (id int primary key, note text);
    insert into shop.orders select seq, repeat('x', seq % 50) from seq_1_to_300`);
  const orders = mongodb.shop.collection("orders");
  await orders.insertMany([{ number: 1 }, { number: 2, note: "grün" }]);
  const [invoices, papers] = [join(base, "invoices.db"), join(base, "papers")];
  bash(
    base,
    `sqlite3 invoices.db "create table invoices (n integer primary key); insert into invoices values (7)"`,
  );
  writeFileSync(join(papers, "deep/letter"), "dear reader", { mode: 0o640 });
  return {
    base,
    yaml: `  shop: { engine: postgresql, connection: env:SHOP_URL }
  orders: { engine: mariadb, connection: env:ORDERS_URL }
  documents: { engine: mongodb, connection: env:DOCUMENTS_URL }
  invoices: { engine: sqlite, path: ${invoices} }
  papers: { engine: files, path: ${papers} }
`,
    env: {
      SHOP_URL: postgresql.url("shop"),
      SHOP_SERVER_URL: postgresql.url("postgres"),
      ORDERS_URL: mariadb.url("root", "", "shop"),
      DOCUMENTS_URL: mongodb.uri("shop"),
      PGHOST: postgresql.home,
      PGUSER: "shop",
    },
    content: async () => ({
      shop: postgresql.sql("shop", "select md5(string_agg(o::text, '|' order by id)) from orders o"),
      orders: mariadb.sql("select md5(group_concat(id, note order by id)) from shop.orders"),
      documents: JSON.stringify(
        await orders
          .find({}, { projection: { _id: 0 } })
          .sort({ number: 1 })
          .toArray(),
      ),
      invoices: bash(base, "sqlite3 -readonly invoices.db .dump"),
      papers: bash(base, "find papers -printf '%p %m %T@ %s\\n' | sort; sha256sum papers/deep/*"),
    }),
    lose: async () => {
      postgresql.sql("postgres", "drop database shop");
      mariadb.sql("drop database shop");
      await mongodb.shop.dropDatabase();
      rmSync(invoices);
      rmSync(papers, { recursive: true });
    },
    useDump: (name, directory) => {
      const step = {
        documents: shellBlock("mongorestore").replace(
          "mongorestore",
          `mongorestore --uri='${mongodb.uri("")}'`,
        ),
        invoices: shellBlock("pragma integrity_check"),
        papers: shellBlock("mkdir restored\n"),
      };
      bash(directory, step[name]);
      if (name === "invoices") renameSync(join(directory, "restored.sqlite"), invoices);
      if (name === "papers") renameSync(join(directory, "restored"), papers);
    },
    close: async () => {
      await postgresql.stop();
      await mariadb.close();
      await mongodb.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Runs commands that have to succeed; answers what they print. */
export function bash(cwd: string, script: string, env: Record<string, string | undefined> = {}): string {
  const { error, status, stdout, stderr } = spawnSync("bash", ["-eu", "-c", script], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", ...env },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${script}\nexit code ${status}\n${stdout}${stderr}`);
  return stdout + stderr;
}
