import { readFile } from "node:fs/promises";
import type { ConnectionReference } from "../../root/source-fields.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { systemCode } from "../../root/system-code.ts";
import { connectionEnvironment } from "./connection-uri.ts";

/** Where libpq itself looks for passwords, services and certificates; ours to hand down, for a source only. */
const HANDED_DOWN = [
  "PGPASSFILE",
  "PGSERVICEFILE",
  "PGSYSCONFDIR",
  "PGSSLROOTCERT",
  "PGSSLCERT",
  "PGSSLKEY",
  "KRB5CCNAME",
];

/**
 * The environment that lets psql and pg_dump reach the source.
 * @throws CouldNotRun `connection_reference`
 */
export async function resolveConnection(reference: ConnectionReference): Promise<Record<string, string>> {
  const environment: Record<string, string> = { PGAPPNAME: "attestore", PGCONNECT_TIMEOUT: "30" };
  for (const name of HANDED_DOWN) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...(await referred(reference)) };
}

async function referred(reference: ConnectionReference): Promise<Record<string, string>> {
  switch (reference.kind) {
    case "url":
      return connectionEnvironment(reference.url, "the configuration");
    case "service":
      return { PGSERVICE: reference.name };
    case "env": {
      const value = process.env[reference.name];
      if (value === undefined || value === "") {
        throw new CouldNotRun(
          "connection_reference",
          `the environment variable ${reference.name} is not set: set it to the database's postgresql:// URL`,
        );
      }
      return connectionEnvironment(value, `the environment variable ${reference.name}`);
    }
    case "file": {
      let text: string;
      try {
        text = await readFile(reference.path, "utf8");
      } catch (error) {
        throw new CouldNotRun(
          "connection_reference",
          `the connection's file ${reference.path} cannot be read (${systemCode(error)}): put the database's postgresql:// URL there`,
          { cause: error },
        );
      }
      const [line = ""] = text.split("\n");
      return connectionEnvironment(line, reference.path);
    }
  }
}
