import { expect, it } from "vitest";
import { proxyEnvironment, proxyHost } from "./proxy.ts";

it.each([
  [{}, {}],
  [{ HTTPS_PROXY: "" }, {}],
  [{ HTTPS_PROXY: "http://proxy:3128" }, { HTTPS_PROXY: "http://proxy:3128" }],
  [
    { HTTPS_PROXY: "proxy:3128", NO_PROXY: "a,b" },
    { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "a,b" },
  ],
  [{ https_proxy: "https://p", HTTPS_PROXY: "http://other" }, { HTTPS_PROXY: "https://p" }],
  // Of plain HTTP alone, which this agent does not speak.
  [{ HTTP_PROXY: "http://proxy:3128" }, {}],
])("reads %o", (env, expected) => {
  expect(proxyEnvironment(env)).toEqual(expected);
});

it("a proxy setting that Node would silently ignore is refused, and not repeated in the error", () => {
  for (const value of ["socks5://user:hunter2@p:1", "http://user:hunter2@[::", "user:hunter2@p:notaport"])
    expect(() => proxyEnvironment({ HTTPS_PROXY: value })).toThrow(
      /^HTTPS_PROXY is not an http(?!.*hunter2)/,
    );
});

it("a proxy is named without its password", () => {
  expect(proxyHost({ HTTPS_PROXY: "http://user:hunter2@proxy:3128" })).toBe("proxy:3128");
  expect(proxyHost({})).toBeNull();
});
