import { expect, test } from "vitest";
import { strictTransport } from "./strict-transport.ts";

test("a service with its own name sends Strict-Transport-Security, without its subdomains", () => {
  expect(strictTransport("https://backups.example.org:8443")).toEqual({
    "strict-transport-security": "max-age=31536000",
  });
});

test("on localhost, which all programs share, it is not sent", () => {
  expect(strictTransport("https://localhost:8443")).toEqual({});
  expect(strictTransport("https://attestore.localhost")).toEqual({});
});
