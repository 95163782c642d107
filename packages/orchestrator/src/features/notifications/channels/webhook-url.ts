import { BlockList, isIP } from "node:net";
import { invalidRequest } from "../../../platform/errors/api-error.ts";

/** Which receivers webhooks may reach besides those on public addresses with https. */
export interface WebhookReach {
  /** Private addresses and networks, such as 10.0.0.0/8. */
  networks: readonly string[];
  /** Whether http is allowed too. */
  http: boolean;
}

/**
 * Networks that are not on the public Internet, from IANA's special-purpose registry (RFC 6890).
 */
const NOT_PUBLIC_4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/**
 * Exceptions within 2000::/3, which is public. Teredo and 6to4 are among them, because they lead to
 * IPv4 addresses.
 */
const NOT_PUBLIC_6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const special4 = new BlockList();
for (const [network, bits] of NOT_PUBLIC_4) special4.addSubnet(network, bits, "ipv4");
const special6 = new BlockList();
for (const [network, bits] of NOT_PUBLIC_6) special6.addSubnet(network, bits, "ipv6");
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");

/**
 * Whether a connection to this address is allowed. Used for the addresses of a name, and for
 * addresses in URLs.
 */
export function addressChecker({ networks }: Pick<WebhookReach, "networks">): (address: string) => boolean {
  const allowed = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) allowed.addAddress(address, family);
    else allowed.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const version = isIP(address);
    if (version === 4) return allowed.check(address, "ipv4") || !special4.check(address, "ipv4");
    if (version !== 6) return false;
    if (allowed.check(address, "ipv6")) return true;
    return global6.check(address, "ipv6") && !special6.check(address, "ipv6");
  };
}

/**
 * The host of a URL as it is resolved or connected to: for an IPv6 address, without its brackets.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/**
 * Returns the URL as it will be called. Throws `invalid_request` for another protocol, credentials
 * in the URL, or an address that is not public. Names are resolved and checked at each delivery.
 */
export function readWebhookUrl(text: string, reach: WebhookReach): string {
  const refuse = (message: string): never => {
    throw invalidRequest("Webhooks cannot be sent to this URL.", [{ path: "/url", message }]);
  };
  if (!URL.canParse(text)) return refuse("is not a URL such as https://hooks.example.org/attestore");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(reach.http && url.protocol === "http:"))
    return refuse(reach.http ? "must begin with https:// or http://" : "must begin with https://");
  if (url.username !== "" || url.password !== "")
    return refuse("contains a user name or password; the signature already identifies the sender");
  const host = hostOf(url);
  if (isIP(host) !== 0 && !addressChecker(reach)(host))
    return refuse("is a private or reserved address, which this service does not send to");
  if (/(^|\.)localhost\.?$/.test(host) && reach.networks.length === 0)
    return refuse("is this service's own machine");
  url.hash = "";
  return url.href;
}
