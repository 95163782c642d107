import { useQuery } from "@tanstack/react-query";
import { every } from "./query-client.ts";

/** What other hosts can install the agent from. */
export type Packages =
  | { state: "ready"; architectures: string[] }
  | { state: "building"; step: number; steps: number }
  | { state: "failed" }
  | { state: "none" };

/** What hosts get from this service before they belong to an organisation. */
export interface ServedForHosts {
  packages: Packages;
  /** Whether there is something to install from. */
  hasPackages: boolean;
  /**
   * SHA-256 of the service's own certificate authority, as `AA:BB:…`; null if public authorities
   * vouch for the service.
   */
  caSha256: string | null;
}

const BUILDING_MS = 2_000;
/** The longest step takes some minutes. A build that says nothing for longer was interrupted. */
const INTERRUPTED_MS = 15 * 60_000;

/** Undefined until it is known, and if it cannot be known. */
export function useServedForHosts(): ServedForHosts | undefined {
  return useQuery({
    queryKey: ["served-for-hosts"],
    queryFn: async (): Promise<ServedForHosts> => {
      const [packages, ca] = await Promise.all([
        findPackages(),
        fetch("/ca.pem").then(async (answer) => (answer.ok ? answer.text() : null)),
      ]);
      return {
        packages,
        hasPackages: packages.state === "ready",
        caSha256: ca === null ? null : await fingerprintOf(ca),
      };
    },
    refetchInterval: ({ state }) => every(state.data?.packages.state === "building" ? BUILDING_MS : 60_000)(),
  }).data;
}

async function findPackages(): Promise<Packages> {
  // Written last, when all the others are there.
  if ((await fetch("/download/SHA256SUMS.minisig", { method: "HEAD" })).ok) {
    const sums = await fetch("/download/SHA256SUMS");
    const names = sums.ok ? (await sums.text()).matchAll(/ {2}attestore-linux-(\w+)$/gm) : [];
    return { state: "ready", architectures: Array.from(names, ([, name = ""]) => name) };
  }
  // As tools/package/build-state.ts writes it.
  const answer = await fetch("/download/build.json");
  // Of a refusal too: an answer that nobody reads keeps its connection.
  const read = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) return { state: "none" };
  const { state, at, step, steps } = read;
  if (state !== "building") return { state: "failed" };
  if (Date.now() - Date.parse(String(at)) > INTERRUPTED_MS) return { state: "none" };
  return { state, step: Number(step), steps: Number(steps) };
}

/** SHA-256 of a certificate in PEM, as `openssl x509 -fingerprint -sha256` prints it. */
async function fingerprintOf(pem: string): Promise<string> {
  const der = Uint8Array.from(atob(pem.replaceAll(/-----[^-]+-----|\s/g, "")), (char) => char.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", der));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join(":");
}

const CHECKOUT = "attestore-checkout-agent";

/**
 * Whether the agent is the checkout's. Packages may be ready only after somebody has attached
 * without them, so this browser remembers which command it showed last.
 */
export function useIsCheckout(): boolean {
  const isWithout = useServedForHosts()?.hasPackages === false;
  return isWithout || localStorage.getItem(CHECKOUT) !== null;
}

/** The command that a key came with is for the checkout's agent, or for an installed one. */
export function rememberCommand(command: string): void {
  if (command.startsWith("npx ")) localStorage.setItem(CHECKOUT, "1");
  else localStorage.removeItem(CHECKOUT);
}

/**
 * How the agent is called on its hosts: without packages, the only one is the checkout's, which npx
 * finds. Only root may look into the root of an installed one.
 */
export function useAgentProgram(): string {
  return useIsCheckout() ? "npx attestore" : "sudo attestore";
}

/**
 * What starts the agent on its host and keeps it running: the packages' unit, or the checkout's
 * agent in a shell.
 */
export function useRunCommand(): string {
  return useIsCheckout() ? "npx attestore run" : "sudo systemctl enable --now attestore";
}
