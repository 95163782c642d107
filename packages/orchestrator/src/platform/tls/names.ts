import { hostname } from "node:os";
import { isIP } from "node:net";

/** Names and addresses that a certificate is made for, sorted and without repeats. */
export interface ServerNames {
  dns: string[];
  ip: string[];
}

const DNS_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/**
 * Always includes this machine's own name; leaves out names that a certificate cannot contain (a
 * wildcard address, a name with a space).
 */
export function serverNames(additional: string[]): ServerNames {
  const all = ["localhost", "127.0.0.1", "::1", hostname(), ...additional].map((name) =>
    name
      .trim()
      .replace(/^\[(.*)\]$/, "$1")
      .replace(/\.$/, "")
      .toLowerCase(),
  );
  const isWildcard = (name: string): boolean => name === "0.0.0.0" || name === "::";
  const unique = [...new Set(all)].filter((name) => !isWildcard(name)).sort();
  return {
    ip: unique.filter((name) => isIP(name) !== 0),
    dns: unique.filter((name) => isIP(name) === 0 && DNS_NAME.test(name)),
  };
}
