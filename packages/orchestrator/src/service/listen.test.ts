import { fastify } from "fastify";
import { expect, test } from "vitest";
import { drain } from "./listen.ts";

test("what does not end with the server is not waited for once the requests had their time", async () => {
  const app = fastify();
  let wasAsked = false;
  app.addHook("onClose", () => {
    wasAsked = true;
    return new Promise(() => undefined);
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const until = performance.now() + 50;
  expect(await drain(app, () => until - performance.now(), 50)).toBe(false);
  expect(wasAsked).toBe(true);
});
