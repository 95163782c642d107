import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { freePort } from "../../test/free-port.ts";
import { unreachable } from "./unreachable.ts";

afterEach(() => vi.unstubAllEnvs());

it("a proxy whose name has several addresses, none of which can be reached, is named as the proxy", async () => {
  const port = await freePort();
  vi.stubEnv("HTTPS_PROXY", `http://proxy.test:${port}`);
  const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
  const socket = connect({
    host: "proxy.test",
    port,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, addresses),
  });
  const [error] = (await once(socket, "error")) as [Error];
  expect(error).toBeInstanceOf(AggregateError);
  expect(unreachable(new URL("https://service.test:8443"), error).message).toBe(
    `service.test:8443 can't be reached through the proxy proxy.test:${port} (ECONNREFUSED): nothing listens there: does it run, and is the port right?`,
  );
});
