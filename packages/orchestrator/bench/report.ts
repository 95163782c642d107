import type { AddressInfo } from "node:net";

/** What a server of the benchmark tells its parent once it takes requests. */
export function reportListening(address: AddressInfo | string | null, more: object = {}): void {
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  process.send?.({ port: address.port, ...more });
  process.once("disconnect", () => process.exit());
}
