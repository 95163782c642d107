import { useQuery } from "@tanstack/react-query";

/** What hosts get from this service before they belong to an organisation. */
export interface ServedForHosts {
  /** Whether there is something to install from: before `npm run package` there is not. */
  hasPackages: boolean;
  /**
   * SHA-256 of the service's own certificate authority, as `AA:BB:…`; null if public authorities
   * vouch for the service.
   */
  caSha256: string | null;
}

/** Undefined until it is known, and if it cannot be known. */
export function useServedForHosts(): ServedForHosts | undefined {
  return useQuery({
    queryKey: ["served-for-hosts"],
    queryFn: async (): Promise<ServedForHosts> => {
      const [packages, ca] = await Promise.all([
        // Written last, when all the others are there.
        fetch("/download/SHA256SUMS.minisig", { method: "HEAD" }),
        fetch("/ca.pem").then(async (answer) => (answer.ok ? answer.text() : null)),
      ]);
      return { hasPackages: packages.ok, caSha256: ca === null ? null : await fingerprintOf(ca) };
    },
  }).data;
}

/** SHA-256 of a certificate in PEM, as `openssl x509 -fingerprint -sha256` prints it. */
async function fingerprintOf(pem: string): Promise<string> {
  const der = Uint8Array.from(atob(pem.replaceAll(/-----[^-]+-----|\s/g, "")), (char) => char.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", der));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join(":");
}

/**
 * How the agent is called on its hosts: without packages, the only one is the checkout's, which npx
 * finds.
 */
export function useAgentProgram(): string {
  return useServedForHosts()?.hasPackages === false ? "npx attestore" : "attestore";
}

/**
 * What starts the agent on its host and keeps it running: the packages' unit, or the checkout's
 * agent in a shell.
 */
export function useRunCommand(): string {
  return useServedForHosts()?.hasPackages === false
    ? "npx attestore run"
    : "sudo systemctl enable --now attestore";
}
