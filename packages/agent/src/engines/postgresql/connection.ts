import type { ConnectionReference } from "../../root/source-fields.ts";
import { referredText } from "../connection-text.ts";
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
    case "env":
    case "file": {
      const { text, from } = await referredText(reference, "the database's postgresql:// URL");
      return connectionEnvironment(text, from);
    }
  }
}
