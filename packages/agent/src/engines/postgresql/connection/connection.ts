import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionReference } from "../../../config/source-fields.ts";
import { referredText } from "../../connection-text.ts";
import { isRemote, systemAuthorities } from "../../remote.ts";
import { connectionEnvironment } from "./connection-uri.ts";

/**
 * Environment variables with the paths of libpq's files of passwords, services and certificates.
 * Passed on for a source only.
 */
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
 * Returns the environment in which psql and pg_dump reach the source.
 * @throws RunError `connection_reference`
 */
export async function resolveConnection(reference: ConnectionReference): Promise<Record<string, string>> {
  const environment: Record<string, string> = { PGAPPNAME: "attestore", PGCONNECT_TIMEOUT: "30" };
  for (const name of HANDED_DOWN) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return withVerification({ ...environment, ...(await referred(reference)) });
}

/**
 * A server on another host must prove that it is the named one, unless the URL or the service's
 * entry asks for less (`sslmode`). Otherwise somebody in between would get the password and could
 * invent the backup. The certificate authority is that of `sslrootcert` or of
 * `~/.postgresql/root.crt`, or else one that the system trusts.
 */
async function withVerification(environment: Record<string, string>): Promise<Record<string, string>> {
  const { PGSERVICE: service, PGHOSTADDR: addresses, PGHOST: named = "" } = environment;
  const hosts = service === undefined ? (addresses ?? named).split(",") : await hostsOfService(service);
  const verified = { ...environment };
  // An entry's own sslmode takes precedence over the variable.
  if (hosts === null || hosts.some(isRemote)) verified["PGSSLMODE"] ??= "verify-full";
  const authorities = systemAuthorities();
  const own = join(homedir(), ".postgresql", "root.crt");
  if (verified["PGSSLMODE"]?.startsWith("verify-") === true && authorities !== null && !existsSync(own))
    verified["PGSSLROOTCERT"] ??= authorities;
  return verified;
}

/**
 * The settings of a service's entry, from the places where libpq looks for it; null if it is not
 * found.
 */
async function hostsOfService(name: string): Promise<readonly string[] | null> {
  const { PGSERVICEFILE: own, PGSYSCONFDIR: shared } = process.env;
  const files = [
    own ?? join(homedir(), ".pg_service.conf"),
    join(shared ?? "/etc/postgresql-common", "pg_service.conf"),
  ];
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "");
    const sections = text.split(/^\[(?=[^\]\n]*\])/m);
    const section = sections.slice(1).find((each) => each.startsWith(`${name}]`));
    if (section === undefined) continue;
    const value = (key: string): string | undefined =>
      new RegExp(`^${key}=(.*)$`, "m").exec(section)?.[1]?.trim();
    return (value("hostaddr") ?? value("host") ?? "").split(",");
  }
  return null;
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
