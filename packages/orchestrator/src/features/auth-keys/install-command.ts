import { createHash, X509Certificate } from "node:crypto";

export interface InstallFrom {
  publicUrl: string;
  /**
   * Certificate of the service's own CA, byte for byte as the service hands it out; null if public
   * CAs vouch for the service.
   */
  caPem: string | null;
  /** Public key of the person who built the packages; null for a release of Attestore. */
  operatorsKey: string | null;
}

/**
 * The line that installs the agent on a host and attaches it. It leaves out the auth key, which the
 * agent asks for, because a command line ends up in the shell's history and in the list of
 * processes. A new host does not know the service's own CA. So the line downloads the certificate,
 * and continues only if it has the digest that the line contains. Everything after that comes from
 * a service that this certificate vouches for. It accepts a build that the operator signed only if
 * the line says so: the installer has only Attestore's own key built in.
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
  // In parentheses, so that the shell stays in its directory.
  return `(cd "$(mktemp -d)" && ${steps.join(" && ")})`;
}

/** The line that attaches a host on which the agent is installed. The agent asks for the key. */
export function attachCommand({ publicUrl, caPem }: Omit<InstallFrom, "operatorsKey">): string {
  const pin = caPem === null ? "" : ` --ca-sha256 ${new X509Certificate(caPem).fingerprint256}`;
  return `attestore init --service ${publicUrl}${pin}`;
}
