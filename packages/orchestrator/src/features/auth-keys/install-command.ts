import { createHash } from "node:crypto";

export interface InstallFrom {
  publicUrl: string;
  /**
   * Of the service's own authority, byte for byte as it gives it out; null where public authorities
   * vouch for it.
   */
  caPem: string | null;
  /** Of whoever built what is installed; null where it is a release of Attestore's. */
  operatorsKey: string | null;
}

/**
 * What is typed on a host to install the agent and attach it. Without the key, which it asks for:
 * what is typed ends up in a shell's history and in the list of processes.
 *
 * A host knows nothing of the service's own authority yet. So it takes the certificate from whoever
 * answers, and goes on only if that has the digest which this line brings; everything after it is
 * read from a service that the certificate vouches for.
 *
 * A build that the operator signed is taken only where the line says so: the installer knows
 * Attestore's own key and no other.
 */
export function installCommand({ publicUrl, caPem, operatorsKey }: InstallFrom): string {
  const url = /^[A-Za-z0-9:/._-]+$/.test(publicUrl) ? publicUrl : `'${publicUrl}'`;
  const options = operatorsKey === null ? "" : ` --release-key ${operatorsKey}`;
  const steps =
    caPem === null
      ? [`curl -fsS ${url}/install.sh -o install.sh`, `sh install.sh --service ${url}${options}`]
      : [
          `curl -fsSk ${url}/ca.pem -o ca.pem`,
          `echo '${createHash("sha256").update(caPem).digest("hex")}  ca.pem' | sha256sum -c --quiet`,
          `curl -fsS --cacert ca.pem ${url}/install.sh -o install.sh`,
          `sh install.sh --service ${url} --ca-file ca.pem${options}`,
        ];
  // In parentheses, so that whoever types it stays where they are.
  return `(cd "$(mktemp -d)" && ${steps.join(" && ")})`;
}
