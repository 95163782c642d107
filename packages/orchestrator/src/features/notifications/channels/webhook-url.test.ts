import { isIPv4 } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addressChecker } from "./webhook-url.ts";

const isPublic = addressChecker({ networks: [] });

test.each([
  "1.1.1.1",
  "93.184.216.34",
  "172.15.255.255",
  "172.32.0.0",
  "2606:4700::1111",
  "2a00:1450:4001::1",
])("%s is public", (address) => expect(isPublic(address)).toBe(true));

test.each([
  "0.0.0.0",
  "10.255.255.255",
  "100.64.0.1",
  "127.255.0.1",
  "169.254.169.254",
  "172.16.0.0",
  "172.31.255.255",
  "192.168.1.1",
  "198.19.0.1",
  "224.0.0.251",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:8.8.8.8",
  "::ffff:127.0.0.1",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "fc00::1",
  "fd12::1",
  "fe80::1",
  "fe80::1%eth0",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "localhost",
  "",
])("%s is not", (address) => expect(isPublic(address)).toBe(false));

test("networks of the setting are reached besides, and no others", () => {
  const isAllowed = addressChecker({ networks: ["10.1.0.0/16", "192.168.1.5", "fd00::/8"] });
  for (const address of ["10.1.2.3", "192.168.1.5", "fd12::1", "8.8.8.8"])
    expect(isAllowed(address), address).toBe(true);
  for (const address of ["10.2.0.1", "192.168.1.6", "fe80::1", "127.0.0.1"])
    expect(isAllowed(address), address).toBe(false);
});

test("an IPv4 address written as IPv6 is treated as the IPv4 address", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isIPv4(address)).toBe(true);
      expect(isPublic(`::ffff:${address}`)).toBe(false);
    }),
  );
});
