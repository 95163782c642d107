import { expect, test } from "vitest";
import { strictTransport } from "./strict-transport.ts";

test("a service with a name of its own is asked by HTTPS alone, and its neighbours are left alone", () => {
  expect(strictTransport("https://backups.example.org:8443")).toEqual({
    "strict-transport-security": "max-age=31536000",
  });
});

test("localhost is every program of the machine", () => {
  expect(strictTransport("https://localhost:8443")).toEqual({});
  expect(strictTransport("https://attestore.localhost")).toEqual({});
});
